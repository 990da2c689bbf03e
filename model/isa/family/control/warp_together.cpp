#include "model/isa/family/control/warp_together.h"

#include <cstring>
#include <string>
#include <vector>

#include "model/isa/family/control/warp.h"
#include "model/machine/where.h"
#include "model/run/context.h"
#include "model/run/wait.h"
#include "model/run/watch/definedness.h"

namespace bitwell::isa {
namespace {

// Rows of the registers that all of them have for the time of the collective.
constexpr uint32_t kA = 2 * machine::kRowBytes, kB = 4 * machine::kRowBytes, kC = 5 * machine::kRowBytes,
                   kE = 6 * machine::kRowBytes, kD = 7 * machine::kRowBytes, kD2 = 8 * machine::kRowBytes;
constexpr size_t kRows = 9;

// Lanes that stand at one op.
struct Part {
  size_t split;
  uint32_t lanes;
  const Op* op;
};

// Of a predicate that counts as its opposite, 1.
uint32_t negated(const Op& op) {
  const auto* vote = dynamic_cast<const VoteUse*>(op.payload);
  return vote != nullptr && vote->negated ? 1 : 0;
}

void copy_predicates(run::Context& from, uint32_t row, run::Context& to, uint32_t to_row, uint32_t lanes,
                     uint32_t turned) {
  const uint32_t value = *from.row<uint32_t>(row) ^ (turned != 0 ? ~0u : 0u);
  uint32_t* const d = to.row<uint32_t>(to_row);
  *d = (*d & ~lanes) | (value & lanes);
  to.set_known(to_row, lanes, from.defined_at(row));
}

void copy(run::Context& from, uint32_t row, run::Context& to, uint32_t to_row, uint32_t lanes, size_t bytes) {
  if (bytes == 0) return copy_predicates(from, row, to, to_row, lanes, 0);
  from.known_at(row, lanes);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const size_t at = bytes * static_cast<size_t>(lane);
    std::memcpy(to.row<std::byte>(to_row) + at, from.row<std::byte>(row) + at, bytes);
    run::set_unknown(to, to_row, lane, bytes, run::unknown_of(from, row, lane, bytes),
                     run::origin_of(from, row, lane));
  }
}

// The others of the member mask, by where they wait; nothing where one does not.
std::vector<Part> others(run::Context& context, uint32_t missing, uint32_t members) {
  std::vector<Part> out;
  const std::string& text = context.cta.line(context.split()).text;
  for (size_t i = 0; i < context.warp.splits.size() && missing != 0; ++i) {
    const machine::Split& s = context.warp.splits[i];
    if (i == context.split_index || s.wait != &run::kMeets || context.cta.line(s).text != text) continue;
    run::Context there(context.cta, context.warp, i, context.checked);
    const Op& op = context.cta.op_at(s);
    const auto* row = there.row<uint32_t>(op.e);
    uint32_t lanes = 0;
    for (uint32_t rest = s.mask & missing; rest != 0; rest &= rest - 1)
      if (row[__builtin_ctz(rest)] == members) lanes |= rest & -rest;
    if (lanes != 0) out.push_back({i, lanes, &op});
    missing &= ~lanes;
  }
  if (missing != 0) out.clear();
  return out;
}

}  // namespace

bool perform_together(const Op& op, run::Context& context, uint32_t lanes, uint32_t members,
                      Collective perform, CollectiveRows rows) {
  machine::Warp& warp = context.warp;
  std::vector<Part> parts = others(context, members & warp.live() & ~lanes, members);
  if (parts.empty()) return false;
  context.note(__builtin_ctz(lanes),
               "threads of a warp meet here and at another " + context.cta.line(context.split()).text + ", " +
                   machine::line_of(context.cta.place(warp, warp.splits[parts[0].split], -1)) +
                   ": each member mask names the others");
  parts.push_back({context.split_index, lanes, &op});
  uint32_t all = 0;
  for (const Part& p : parts) all |= p.lanes;

  machine::Split joint = context.split();
  joint.mask = all;
  joint.activation = std::make_shared<machine::Activation>(context.activation().function, kRows);
  warp.splits.push_back(std::move(joint));
  run::Context together(context.cta, warp, warp.splits.size() - 1, context.checked);
  for (const uint32_t r : {kSink, kZero}) together.defined_at(r) = ~0u;
  Op its = op;
  its.a = kA, its.b = kB, its.c = kC, its.e = kE, its.d = kD, its.d2 = kD2;
  for (const Part& p : parts) {
    run::Context there(context.cta, warp, p.split, context.checked);
    if (rows.a == 0)
      copy_predicates(there, p.op->a, together, kA, p.lanes, negated(*p.op) ^ negated(op));
    else
      copy(there, p.op->a, together, kA, p.lanes, rows.a);
    copy(there, p.op->b, together, kB, p.lanes, 4);
    copy(there, p.op->c, together, kC, p.lanes, 4);
    copy(there, p.op->e, together, kE, p.lanes, 4);
  }
  perform(its, together, all);
  for (const Part& p : parts) {
    run::Context there(context.cta, warp, p.split, context.checked);
    copy(together, kD, there, p.op->d, p.lanes, rows.d);
    copy_predicates(together, kD2, there, p.op->d2, p.lanes, 0);
  }
  warp.splits.pop_back();
  // Those who came last go on by their own effect.
  parts.pop_back();
  for (const Part& p : parts) {
    machine::Split rest = warp.splits[p.split];
    machine::Split& through = warp.splits[p.split];
    through.mask = p.lanes;
    through.wait = nullptr;
    ++through.pc;
    context.cta.lane_instructions += static_cast<uint64_t>(__builtin_popcount(p.lanes));
    ++context.cta.warp_instructions;
    rest.mask &= ~p.lanes;
    if (rest.mask != 0) warp.splits.push_back(std::move(rest));
  }
  return true;
}

}  // namespace bitwell::isa
