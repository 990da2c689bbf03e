#include "verify/findings/report.h"

#include "model/machine/memory/memory.h"
#include "model/machine/where.h"
#include "model/run/stuck/nearby.h"
#include "verify/findings/between.h"
#include "verify/findings/remedy.h"

namespace bitwell::findings {
namespace {

using hazard::Actor;
using machine::AccessKind;
using machine::hex;
using machine::triple;

// "'tile' + 8, shared memory of CTA rank 1" of a generic address.
std::string place(uint64_t address, const Launched& launch) {
  const isa::Program& program = launch.program;
  if (const uint64_t cell = address - machine::kTensorWindow; address >> 40 == machine::kTensorWindow >> 40)
    return "lane " + std::to_string(cell >> 16 & 0xFFFF) + ", column " + std::to_string(cell & 0xFFFF) +
           " of tensor memory of CTA rank " + std::to_string(cell >> 32);
  if (address - machine::kLocalWindow < machine::kWindowSize)
    return "byte " + std::to_string(address - machine::kLocalWindow) + " of the thread's local memory";
  if (address - machine::kSharedWindow >= machine::kWindowSize) {
    for (const isa::GlobalVariable& g : program.globals)
      if (address - g.address < g.size)
        return "'" + run::readable(g.name) + "' + " + std::to_string(address - g.address) + " in " +
               (g.is_const ? "constant" : "global") + " memory";
    if (launch.objects != nullptr)
      for (const machine::Named& o : *launch.objects)
        if (address - o.base < o.size)
          return "'" + run::readable(o.name) + "' + " + std::to_string(address - o.base) +
                 " in global memory";
    return "global address " + hex(address);
  }
  const uint64_t rank = (address - machine::kSharedWindow) >> machine::kRankShift;
  const uint64_t offset = (address - machine::kSharedWindow) & ((uint64_t{1} << machine::kRankShift) - 1);
  std::string out = "byte " + std::to_string(offset);
  const isa::SharedVariable* best = nullptr;
  for (const isa::SharedVariable& v : program.shared_variables)
    if (v.offset <= offset && (v.size == 0 || offset - v.offset < v.size) &&
        (best == nullptr || v.offset > best->offset))
      best = &v;
  if (best != nullptr)
    out += " ('" + run::readable(best->name) + "' + " + std::to_string(offset - best->offset) + ")";
  return out + " of shared memory of CTA rank " + std::to_string(rank);
}

// "'tile', bytes 0 to 63 of shared memory"
std::string extent(const hazard::Object& o) {
  using Space = hazard::Object::Space;
  if (o.space == Space::constant || o.space == Space::global || !o.elsewhere.empty())
    return "'" + run::readable(o.name) + "' of " + std::to_string(o.size) + " bytes";
  return "'" + run::readable(o.name) + "', bytes " + std::to_string(o.offset) +
         (o.size == 0 ? std::string(" on") : " to " + std::to_string(o.offset + o.size - 1)) +
         (o.space == Space::shared ? " of shared memory" : " of the thread's local memory");
}

std::string_view verb(const hazard::Party& p) {
  return p.site.kind == AccessKind::read ? "read" : p.site.kind == AccessKind::update ? "update" : "write";
}

// `module`: the file that the line is of is said too. `does`: in place of what its access is.
std::string describe(const hazard::Party& p, const Launched& launch, bool module = false,
                     std::string_view does = {}) {
  const isa::Program& program = launch.program;
  std::string out(does.empty() ? verb(p) : does);
  const isa::Line* line = line_of(p.site.ptx_line, program);
  out += ", PTX line " + std::to_string(p.site.ptx_line);
  if (module) out += " of " + launch.ptx;
  if (line != nullptr && line->cuda != nullptr) out += " (" + line->cuda->words + ")";
  if (line != nullptr) out += " " + line->text;
  out += p.site.actor == Actor::thread ? ", by " : ", an operation of ";
  if (p.warp < 0) return out + "a thread that issued it";
  out += "CTA " + triple(p.cta) + ", warp " + std::to_string(p.warp);
  if (p.lane < 0) return out;
  return out + ", " + thread_of(p.warp, p.lane, run::full_shape(program, launch.shape).block);
}

// "; likewise in launches 3 and 4": those behind the one that is described.
std::string others(const Found& found) {
  std::string out;
  for (size_t i = 1; i < found.numbers.size(); ++i)
    out += (i == 1 ? "" : i + 1 == found.numbers.size() ? " and " : ", ") + std::to_string(found.numbers[i]);
  if (out.empty()) return out;
  return "; likewise in launch" + std::string(found.numbers.size() == 2 ? " " : "es ") + out;
}

}  // namespace

const isa::Line* line_of(int ptx, const isa::Program& program) {
  for (const isa::Function& f : program.functions)
    for (const isa::Line& l : f.lines)
      if (l.ptx == ptx) return &l;
  return nullptr;
}

std::string place_of(int ptx, const isa::Program& program) {
  const isa::Line* line = line_of(ptx, program);
  const bool known = line != nullptr && line->cuda != nullptr;
  return "PTX line " + std::to_string(ptx) + (known ? " (" + line->cuda->words + ")" : "");
}

std::string name_of(const Launched& launch) {
  return "launch " + std::to_string(launch.number) +
         (launch.of == 0 ? "" : " of " + std::to_string(launch.of)) + ", '" + run::readable(launch.entry()) +
         "'";
}

std::string thread_of(int warp, int lane, const std::array<uint32_t, 3>& block) {
  const auto linear = static_cast<uint32_t>(warp * machine::kLanes + lane);
  return "thread " +
         triple({linear % block[0], linear / block[0] % block[1], linear / (block[0] * block[1])});
}

std::string describe(const hazard::Finding& f, const isa::Program& program, const run::Shape& shape) {
  const Launched launch{program, shape};
  return describe({f, &launch, &launch, {}});
}

std::vector<Said> said_of(const Found& found) {
  const hazard::Finding& f = found.finding;
  const isa::Program& program = found.later->program;
  const hazard::KindRow& row = hazard::row_of(f.kind);
  std::vector<Said> out;
  const auto say = [&](const std::string& text) { out.push_back({text, nullptr, nullptr}); };
  const auto say_of = [&](const hazard::Party& p, const Launched& launch, const std::string& text) {
    const isa::Line* line = line_of(p.site.ptx_line, launch.program);
    out.push_back({"  " + text, line == nullptr ? nullptr : line->cuda, &launch});
  };
  say(std::string(row.level == hazard::Level::error ? "error " : "note ") + std::string(row.name) +
      (f.where.empty() ? " at " + place(f.address, *found.later) + ", " + std::to_string(f.bytes) +
                             (f.address >> 40 == machine::kTensorWindow >> 40 ? " lanes: " : " bytes: ")
                       : " at " + f.where + ": ") +
      std::string(row.what));
  if (found.earlier != found.later) {
    const bool two = found.earlier->ptx != found.later->ptx;
    say_of(f.earlier, *found.earlier,
           name_of(*found.earlier) + ": " + describe(f.earlier, *found.earlier, two));
    say_of(f.later, *found.later,
           name_of(*found.later) + ": " + describe(f.later, *found.later, two, row.later_does));
  } else {
    if (!row.alone)
      say_of(f.earlier, *found.earlier, describe(f.earlier, *found.earlier, false, row.earlier_does));
    say_of(f.later, *found.later, describe(f.later, *found.later, false, row.later_does));
    if (found.later->of > 1) say("  in " + name_of(*found.later));
  }
  out.back().text += others(found);
  if (row.given) {
    say("  the object: " + std::to_string(f.object.size) + " bytes, given by");
    say_of(f.made, *found.later, describe(f.made, *found.later, false, "malloc"));
  }
  if (row.derives && !f.object.name.empty()) say("  the address derives from " + extent(f.object));
  if (found.between != nullptr)
    for (const Between::Passed& p : found.between->passed) {
      const isa::Line* line = line_of(p.ptx_line, program);
      say("  does not count: " + place_of(p.ptx_line, program) + (line == nullptr ? "" : " " + line->text) +
          ": " + p.why);
    }
  say((row.orders ? "  would order them: " : "  would be right: ") + remedy(found));
  if (f.count != 1)
    say("  " + std::to_string(f.count) +
        (row.alone ? " times by this instruction" : " times between these two instructions"));
  return out;
}

std::string describe(const Found& found) {
  std::string out;
  for (const Said& line : said_of(found)) out += (out.empty() ? "" : "\n") + line.text;
  return out;
}

Asked asked_of(const Found& found) {
  const hazard::Finding& f = found.finding;
  const bool first = f.earlier.site.kind != AccessKind::write && f.later.site.kind == AccessKind::write;
  if (first) return {*found.earlier, f.earlier.site.ptx_line};
  return {*found.later, f.later.site.ptx_line};
}

std::string describe(const hazard::Way& way, const isa::Program& program) {
  using End = hazard::Way::End;
  if (way.end == End::none) return "what is read there comes to no output, no branch and no address";
  std::string out = way.end == End::output   ? "can come to an output"
                    : way.end == End::branch ? "comes to no output, but can decide a branch"
                                             : "comes to no output, but can be an address";
  constexpr size_t kMost = 12;  // of a long way the first and the last
  const size_t count = way.lines.size();
  for (size_t i = 0; i < count; ++i) {
    if (count > kMost && i == kMost / 2) out += ", " + std::to_string(count - kMost) + " more";
    if (count > kMost && i >= kMost / 2 && i < count - kMost / 2) continue;
    const isa::Line* line = line_of(way.lines[i], program);
    out += (i == 0 ? ": PTX lines " : ", ") + std::to_string(way.lines[i]) +
           (line == nullptr ? "" : " " + line->text);
  }
  return out;
}

hazard::Checker checker_of(const isa::Program& program, const run::Shape& shape, bool once) {
  const run::Shape full = run::full_shape(program, shape);
  return hazard::Checker(full.grid, full.cluster, once);
}

}  // namespace bitwell::findings
