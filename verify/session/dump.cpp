#include "verify/session/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "model/machine/failure.h"
#include "model/run/stuck/nearby.h"

namespace bitwell::session {
namespace {

using machine::InputError;

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::array<uint32_t, 3> cta_index(const std::string& text, const run::Shape& shape) {
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

}  // namespace

Dumps::Dumps(const DumpOptions& options, const isa::Program& program, const launch::Launch& launch)
    : visit_(options.visit) {
  const bool alone = std::all_of(launch.then.begin(), launch.then.end(),
                                 [&](const launch::Step& s) { return s.ptx.empty() || s.ptx == launch.ptx; });
  if (!alone) of_ = launch.ptx;
  for (const isa::SharedVariable& v : program.shared_variables)
    variables_.push_back({run::readable(v.name), v.offset, v.size});
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
        d.cells.push_back(shared.is_defined(i, 1) ? static_cast<int64_t>(shared.raw_bytes()[i])
                                                  : Dump::kUnwritten);
      continue;
    }
    for (uint32_t lane = 0; lane < machine::kTensorLanes; ++lane)
      for (uint32_t column = 0; column < Dump::kColumns; ++column) {
        const auto word = at.tensor->word({lane, column});
        d.cells.push_back(!at.tensor->allocated(column) ? Dump::kUnallocated
                          : word                        ? static_cast<int64_t>(*word)
                                                        : Dump::kUnwritten);
      }
  }
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

}  // namespace bitwell::session
