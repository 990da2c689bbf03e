#include "model/run/watch/unsure.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "model/isa/form/next_ops.h"
#include "model/machine/where.h"
#include "model/run/cluster.h"
#include "model/run/context.h"
#include "model/run/watch/definedness.h"

namespace bitwell::run {

using isa::Op;
using isa::OpKind;

namespace {

bool passes(const isa::Function& function, uint32_t pc) {
  const Op& op = function.code[pc];
  return op.kind == OpKind::branch || op.kind == OpKind::jump || op.kind == OpKind::table ||
         writes_registers_alone(function, op);
}

// What can be reached from the branch at `from` without `end`, in the order of breadth: past ops that only go
// on or write registers, or past all.
enum class Past : uint8_t { registers, all };
std::vector<uint32_t> reached(const isa::Function& function, uint32_t from, std::optional<uint32_t> end,
                              Past past) {
  std::vector<uint32_t> out;
  std::set<uint32_t> seen;
  const auto add = [&](uint32_t pc) {
    if (pc != end && seen.insert(pc).second) out.push_back(pc);
  };
  isa::each_next(function, from, add);
  for (size_t i = 0; i < out.size(); ++i)
    if (past == Past::all || passes(function, out[i])) isa::each_next(function, out[i], add);
  return out;
}

bool some_end(const isa::Function& function, const std::vector<uint32_t>& ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](uint32_t pc) { return function.code[pc].kind == OpKind::leave; });
}

// The lanes hold nothing in `row` from now on, for what they lack in `guard`, which `decided` about a branch.
void lose(Context& context, uint32_t row, uint32_t guard, uint32_t lanes, bool decided) {
  context.overwritten(row, lanes);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    machine::Origin from = origin_of(context, guard, lane);
    from.decided = from.decided || decided;
    context.activation().forget(row, 1u << lane, from);
  }
}

// "; it decides whether PTX line 30 (scale.cu:4), st.global.f32, is executed", or empty.
std::string decided(const isa::Function& function, const Ways& ways) {
  if (ways.decides < 0) return "";
  const isa::Line& line = function.lines[static_cast<size_t>(ways.decides)];
  machine::Place place;
  place.ptx_line = line.ptx;
  place.cuda = line.cuda;
  return "; it decides whether " + machine::line_of(place) + ", " + line.text + ", is executed";
}

}  // namespace

bool writes_registers_alone(const isa::Function& function, const Op& op) {
  if (op.kind == OpKind::lanes) return true;
  if (op.kind != OpKind::effect) return false;
  const isa::Uses uses = function.uses.at(static_cast<size_t>(op.line));
  if (uses.act != isa::Act::none || uses.touches.size() != 1) return false;
  const isa::Touch& touch = uses.touches.front();
  return touch.gives && !touch.writes && !touch.strong;
}

Ways ways_from(const isa::Function& function, uint32_t pc) {
  Ways out;
  const std::vector<uint32_t> all = reached(function, pc, std::nullopt, Past::registers);
  const auto stops = [&](uint32_t at) { return !passes(function, at); };
  // More than one op leads to where ways meet. The first such place is met before the others, on any way.
  std::map<uint32_t, int> leads;
  const auto lead = [&](uint32_t next) { ++leads[next]; };
  isa::each_next(function, pc, lead);
  for (const uint32_t from : all)
    if (!stops(from)) isa::each_next(function, from, lead);
  for (const uint32_t meet : all) {
    if (leads[meet] < 2) continue;
    const std::vector<uint32_t> between = reached(function, pc, meet, Past::registers);
    if (std::any_of(between.begin(), between.end(), stops)) continue;
    out.pass = true;
    out.meet = meet;
    std::set<uint32_t> rows;
    for (const uint32_t at : between) each_result(function.code[at], [&](uint32_t row) { rows.insert(row); });
    out.rows.assign(rows.begin(), rows.end());
    return out;
  }
  for (const uint32_t at : all)
    if (stops(at) && some_end(function, reached(function, pc, at, Past::all))) {
      out.decides = function.code[at].line;
      break;
    }
  return out;
}

uint32_t guarded_by_unknown(const Op& op, Context& context, uint32_t active, uint32_t unknown) {
  const uint32_t predicate = *context.row<uint32_t>(op.guard);
  const uint32_t lanes = active & (op.guard_negated ? ~predicate : predicate);
  const int lane = __builtin_ctz(unknown);
  const char* const what = "a guard predicate";
  if (context.follow() != nullptr) {
    context.report_missing(op.guard, lane, what);
    return lanes;
  }
  const isa::Function& function =
      context.cta.grid.program.functions[static_cast<size_t>(context.activation().function)];
  if (writes_registers_alone(function, op)) {
    each_result(op, [&](uint32_t row) { lose(context, row, op.guard, unknown, false); });
    return lanes & ~unknown;
  }
  if (op.kind != OpKind::branch) context.report_missing(op.guard, lane, what);
  const Ways& ways =
      context.cta.grid.ways.of(context.cta.grid.program, context.activation().function, context.split().pc);
  if (!ways.pass) context.report_missing(op.guard, lane, what, decided(function, ways));
  context.unsure = unknown;
  return lanes & ~unknown;
}

uint32_t pass_ways(Context& context, uint32_t lanes) {
  const Cta& cta = context.cta;
  const Op& op = cta.op_at(context.split());
  const Ways& ways = cta.grid.ways.of(cta.grid.program, context.activation().function, context.split().pc);
  const int lane = __builtin_ctz(lanes);
  const machine::Origin from = origin_of(context, op.guard, lane);
  const bool loaded = from.kind == machine::Origin::Kind::memory;
  if (!from.decided)  // else the branch before has its note
    context.note(lane,
                 "a branch hangs on a value that was never written" +
                     (loaded ? ", which " + context.line_text(from.ptx_line) + " loaded" : std::string()) +
                     ": what either way writes counts as never written");
  for (const uint32_t row : ways.rows) lose(context, row, op.guard, lanes, true);
  return ways.meet;
}

uint32_t loads_there(const Op& op, Context& context, uint32_t mask) {
  if (context.follow() != nullptr) return mask;
  uint32_t out = mask;
  for (uint32_t lanes = mask & ~context.known_at(op.a, mask); lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    if (!origin_of(context, op.a, lane).decided) continue;
    out &= ~(1u << lane);
    each_result(op, [&](uint32_t row) { lose(context, row, op.a, 1u << lane, true); });
  }
  return out;
}

const Ways& KnownWays::of(const isa::Program& program, int function, uint32_t pc) {
  const auto [at, is_new] = all_.try_emplace({function, pc});
  if (is_new) at->second = ways_from(program.functions[static_cast<size_t>(function)], pc);
  return at->second;
}

}  // namespace bitwell::run
