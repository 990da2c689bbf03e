// What shfl, vote, match, redux, elect and bar.warp do (PTX ISA 9.0, 9.7.9.7, 9.7.13).
#include "model/isa/family/control/warp.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "model/isa/family/control/warp_together.h"
#include "model/run/context.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"
#include "model/run/watch/definedness.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

bool all_name_all(const uint32_t* row, uint32_t mask) {  // as most often
  uint32_t all = mask;
  for (int i = 0; i < kLanes; ++i) all &= row[i];
  return all == ~0u;
}

// The lanes of `mask` whose member mask is the lowest lane's.
struct Group {
  uint32_t lanes;
  uint32_t members;
};
Group first_group(const uint32_t* row, uint32_t mask) {
  if (all_name_all(row, mask)) return {~0u, ~0u};
  Group out{0, row[__builtin_ctz(mask)]};
  for (uint32_t lanes = mask & out.members; lanes != 0; lanes &= lanes - 1)
    if (row[__builtin_ctz(lanes)] == out.members) out.lanes |= lanes & -lanes;
  return out;
}

// The member masks, each of which names the thread that has it.
const uint32_t* members_of(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.e, mask, "a member mask");
  const auto* row = context.row<uint32_t>(op.e);
  uint32_t named[kLanes], unnamed = 0;
  for (uint32_t i = 0; i < kLanes; ++i) named[i] = row[i] & uint32_t{1} << i;
  for (uint32_t i = 0; i < kLanes; ++i) unnamed |= named[i] ^ uint32_t { 1 } << i;
  if ((unnamed & mask) != 0)
    throw Fault("the member mask does not name the thread that executes it", __builtin_ctz(unnamed & mask));
  return row;
}

// Performs a collective for every group of lanes with one member mask whose members are all here, for each by
// itself or for all at once, or are all at other instructions of its kind. The others stay and wait. Threads
// that have exited are not waited for.
Next by_members(const Op& op, run::Context& context, uint32_t mask, Collective perform,
                CollectiveRows rows = {}, bool at_once = false) {
  const uint32_t* const row = members_of(op, context, mask);
  uint32_t here = 0, elsewhere = 0;
  for (uint32_t rest = mask; rest != 0;) {
    const Group group = first_group(row, rest);
    rest &= ~group.lanes;
    if ((group.members & context.warp.live() & ~group.lanes) != 0) {
      if (perform_together(op, context, group.lanes, group.members, perform, rows)) elsewhere |= group.lanes;
      continue;
    }
    if (!at_once) perform(op, context, group.lanes);
    here |= group.lanes;
  }
  if (at_once && here != 0) perform(op, context, here);
  const uint32_t through = here | elsewhere;
  if (through == mask) return Next::advance;
  if (through == 0) {
    run::take_lanes(context, mask).wait = &run::kMeets;
    return Next::wait;
  }
  machine::Split rest = context.split();
  rest.mask = mask & ~through;
  rest.wait = &run::kMeets;
  run::take_lanes(context, mask);
  context.split().mask = through;
  ++context.split().pc;
  context.warp.splits.push_back(std::move(rest));
  return Next::moved;
}

void set_predicate(run::Context& context, uint32_t row, uint32_t value, uint32_t mask, uint32_t known) {
  uint32_t* d = context.row<uint32_t>(row);
  *d = (*d & ~mask) | (value & mask);
  context.set_known(row, mask, known);
}

// Votes, matches and elections go on without members that have ended.
void note_ended(const Op& op, run::Context& context, uint32_t mask) {
  const int lane = __builtin_ctz(mask);
  if ((context.row<uint32_t>(op.e)[lane] & context.warp.exited) != 0)
    context.note(lane, "the member mask names threads that have ended");
}

}  // namespace

Next warp_barrier(const Op& op, run::Context& context, uint32_t mask) {
  const Group group = first_group(members_of(op, context, mask), mask);
  if (group.lanes == mask && (group.members & context.warp.live() & ~mask) == 0) {
    run::tell_synchronised(machine::Synchronisation::Kind::warp_met, context.cta, context.warp,
                           context.split(), mask, 0);
    return Next::advance;
  }
  // Members may meet at different bar.warp.sync instructions.
  machine::Split& split = run::take_lanes(context, mask);
  split.mask = group.lanes;
  split.wait = &run::kAtWarpBarrier;
  split.members = group.members;
  if (group.lanes != mask) {  // the others stay here and come again
    machine::Split rest = split;
    rest.mask = mask & ~group.lanes;
    rest.wait = nullptr;
    context.warp.splits.push_back(std::move(rest));
  }
  context.cta.try_release_warp(context.warp);
  return Next::moved;
}

