#include "verify/cli/report/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "model/machine/arch.h"
#include "model/machine/failure.h"
#include "model/number/arithmetic.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/run/stuck/nearby.h"
#include "verify/cli/report/table.h"
#include "verify/launch/file/npy.h"

namespace bitwell::cli {
namespace {

using machine::InputError;

constexpr int64_t kUnwritten = -1;
constexpr int64_t kUnallocated = -2;
constexpr auto kColumns = static_cast<size_t>(layout::kTensorColumns);
constexpr size_t kMostRuns = 8;  // of columns, of operations, that a summary lists

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::array<uint32_t, 3> cta_index(const std::string& text, const isa::Shape& shape) {
  std::array<uint32_t, 3> out{};
  size_t axis = 0;
  bool good = !text.empty();
  for (size_t from = 0; good && from <= text.size(); ++axis) {
    const size_t comma = std::min(text.find(',', from), text.size());
    const auto value = whole_number(std::string_view(text).substr(from, comma - from));
    good = axis < 3 && value && *value < shape.grid[axis];
    if (good) out[axis] = static_cast<uint32_t>(*value);
    from = comma + 1;
  }
  if (!good)
    throw InputError(fmt::format("--dump-cta takes X,Y,Z of a CTA of the grid of {} x {} x {}; got '{}'",
                                 shape.grid[0], shape.grid[1], shape.grid[2], text));
  return out;
}

// CUDA lines: files and lines in them.
using CudaLines = std::set<std::pair<std::string, int>>;

// "the nearest that it names are tile.cu:60 and tile.cu:63" for "tile.cu:61"; of another file the files.
std::string nearest(const std::string& where, const CudaLines& known) {
  const size_t colon = where.rfind(':');
  const std::string file = where.substr(0, colon);
  const uint64_t line = colon == std::string::npos ? 0 : whole_number(where.substr(colon + 1)).value_or(0);
  const auto words = [](const auto& at) { return machine::CudaLine::At{at.first, at.second}.words(); };
  const auto file_of = [&](const auto& at) { return words(at).substr(0, words(at).rfind(':')); };
  std::string below, above, files;
  std::set<std::string> seen;
  for (const auto& at : known) {
    const std::string name = file_of(at);
    if (seen.insert(name).second) files += (files.empty() ? "" : ", ") + name;
    if (name != file || line == 0) continue;
    if (static_cast<uint64_t>(at.second) < line) below = words(at);
    if (static_cast<uint64_t>(at.second) > line && above.empty()) above = words(at);
  }
  if (below.empty() && above.empty()) return "it names lines of " + files;
  if (below.empty() || above.empty()) return "the nearest that it names is " + below + above;
  return "the nearest that it names are " + below + " and " + above;
}

// The PTX lines that `where` names, with what stands there: a number, or the CUDA line as faults show it.
std::map<int, std::string> lines_of(const std::string& where, const std::string& wanted,
                                    const isa::Program& program, const std::string& ptx) {
  std::map<int, const isa::Line*> all;
  for (const isa::Function& f : program.functions)
    for (const isa::Op& op : f.code)
      if (op.kind != isa::OpKind::jump)
        all.emplace(f.lines[static_cast<size_t>(op.line)].ptx, &f.lines[static_cast<size_t>(op.line)]);
  const auto shown = [](const auto& at) { return fmt::format("{} ('{}')", at->first, at->second->text); };
  if (const auto number = whole_number(where)) {
    const auto at = all.lower_bound(static_cast<int>(std::min<uint64_t>(*number, INT32_MAX)));
    if (at != all.end() && static_cast<uint64_t>(at->first) == *number)
      return {{at->first, at->second->text}};
    std::string near;
    if (at != all.begin()) near = shown(std::prev(at));
    if (at != all.end()) near += (near.empty() ? "" : " and ") + shown(at);
    throw InputError(
        fmt::format("--dump {}: no instruction of the kernel stands at PTX line {} of '{}'; the "
                    "nearest stand at {}",
                    wanted, *number, ptx, near));
  }
  std::map<int, std::string> out, inlined_there;
  CudaLines known;
  for (const auto& [line, at] : all) {
    if (at->cuda == nullptr) continue;
    for (const machine::CudaLine::At& place : at->cuda->chain) {
      known.insert({place.file, place.line});
      if (place.words() == where)
        (&place == &at->cuda->chain.front() ? out : inlined_there).emplace(line, at->text);
    }
  }
  if (out.empty()) out = inlined_there;  // of a line that is nothing but a call
  if (out.empty())
    throw InputError(fmt::format(
        "--dump {}: '{}' is neither a line of the PTX nor a CUDA line that it names; {}", wanted, where,
        known.empty() ? "'" + ptx + "' names none: compile it with nvcc -lineinfo" : nearest(where, known)));
  return out;
}

// An element as text, of one width for each format; `state` below 0: it holds nothing.
std::string shown(const number::Format* format, uint64_t code, size_t bytes, int64_t state) {
  const size_t width = format == nullptr ? 2 * bytes : bytes == 4 ? 13 : bytes == 2 ? 12 : 10;
  if (state < 0)
    return std::string(format == nullptr ? width : 1, state == kUnwritten ? '-' : '.')
        .insert(0, width - (format == nullptr ? width : 1), ' ');
  if (format == nullptr) return fmt::format("{:0{}x}", code, width);
  code &= (uint64_t{1} << format->bits) - 1;
  const uint64_t wide =
      number::encode(number::f64, number::round(number::f64, number::decode(*format, code),
                                                number::Rounding::nearest_even, number::Overflow::ieee));
  return fmt::format("{:>{}}", static_cast<float>(std::bit_cast<double>(wide)), width);
}

}  // namespace

Dumps::Dumps(const DumpOptions& options, const isa::Program& program, const verify::Launch& launch)
    : visit_(options.visit) {
  const bool alone = std::all_of(launch.then.begin(), launch.then.end(),
                                 [&](const verify::Step& s) { return s.ptx.empty() || s.ptx == launch.ptx; });
  if (!alone) of_ = " of " + launch.ptx;
  for (const isa::SharedVariable& v : program.shared_variables)
    variables_ += fmt::format("  {} at {}{}\n", isa::readable(v.name), grouped(v.offset),
                              v.size == 0 ? ", dynamic" : fmt::format(", {} bytes", grouped(v.size)));
  if (options.as != "hex") {
    std::string names = "hex";
    for (const number::Format* f : number::formats) {
      if (f->bits != 8 && f->bits != 16 && f->bits != 32) continue;
      names += ", " + std::string(f->name);
      if (f->name == options.as) format_ = f;
    }
    if (format_ == nullptr)
      throw InputError(fmt::format("--dump-as '{}' is not one of {}", options.as, names));
  }
  for (const std::string& wanted : options.wanted) {
    Dump d;
    d.wanted = wanted.substr(0, wanted.find('='));
    if (d.wanted.size() != wanted.size()) d.path = wanted.substr(d.wanted.size() + 1);
    const size_t sign = d.wanted.find('@');
    const std::string what = d.wanted.substr(0, sign);
    if (sign == std::string::npos || sign + 1 == d.wanted.size() || (what != "tmem" && what != "shared") ||
        (d.path.empty() && d.wanted.size() != wanted.size()))
      throw InputError(
          fmt::format("--dump takes tmem@LINE or shared@LINE, and =FILE behind it; got '{}'", wanted));
    d.tensor = what == "tmem";
    if (d.tensor && program.sm < 100)
      throw InputError(fmt::format("--dump {}: {} has no tensor memory", d.wanted, program.target));
    d.lines = lines_of(d.wanted.substr(sign + 1), d.wanted, program, launch.ptx);
    if (!options.cta.empty()) d.cta = cta_index(options.cta, launch.shape);
    dumps_.push_back(std::move(d));
  }
}

void Dumps::plan(verify::OutputFiles& files) const {
  for (const Dump& d : dumps_)
    if (!d.path.empty()) files.plan(d.path, "--dump " + d.wanted);
}

machine::Observer Dumps::observer() {
  machine::Observer out{[this](const machine::Event& event) {
    if (const auto* at = std::get_if<machine::Reached>(&event.what)) reached(*at);
  }};
  for (const Dump& d : dumps_)
    for (const auto& [line, instruction] : d.lines) out.lines.push_back(line);
  return out;
}

void Dumps::reached(const machine::Reached& at) {
  for (Dump& d : dumps_) {
    const auto line = d.lines.find(at.ptx_line);
    if (d.taken || line == d.lines.end() || line->second != at.instruction) continue;  // of another module
    if (!d.cta) d.cta = at.cta;
    if (*d.cta != at.cta || ++d.visits != visit_) continue;
    d.taken = true;
    d.at = at;
    d.instruction = std::exchange(d.at.instruction, {});
    d.source = std::exchange(d.at.source, {});
    d.at.shared = nullptr;
    d.at.tensor = nullptr;
    if (!d.tensor) {
      const machine::Region& shared = *at.shared;
      for (size_t i = 0; i < shared.size(); ++i)
        d.cells.push_back(shared.is_defined(i, 1) ? static_cast<int64_t>(shared.raw_bytes()[i]) : kUnwritten);
      continue;
    }
    for (uint32_t lane = 0; lane < machine::kTensorLanes; ++lane)
      for (uint32_t column = 0; column < kColumns; ++column) {
        const auto word = at.tensor->word({lane, column});
        d.cells.push_back(!at.tensor->allocated(column) ? kUnallocated
                          : word                        ? static_cast<int64_t>(*word)
                                                        : kUnwritten);
      }
  }
}

std::string Dumps::place(const Dump& d) const {
  return fmt::format("{} of CTA ({},{},{}) at visit {} of PTX line {}{} '{}'{}, by warp {}",
                     d.tensor ? "tensor memory" : "shared memory", d.at.cta[0], d.at.cta[1], d.at.cta[2],
                     visit_, d.at.ptx_line, of_, d.instruction, d.source.empty() ? "" : " (" + d.source + ")",
                     d.at.warp);
}

// What of it was written, and what is still to come.
std::string Dumps::contents(const Dump& d) const {
  std::string out;
  if (d.tensor) {
    const auto cell = [&](size_t lane, size_t column) { return d.cells[lane * kColumns + column]; };
    const std::string allocated = ranges(kColumns, [&](size_t c) { return cell(0, c) != kUnallocated; });
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
std::string Dumps::listing(const Dump& d) const {
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

std::string Dumps::npy(const Dump& d) {
  verify::Array array{d.tensor ? "i8" : "i2", {}, {}};
  if (d.tensor)
    array.shape = {machine::kTensorLanes, kColumns};
  else
    array.shape = {d.cells.size()};
  const size_t size = verify::element_size(array.dtype);
  array.bytes.resize(d.cells.size() * size);
  for (size_t i = 0; i < d.cells.size(); ++i) std::memcpy(array.bytes.data() + i * size, &d.cells[i], size);
  return verify::npy_text(array);
}

void Dumps::write(verify::OutputFiles& files) const {
  for (const Dump& d : dumps_)
    if (d.taken && !d.path.empty())
      files.write(d.path, d.path.ends_with(".npy") ? npy(d) : place(d) + "\n" + contents(d) + listing(d));
}

std::string Dumps::text() const {
  constexpr size_t most = 8;  // lines of a listing
  std::string out;
  for (const Dump& d : dumps_) {
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
  for (const Dump& d : dumps_) {
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

std::vector<std::string> Dumps::missing() const {
  std::vector<std::string> out;
  for (const Dump& d : dumps_) {
    if (d.taken) continue;
    const std::string who =
        d.cta ? fmt::format("a warp of CTA ({},{},{})", (*d.cta)[0], (*d.cta)[1], (*d.cta)[2])
              : std::string("a warp");
    out.push_back(d.visits == 0 ? fmt::format("--dump {}: {} never came there", d.wanted, who)
                                : fmt::format("--dump {}: {} came there {} times, --dump-visit is {}",
                                              d.wanted, who, d.visits, visit_));
  }
  return out;
}

}  // namespace bitwell::cli
