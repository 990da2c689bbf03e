#include "model/explore/witness.h"

#include <algorithm>

#include "model/machine/memory/memory.h"

namespace bitwell::explore {

using machine::Access;
using machine::AccessKind;
using machine::Ending;
using machine::Synchronisation;
using Kind = Synchronisation::Kind;

namespace {

constexpr uint64_t kBarriers = 16;  // of a CTA
constexpr int kWarpsOfAGroup = 4;

bool in_window(uint64_t address, uint64_t window) { return address - window < machine::kWindowSize; }

}  // namespace

void Witness::clear() {
  names_.clear();
  endings_.clear();
  barriers_.clear();
  exits_.clear();
  cluster_arrivals_.clear();
  cluster_exits_.clear();
  last_arrival_.clear();
  multiplies_.clear();
  waiting_.clear();
  looks_.clear();
}

void Witness::begin(const Actor& actor) {
  actor_ = actor;
  sure_.clear();
  updates_.clear();
  told_.clear();
  issued_.clear();
  if (actor.operation == 0) return;
  // Who waits for an operation sees how far it is.
  if (const Ending ending = endings_[actor]; ending == Ending::warpgroup)
    touch(Space::multiplications, actor.warp / kWarpsOfAGroup, actor.warp / kWarpsOfAGroup + 1, Mode::join);
  else if (ending == Ending::copy_group || ending == Ending::bulk_group)
    touch(Space::groups, actor.warp, actor.warp + 1, Mode::join);
}

void Witness::touch(Space space, uint64_t begin, uint64_t end, Mode mode, uint64_t phase) {
  add(sure_, {space, space == Space::global ? 0 : actor_.cluster, begin, end, mode, phase});
}

void Witness::tell(const machine::Event& event) {
  if (const auto* a = std::get_if<Access>(&event.what)) access(*a);
  if (const auto* s = std::get_if<Synchronisation>(&event.what)) synchronised(*s);
}

void Witness::access(const Access& a) {
  if (a.lanes == 0) return reach(a, a.addresses[0]);
  for (uint32_t lanes = a.lanes; lanes != 0; lanes &= lanes - 1)
    reach(a, a.addresses[static_cast<size_t>(__builtin_ctz(lanes))]);
}

void Witness::reach(const Access& a, uint64_t generic) {
  const Mode mode = a.kind == AccessKind::read ? Mode::read : Mode::write;
  if (a.rows != 0) {  // of tensor memory: lanes of columns of 4 bytes
    const uint64_t rank = (generic - machine::kTensorWindow) >> 32;
    touch(Space::moves, rank, rank + 1, Mode::read);
    for (uint64_t row = 0; row < a.rows; ++row) {
      const uint64_t cell = generic - machine::kTensorWindow + (row << 16);
      touch(Space::tensor, cell, cell + a.bytes / 4, mode);
    }
    return;
  }
  if (in_window(generic, machine::kLocalWindow) || in_window(generic, machine::kParamWindow) ||
      in_window(generic, machine::kConstWindow))
    return;
  const bool shared = in_window(generic, machine::kSharedWindow);
  const uint64_t address = shared ? generic - machine::kSharedWindow : generic;
  if (shared)
    if (const uint64_t owner = address >> machine::kRankShift; owner != names_.rank(a.cta))
      touch(Space::alive, owner, owner + 1, Mode::read);
  const Touch reached{shared ? Space::shared : Space::global, shared ? actor_.cluster : 0, address,
                      address + a.bytes, mode};
  add(a.kind == AccessKind::update && a.lanes != 0 && !a.mbarrier ? updates_ : sure_, reached);
}

Witness::Key Witness::barrier_of(const Synchronisation& s) const {
  return {actor_.cluster, names_.rank(s.cta) * kBarriers + s.which};
}

uint64_t Witness::warpgroup_of(const Synchronisation& s) const {
  return names_.warp(actor_.cluster, s.cta, s.warp).warp / kWarpsOfAGroup;
}

void Witness::synchronised(const Synchronisation& s) {
  told_.push_back(s);
  issued_.push_back(names_.tell(actor_.cluster, s));
  const uint64_t rank = names_.rank(s.cta);
  const Actor who = names_.warp(actor_.cluster, s.cta, s.warp);
  switch (s.kind) {
    case Kind::cta_arrived: {
      const Key key = barrier_of(s);
      touch(Space::barrier, key.second, key.second + 1, Mode::join, barriers_[key].phase);
      return;
    }
    case Kind::cta_over: {
      const Key key = barrier_of(s);
      ++barriers_[key].phase;
      for (Touch& t : sure_)
        if (t.space == Space::barrier && t.begin == key.second) t.over = true;
      return;
    }
    case Kind::cluster_arrived:
      last_arrival_[who] = s.which;
      return touch(Space::cluster_barrier, 0, 1, Mode::join, s.which);
    case Kind::exited: return touch(Space::alive, rank, rank + 1, Mode::join);
    case Kind::tensor_loads_used:
    case Kind::tensor_loads_waited:
    case Kind::tensor_stores_waited: return touch(Space::moves, rank, rank + 1, Mode::join);
    case Kind::columns:  // a pair gets them together
      if (s.amount != 0) return touch(Space::columns, rank & ~uint64_t{1}, (rank | 1) + 1, Mode::write);
      return touch(Space::columns, rank, rank + 1, Mode::write);
    case Kind::emptied: return touch(Space::shared, s.which, s.which + s.amount, Mode::write);
    case Kind::issued:
      endings_[issued_.back()] = s.ending;
      if (s.ending == Ending::commit) touch(Space::issues, rank, rank + 1, Mode::join);
      return;
    case Kind::tensor_fence_after: return touch(Space::issues, rank, rank + 1, Mode::read);
    case Kind::copies_waited:
    case Kind::bulk_waited:
    case Kind::bulk_read: return touch(Space::groups, who.warp, who.warp + 1, Mode::read);
    case Kind::mma_waited:
      return touch(Space::multiplications, warpgroup_of(s), warpgroup_of(s) + 1, Mode::read);
    default: return;
  }
}

Footprint Witness::footprint(bool changed) const {
  Footprint out = sure_;
  for (Touch t : updates_) {
    if (!changed) t.mode = Mode::read;
    add(out, t);
  }
  return out;
}

Clock Witness::gathered() const {
  Clock out;
  for (const Synchronisation& s : told_) {
    if (s.kind == Kind::cluster_passed) {
      for (const auto& [phase, clock] : cluster_arrivals_)
        if (phase.first == actor_.cluster && phase.second <= s.which) join(out, clock);
      // Threads that have ended are not waited for.
      if (const auto exits = cluster_exits_.find(actor_.cluster); exits != cluster_exits_.end())
        for (const Exit& exit : exits->second)
          if (exit.arrived < s.which) join(out, exit.clock);
    } else if (s.kind == Kind::mma_started) {
      const auto at = multiplies_.find({{actor_.cluster, warpgroup_of(s)}, s.which});
      if (at != multiplies_.end()) join(out, at->second);
    }
  }
  return out;
}

void Witness::pass_on(const Synchronisation& s, const Clock& clock) {
  const Key rank{actor_.cluster, names_.rank(s.cta)};
  const Actor who = names_.warp(actor_.cluster, s.cta, s.warp);
  switch (s.kind) {
    case Kind::cta_arrived: {
      Barrier& barrier = barriers_[barrier_of(s)];
      barrier.counted = s.amount != 0;
      return join(barrier.arrived, clock);
    }
    case Kind::cta_passed: {
      const Barrier& barrier = barriers_[barrier_of(s)];
      join(waiting_[who], barrier.arrived);
      if (!barrier.counted) join(waiting_[who], exits_[rank]);
      return;
    }
    case Kind::cta_over: barriers_[barrier_of(s)].arrived.clear(); return;
    case Kind::cluster_arrived: return join(cluster_arrivals_[{actor_.cluster, s.which}], clock);
    case Kind::exited:
      join(exits_[rank], clock);
      cluster_exits_[actor_.cluster].push_back({last_arrival_[who], clock});
      return;
    case Kind::mma_issued: return join(multiplies_[{{actor_.cluster, warpgroup_of(s)}, s.which}], clock);
    default: return;
  }
}

void Witness::end(const Clock& clock, bool changed) {
  for (size_t i = 0; i < told_.size(); ++i) {
    if (issued_[i].operation != 0) join(waiting_[issued_[i]], clock);
    pass_on(told_[i], clock);
  }
  const Footprint reached = footprint(changed);
  for (auto& [warp, look] : looks_)
    if (warp == actor_ ? changed : conflict(look.reads, reached)) ++look.noticed;
  if (actor_.operation != 0) return;
  Look& look = looks_[actor_];
  for (Touch t : reached) {
    t.mode = Mode::read;
    const auto same = [&](const Touch& o) {
      return o.space == t.space && o.cluster == t.cluster && o.begin <= t.begin && o.end >= t.end;
    };
    if (std::none_of(look.reads.begin(), look.reads.end(), same)) look.reads.push_back(t);
  }
}

Clock Witness::take_waiting(const Actor& actor) {
  const auto at = waiting_.find(actor);
  if (at == waiting_.end()) return {};
  Clock out = std::move(at->second);
  waiting_.erase(at);
  return out;
}

}  // namespace bitwell::explore