// Which lane each lane's value comes from, and the lanes for which that is in range.
template <ShuffleMode mode>
static uint32_t shuffle_sources(const uint32_t* b, const uint32_t* c, int* source) {
  uint8_t valid[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int value = static_cast<int>(b[lane] & 31);
    const int clamp = static_cast<int>(c[lane] & 31);
    const int segment = static_cast<int>(c[lane] >> 8 & 31);
    const int min_lane = lane & segment;
    const int max_lane = min_lane | (clamp & ~segment);
    const int from = mode == ShuffleMode::up     ? lane - value
                     : mode == ShuffleMode::down ? lane + value
                     : mode == ShuffleMode::bfly ? lane ^ value
                                                 : min_lane | (value & ~segment);
    const bool in_range = mode == ShuffleMode::up ? from >= max_lane : from <= max_lane;
    source[lane] = (in_range ? from : lane) & 31;
    valid[lane] = in_range ? 1 : 0;
  }
  uint32_t out = 0;
  for (int lane = 0; lane < kLanes; lane += 8) {  // the lowest bits of eight bytes, side by side
    uint64_t eight = 0;
    std::memcpy(&eight, valid + lane, 8);
    out |= static_cast<uint32_t>(eight * 0x0102040810204080 >> 56) << lane;
  }
  return out;
}

// shfl.sync of all groups of lanes that are here: c holds the clamp value (bits 4..0) and the segment mask
// (bits 12..8).
static void perform_shuffle(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.b, mask, "a shuffle's lane");
  context.require_defined(op.c, mask, "a shuffle's clamp");
  uint32_t a[kLanes];
  std::memcpy(a, context.row<uint32_t>(op.a), sizeof a);
  const auto* b = context.row<uint32_t>(op.b);
  const auto* c = context.row<uint32_t>(op.c);
  uint32_t result[kLanes];
  const uint32_t a_known = context.known_at(op.a, mask);
  uint32_t in_range = 0;
  int source[kLanes];
  switch (op.as<ShuffleUse>().mode) {
    case ShuffleMode::up: in_range = shuffle_sources<ShuffleMode::up>(b, c, source); break;
    case ShuffleMode::down: in_range = shuffle_sources<ShuffleMode::down>(b, c, source); break;
    case ShuffleMode::bfly: in_range = shuffle_sources<ShuffleMode::bfly>(b, c, source); break;
    case ShuffleMode::idx: in_range = shuffle_sources<ShuffleMode::idx>(b, c, source); break;
  }
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = a[source[lane]];
  // A source lane that does not take part gives an undefined value.
  const auto* members = context.row<uint32_t>(op.e);
  const uint32_t there = a_known & mask;
  uint32_t known = ~0u;
  if (!all_name_all(members, there)) {
    uint32_t bit[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) bit[lane] = (there & members[lane]) >> source[lane] & 1;
    known = 0;
    for (int lane = 0; lane < kLanes; ++lane) known |= bit[lane] << lane;
  }
  // What the source lanes lack, before a destination that is the source changes it.
  run::LaneBits unknown[kLanes];
  for (uint32_t lanes = context.checked ? mask & ~known : 0; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
    const bool takes_part = ((mask & members[lane]) >> source[lane] & 1) != 0;
    unknown[lane] =
        takes_part ? run::unknown_of(context, op.a, source[lane], 4) : run::LaneBits{~uint32_t{0}, 0};
  }
  auto* d = context.row<uint32_t>(op.d);
  for (int lane = 0; lane < kLanes; ++lane) d[lane] = (mask >> lane & 1) != 0 ? result[lane] : d[lane];
  context.set_defined(op.d, mask & known);
  for (uint32_t lanes = context.checked ? mask & ~known : 0; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    machine::Origin from;
    from.kind = machine::Origin::Kind::shuffle;
    from.ptx_line = context.cta.line(context.split()).ptx;
    from.lane = source[lane];
    run::set_unknown(context, op.d, lane, 4, unknown[lane], from);
  }
  set_predicate(context, op.d2, in_range, mask, mask);
}
Next shuffle(const Op& op, run::Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_shuffle, {}, true);
}

