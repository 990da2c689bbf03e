#include "verify/cli/report/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/machine/failure.h"
#include "model/number/arithmetic.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "verify/launch/file/npy.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::grouped;
using terminal::range;
using terminal::ranges;
namespace {

constexpr auto kColumns = session::Dump::kColumns;
constexpr size_t kMostRuns = 8;  // of columns, of operations, that a summary lists

// What text shows; nullptr: bits.
const number::Format* format_of(const std::string& name) {
  if (name == "hex") return nullptr;
  const number::Format* out = nullptr;
  std::string names = "hex";
  for (const number::Format* f : number::formats) {
    if (f->bits != 8 && f->bits != 16 && f->bits != 32) continue;
    names += ", " + std::string(f->name);
    if (f->name == name) out = f;
  }
  if (out == nullptr) throw machine::InputError(fmt::format("--dump-as '{}' is not one of {}", name, names));
  return out;
}

// An element as text, of one width for each format; `state` below 0: it holds nothing.
std::string shown(const number::Format* format, uint64_t code, size_t bytes, int64_t state) {
  const size_t width = format == nullptr ? 2 * bytes : bytes == 4 ? 13 : bytes == 2 ? 12 : 10;
  if (state < 0)
    return std::string(format == nullptr ? width : 1, state == session::Dump::kUnwritten ? '-' : '.')
        .insert(0, width - (format == nullptr ? width : 1), ' ');
  if (format == nullptr) return fmt::format("{:0{}x}", code, width);
  code &= (uint64_t{1} << format->bits) - 1;
  const uint64_t wide =
      number::encode(number::f64, number::round(number::f64, number::decode(*format, code),
                                                number::Rounding::nearest_even, number::Overflow::ieee));
  return fmt::format("{:>{}}", static_cast<float>(std::bit_cast<double>(wide)), width);
}

}  // namespace

Dumps::Dumps(const DumpOptions& options, const isa::Program& program, const launch::Launch& launch)
    : format_(format_of(options.as)), taken_(options, program, launch) {
  if (!taken_.of().empty()) of_ = " of " + taken_.of();
  for (const session::Dumps::Variable& v : taken_.variables())
    variables_ += fmt::format("  {} at {}{}\n", v.name, grouped(v.offset),
                              v.size == 0 ? ", dynamic" : fmt::format(", {} bytes", grouped(v.size)));
}

void Dumps::plan(launch::OutputFiles& files) const {
  for (const session::Dump& d : taken_.all())
    if (!d.path.empty()) files.plan(d.path, "--dump " + d.wanted);
}

std::string Dumps::place(const session::Dump& d) const {
  return fmt::format("{} of CTA ({},{},{}) at visit {} of PTX line {}{} '{}'{}, by warp {}",
                     d.tensor ? "tensor memory" : "shared memory", d.at.cta[0], d.at.cta[1], d.at.cta[2],
                     taken_.visit(), d.at.ptx_line, of_, d.instruction,
                     d.source.empty() ? "" : " (" + d.source + ")", d.at.warp);
}

// What of it was written, and what is still to come.
std::string Dumps::contents(const session::Dump& d) const {
  std::string out;
  if (d.tensor) {
    const auto cell = [&](size_t lane, size_t column) { return d.cells[lane * kColumns + column]; };
    const std::string allocated =
        ranges(kColumns, [&](size_t c) { return cell(0, c) != session::Dump::kUnallocated; });
    out = allocated.empty() ? "  no columns are allocated\n" : "  allocated: columns " + allocated + "\n";
    // Neighbouring columns that were written in the same lanes.
    const auto lanes = [&](size_t column) {
      return ranges(machine::kTensorLanes, [&](size_t lane) { return cell(lane, column) >= 0; });
    };
    size_t found = 0;
    for (size_t first = 0; first < kColumns; ++first) {
      const std::string in = lanes(first);
      if (in.empty()) continue;
      size_t last = first;
      while (last + 1 < kColumns && lanes(last + 1) == in) ++last;
      if (found++ < kMostRuns)
        out += fmt::format("  written: columns {}, lanes {}\n", range(first, last), in);
      first = last;
    }
    if (found == 0 && !allocated.empty()) out += "  nothing was written\n";
    if (found > kMostRuns) out += fmt::format("  and {} more runs of columns\n", found - kMostRuns);
  } else {
    const std::string written = ranges(d.cells.size(), [&](size_t i) { return d.cells[i] >= 0; });
    out =
        fmt::format("  {} bytes, written: {}\n", grouped(d.cells.size()), written.empty() ? "none" : written);
  }
  if (!d.tensor) out += variables_;
  for (size_t i = 0; i < std::min(d.at.under_way.size(), kMostRuns); ++i)
    out += "  under way: " + d.at.under_way[i] + "\n";
  if (d.at.under_way.size() > kMostRuns)
    out += fmt::format("  and {} more operations under way\n", d.at.under_way.size() - kMostRuns);
  return out;
}

