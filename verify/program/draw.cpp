// What a program is made of: which statements stand where.
#include "verify/program/drawing.h"

namespace bitwell::program {
namespace {

Body body(Drawing& d, const Place& place, size_t most);

// "%q1" and what sets it: a comparison of data, of the thread's number, or of what all threads of the CTA
// share.
std::string condition(Drawing& d, const Place& inside, const std::string& name) {
  static constexpr const char* kCompare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  const std::string compare = std::string("setp.") + d.pick(kCompare);
  if (inside.uniform)
    return d.one_in(2) ? compare + ".s32 " + name + ", %u0, %u1;\n"
                       : "and.b32 %x0, %u0, 1;\n" + compare + ".u32 " + name + ", %x0, 1;\n";
  switch (d.below(4)) {
    case 0: return compare + ".s32 " + name + ", " + d.word() + ", " + d.word() + ";\n";
    case 1: return compare + ".u32 " + name + ", %lane, " + std::to_string(d.below(32)) + ";\n";
    case 2:
      return "and.b32 %x0, " + d.word() + ", 3;\n" + compare + ".u32 " + name + ", %x0, " +
             std::to_string(d.below(4)) + ";\n";
    default: return "or.pred " + name + ", " + d.predicate() + ", " + d.predicate() + ";\n";
  }
}

// The place of bodies; `uniform`: all threads of the CTA take the same way through them.
Place within(const Place& place, bool uniform) {
  Place out = place;
  out.uniform = uniform;
  out.loop = false;
  ++out.depth;
  return out;
}

Statement branch(Drawing& d, const Place& place) {
  const Place inside = within(place, place.uniform && d.one_in(3));
  Statement out{Statement::Kind::branch, condition(d, inside, "%q$d")};
  out.bodies.push_back(body(d, inside, 4));
  out.bodies.push_back(d.one_in(3) ? Body{} : body(d, inside, 4));
  return out;
}

Statement loop(Drawing& d, const Place& place) {
  Place inside = within(place, place.uniform && d.one_in(2));
  inside.loop = !inside.uniform;
  Statement out{Statement::Kind::loop,
                "and.b32 %t$d, " + (inside.uniform ? std::string("%u0") : d.word()) + ", 3;\n"};
  out.bodies.push_back(body(d, inside, 4));
  return out;
}

// Its bodies know no mask: lanes come by data.
Statement table(Drawing& d, const Place& place) {
  Place inside = within(place, false);
  inside.masked = false;
  Statement out{Statement::Kind::table, "and.b32 %i$d, " + d.word() + ", 3;\n"};
  for (int i = 0; i < 4; ++i) out.bodies.push_back(body(d, inside, 2));
  return out;
}

Statement compound(Drawing& d, const Place& place) {
  switch (d.below(5)) {
    case 0: return table(d, place);
    case 1:
    case 2: return loop(d, place);
    default: return branch(d, place);
  }
}

Statement together(Drawing& d, const Place& place) {
  switch (d.below(5)) {
    case 0: return barrier_reduction(d, place);
    case 1: return cells_read(d, place);
    default: return barrier_exchange(d, place);
  }
}

Statement statement(Drawing& d, const Place& place, size_t functions) {
  const size_t kind = d.below(100);
  if (kind < 14 && place.depth < kDepth) return compound(d, place);
  if (kind < 18 && place.loop) {
    Statement out{Statement::Kind::leave_loop, condition(d, place, "%q$d")};
    return out;
  }
  if (kind < 20 && place.tail && place.depth == 0)
    return {Statement::Kind::leave, condition(d, place, "%q0")};
  if (kind < 22) return special(d);
  if (!place.function) {
    if (kind < 32) return input_load(d, place);
    if (kind < 39) return own_memory(d);
    if (kind < 44) return atomic(d, place);
    if (kind < 45) return fence(d);
    if (kind < 54 && place.masked) return d.one_in(5) ? warp_exchange(d) : warp_collective(d, place);
    if (kind < 60 && place.uniform && !place.tail) return together(d, place);
    if (kind < 63 && functions != 0) return function_call(d, functions);
  }
  return arithmetic(d);
}

Body body(Drawing& d, const Place& place, size_t most) {
  Body out;
  for (size_t n = 1 + d.below(most); out.size() < n;)
    out.push_back(statement(d, place, place.function ? 0 : 2));
  return out;
}

}  // namespace

Statement function_call(Drawing& d, size_t functions) {
  Statement out;
  out.text = "{\n.param .b32 a;\n.param .b64 b;\n.param .b32 z;\nst.param.b32 [a], " + d.word() +
             ";\nst.param.b64 [b], " + d.source(".u64") + ";\ncall (z), $f" +
             std::to_string(d.below(functions)) + ", (a, b);\nld.param.b32 " + d.destination(".u32") +
             ", [z];\n}\n";
  return out;
}

RandomProgram draw_program(uint64_t seed) {
  Drawing d(seed);
  RandomProgram out;
  out.seed = seed;
  static constexpr uint32_t kBlocks[] = {32, 64, 96, 128, 48, 33};
  out.block = d.pick(kBlocks);
  out.grid = static_cast<uint32_t>(1 + d.below(3));
  Place place;
  place.whole_warps = out.block % 32 == 0;
  for (size_t n = 8 + d.below(14); out.body.size() < n;) out.body.push_back(statement(d, place, 2));
  place.uniform = false;
  place.tail = true;
  for (size_t n = d.below(5); out.tail.size() < n;) out.tail.push_back(statement(d, place, 2));
  Place inside;
  inside.uniform = inside.masked = false;
  inside.function = true;
  inside.depth = 1;
  for (int i = 0; i < 2; ++i) out.functions.push_back(body(d, inside, 6));
  return out;
}

}  // namespace bitwell::program