static void perform_vote(const Op& op, run::Context& context, uint32_t mask) {
  note_ended(op, context, mask);
  context.require_defined(op.a, mask, "a vote's predicate");
  uint32_t p = *context.row<uint32_t>(op.a);
  if (op.as<VoteUse>().negated) p = ~p;
  p &= mask;
  const auto mode = op.as<VoteUse>().mode;
  if (mode == VoteMode::ballot) {
    auto* d = context.row<uint32_t>(op.d);
    for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? p : d[i];
    context.set_defined(op.d, mask);
    return;
  }
  const bool all = p == mask;
  const bool result = mode == VoteMode::all ? all : mode == VoteMode::any ? p != 0 : all || p == 0;
  set_predicate(context, op.d, result ? ~0u : 0u, mask, mask);
}
Next vote(const Op& op, run::Context& context, uint32_t mask) {
  const bool ballot = op.as<VoteUse>().mode == VoteMode::ballot;
  return by_members(op, context, mask, perform_vote, {.a = 0, .d = ballot ? size_t{4} : 0});
}

static void perform_match_lanes(const Op& op, run::Context& context, uint32_t mask) {
  note_ended(op, context, mask);
  context.require_defined(op.a, mask, "a match's value");
  uint64_t value[kLanes];
  for (int i = 0; i < kLanes; ++i)
    value[i] = op.as<MatchUse>().size == 8 ? context.row<uint64_t>(op.a)[i] : context.row<uint32_t>(op.a)[i];
  auto* d = context.row<uint32_t>(op.d);
  bool all = true;
  for (uint32_t rest = mask; rest != 0;) {
    const uint64_t first = value[__builtin_ctz(rest)];
    uint32_t same = 0;
    for (uint32_t i = 0; i < kLanes; ++i) same |= static_cast<uint32_t>(value[i] == first) << i;
    same &= mask;
    all = all && same == mask;
    const uint32_t names = !op.as<MatchUse>().all || all ? same : 0;
    for (uint32_t lanes = same; lanes != 0; lanes &= lanes - 1) d[__builtin_ctz(lanes)] = names;
    rest &= ~same;
  }
  context.set_defined(op.d, mask);
  set_predicate(context, op.d2, all ? ~0u : 0u, mask, mask);
  run::tell_synchronised(machine::Synchronisation::Kind::warp_met, context.cta, context.warp, context.split(),
                         mask, 1);
}
Next match_lanes(const Op& op, run::Context& context, uint32_t mask) {
  const auto size = static_cast<size_t>(op.as<MatchUse>().size);
  return by_members(op, context, mask, perform_match_lanes, {.a = size, .d = 4});
}

static void perform_reduce(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a reduction's value");
  const auto* a = context.row<uint32_t>(op.a);
  const auto& use = op.as<ReduceUse>();
  std::vector<uint32_t> words;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) words.push_back(a[__builtin_ctz(lanes)]);
  const auto all = [&](auto operation) {
    return std::accumulate(words.begin() + 1, words.end(), words[0], operation);
  };
  uint32_t r = 0;
  switch (use.operation) {
    case AtomicOperation::add: r = all(std::plus<>()); break;
    case AtomicOperation::min:
    case AtomicOperation::max: r = use.extreme.of(words); break;
    case AtomicOperation::band: r = all(std::bit_and<>()); break;
    case AtomicOperation::bor: r = all(std::bit_or<>()); break;
    default: r = all(std::bit_xor<>()); break;
  }
  auto* d = context.row<uint32_t>(op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? r : d[i];
  context.set_defined(op.d, mask);
}
Next reduce(const Op& op, run::Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_reduce);
}

Next active_mask(const Op& op, run::Context& context, uint32_t mask) {
  auto* d = context.row<uint32_t>(op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? mask : d[i];
  context.set_defined(op.d, mask);
  return Next::advance;
}

// elect.sync: the lowest lane of the member mask is elected; its number goes to d of all (PTX leaves the
// choice open).
static void perform_elect(const Op& op, run::Context& context, uint32_t mask) {
  note_ended(op, context, mask);
  const auto leader = static_cast<uint32_t>(__builtin_ctz(mask));
  auto* d = context.row<uint32_t>(op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? leader : d[i];
  context.set_defined(op.d, mask);
  set_predicate(context, op.d2, 1u << leader, mask, mask);
}
Next elect(const Op& op, run::Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_elect);
}

}  // namespace bitwell::isa