// Everything that was written, a run of 8 words of a lane or 16 bytes a line.
std::string Dumps::listing(const session::Dump& d) const {
  std::string out;
  const size_t each = d.tensor ? 8 : 16;
  const size_t unit = d.tensor ? 4 : 1;  // bytes of a cell
  const size_t element = format_ == nullptr ? unit : static_cast<size_t>(format_->bits) / 8;  // that is shown
  const size_t cells = std::max(element / unit, size_t{1});                                   // of an element
  for (size_t at = 0; at < d.cells.size(); at += each) {
    const size_t end = std::min(at + each, d.cells.size());
    if (std::none_of(&d.cells[at], &d.cells[0] + end, [](int64_t v) { return v >= 0; })) continue;
    out += d.tensor ? fmt::format("lane {:3} column {:3}:", at / kColumns, at % kColumns)
                    : fmt::format("{:6}:", at);
    for (size_t i = at; i < end; i += cells) {
      uint64_t code = 0;
      int64_t least = 0;  // of the cells: below 0 where one holds nothing
      for (size_t j = 0; j < cells && i + j < end; ++j) {
        least = std::min(least, d.cells[i + j]);
        code |= static_cast<uint64_t>(d.cells[i + j]) << 8 * unit * j;
      }
      for (size_t byte = 0; byte < std::max(unit, element); byte += element)
        out += ' ' + shown(format_, code >> 8 * byte, element, least);
    }
    out += '\n';
  }
  return out;
}

std::string Dumps::npy(const session::Dump& d) {
  launch::Array array{d.tensor ? "i8" : "i2", {}, {}};
  if (d.tensor)
    array.shape = {machine::kTensorLanes, kColumns};
  else
    array.shape = {d.cells.size()};
  const size_t size = launch::element_size(array.dtype);
  array.bytes.resize(d.cells.size() * size);
  for (size_t i = 0; i < d.cells.size(); ++i) std::memcpy(array.bytes.data() + i * size, &d.cells[i], size);
  return launch::npy_text(array);
}

void Dumps::write(launch::OutputFiles& files) const {
  for (const session::Dump& d : taken_.all())
    if (d.taken && !d.path.empty())
      files.write(d.path, d.path.ends_with(".npy") ? npy(d) : place(d) + "\n" + contents(d) + listing(d));
}

std::string Dumps::text() const {
  constexpr size_t most = 8;  // lines of a listing
  std::string out;
  for (const session::Dump& d : taken_.all()) {
    if (!d.taken) continue;
    out += place(d) + (d.path.empty() ? "" : " -> " + d.path) + "\n" + contents(d);
    if (!d.path.empty()) continue;
    const std::string all = listing(d);
    size_t end = 0;
    for (size_t line = 0; line < most && end < all.size(); ++line) {
      const size_t next = all.find('\n', end) + 1;
      out += "  " + all.substr(end, next - end);
      end = next;
    }
    if (end < all.size()) out += fmt::format("  ... (--dump {}=FILE writes all of it)\n", d.wanted);
  }
  return out;
}

nlohmann::json Dumps::facts() const {
  nlohmann::json out = nlohmann::json::array();
  for (const session::Dump& d : taken_.all()) {
    if (!d.taken) continue;
    out.push_back({{"dump", d.wanted},
                   {"cta", d.at.cta},
                   {"warp", d.at.warp},
                   {"ptx_line", d.at.ptx_line},
                   {"instruction", d.instruction},
                   {"under_way", d.at.under_way}});
    if (!d.path.empty()) out.back()["path"] = d.path;
  }
  return out;
}

}  // namespace bitwell::cli
