// A launch whose turns go in the order of a model's time.
#if __has_include(<malloc.h>) && __has_include(<sys/mman.h>)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "model/run/turns/chooser.h"
#include "model/run/turns/order.h"
#include "model/run/turns/residents.h"
#include "model/run/wait.h"

namespace bitwell::run {

using machine::Warp;

namespace {

// The first of those whose time is the least.
void find_first(Earliest& of) {
  const Instant* const at = of.at.data();
  const auto many = static_cast<uint32_t>(of.at.size());
  uint32_t first = 0;
  for (uint32_t i = 1; i < many; ++i)
    if (at[i] < at[first]) first = i;
  of.first = first;
}

// Into the host's caches, since it is looked at soon.
void fetch([[maybe_unused]] const void* what) {
#ifdef __GNUC__
  __builtin_prefetch(what);
#endif
}

// To the cluster of that number, if it is still to start.
void skip_to(Grid& grid, uint64_t number) {
  std::array<uint64_t, 3> all{}, at{};
  for (size_t i = 0; i < 3; ++i) {
    all[i] = grid.shape.grid[i] / grid.shape.cluster[i];
    at[i] = (*grid.next)[i] / grid.shape.cluster[i];
  }
  if (number <= (at[2] * all[1] + at[1]) * all[0] + at[0] || number >= all[0] * all[1] * all[2]) return;
  at = {number % all[0], number / all[0] % all[1], number / all[0] / all[1]};
  for (size_t i = 0; i < 3; ++i) (*grid.next)[i] = static_cast<uint32_t>(at[i] * grid.shape.cluster[i]);
}

Order::Next next_of(const Earliest& of) {
  const Taker& taker = of.taker();
  return {of.at[of.first], taker.cluster, taker.operation == 0 ? taker.warp : Order::kNoWarp};
}

// Whether it waits for a change that anyone may make.
bool looks(const machine::Split& s) {
  return s.wait == &kSpins || (s.wait != nullptr && s.wait->over != nullptr);
}

// Thousands of warps are resident, and turns go from one to any other: half of what that costs is that the
// host looks up where small pages lie. Where the C library's heap grows meanwhile, it does so by large pages.
class LargePages {
 public:
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
  LargePages() {
    mallopt(M_TOP_PAD, kStep);
    mallopt(M_TRIM_THRESHOLD, kMost);
  }
  ~LargePages() {
    constexpr int kUsual = 128 << 10;
    mallopt(M_TOP_PAD, kUsual);
    mallopt(M_TRIM_THRESHOLD, kUsual);
  }
  LargePages(const LargePages&) = delete;
  LargePages& operator=(const LargePages&) = delete;
  // To be called now and then.
  void grow() {
    const auto end = reinterpret_cast<uintptr_t>(sbrk(0)) / kPage * kPage;
    if (end <= from_) return;
    madvise(reinterpret_cast<void*>(from_), end - from_, MADV_HUGEPAGE);
    from_ = end;
  }

 private:
  static constexpr int kStep = 32 << 20, kMost = 1 << 30;
  static constexpr uintptr_t kPage = 2 << 20;
  uintptr_t from_ = (reinterpret_cast<uintptr_t>(sbrk(0)) + kPage - 1) / kPage * kPage;
#else
  void grow() {}
#endif
};

}  // namespace

bool Cluster::earliest(Timekeeper& keeper, Earliest& out) {
  woken_ = false;
  keeper.looks_at(*this);
  out.cluster = this;
  out.at.clear();
  out.all.clear();
  out.operations = 0;
  out.looks = 0;
  const auto add = [&](const Taker& taker, const machine::Agent* operation) {
    out.all.push_back(taker);
    out.at.push_back(keeper.ready(taker, operation));
  };
  uint32_t warp = 0;
  for (const auto& cta : ctas)
    for (machine::Warp& w : cta->warps) {
      const Taker taker{number, warp++, 0};
      const std::optional<bool> known = keeper.can_go_on(taker);
      bool runs = known.value_or(false);
      if (!known) {
        release_spinners(*cta, w);
        for (const machine::Split& s : w.splits) {
          runs = runs || s.wait == nullptr;
          out.looks |= looks(s) ? 1 : 0;
        }
      }
      if (runs) add(taker, nullptr);
    }
  // Of CTAs that are gone, or are still to be made.
  const uint64_t warps = grid.shape.ctas_a_cluster() * warps_of_each();
  for (; warp < warps; ++warp)
    if (const Taker taker{number, warp, 0}; keeper.can_go_on(taker).value_or(!retired_)) add(taker, nullptr);
  for (const auto& agent : agents_)
    if (agent->ready()) {
      add({number, 0, agent->id}, agent.get());
      ++out.operations;
    }
  if (out.all.empty()) return false;
  find_first(out);
  return true;
}

bool Cluster::again(Earliest& of, Timekeeper& keeper) const {
  if (woken_ || of.looks != 0 || keeper.has_let_go()) return false;
  // What a warp has issued, or issued the last part of, can go on now too, as may what waited for an
  // operation.
  size_t ready = 0;
  const machine::Agent* operation = nullptr;
  const Taker taker = of.taker();
  for (const auto& agent : agents_) {
    if (!agent->ready()) continue;
    ++ready;
    if (agent->id == taker.operation) operation = agent.get();
  }
  const bool over = taker.operation != 0 && operation == nullptr;
  if (ready + (over ? 1 : 0) != of.operations) return false;
  bool waits = false;
  if (retired()) {
    waits = !keeper.can_go_on(taker).value_or(false);
    if (waits) keeper.waits(taker);
  } else if (taker.operation == 0) {
    const size_t warps = ctas.front()->warps.size();
    const machine::Warp& warp = ctas[taker.warp / warps]->warps[taker.warp % warps];
    const std::optional<bool> known = keeper.can_go_on(taker);
    waits = known ? !*known : !warp.can_run();
    if (waits && !known && std::any_of(warp.splits.begin(), warp.splits.end(), looks)) return false;
    if (waits) keeper.waits(taker);
  }
  if (over || waits) {
    of.all.erase(of.all.begin() + of.first);
    of.at.erase(of.at.begin() + of.first);
    if (over) --of.operations;
    if (of.all.empty()) return false;
  } else {
    of.at[of.first] = keeper.again(taker, operation);
  }
  find_first(of);
  return true;
}

// Behind the turn of a warp of a launch in which warps wait for one another at barriers of their CTA alone:
// while its registers are at hand it goes on, and the others with it where they can since, or at the begin.
void Cluster::lead(Cta& cta, const Taker& taker, Took& took) {
  Timekeeper& keeper = *took.keeper;
  const auto first = static_cast<uint32_t>(cta.rank * cta.warps.size());
  bool all = std::exchange(cta.has_led, true) ? woken_ : true;
  took.leads = true;
  for (bool any = true; any;) {
    any = false;
    for (Warp& warp : cta.warps) {
      const Taker other{number, first + static_cast<uint32_t>(warp.index), 0};
      if (!all && other.warp != taker.warp) continue;
      while (warp.can_run() && keeper.leads(other)) {
        const uint64_t before = cta.warp_instructions;
        run_warp(cta, warp);
        if (cta.warp_instructions == before) break;
        any = true;
      }
    }
    all = all || woken_;
  }
  took.leads = false;
  keeper.has_led();
  woken_ = false;
  if (cta.warps[taker.warp - first].splits.empty()) keeper.ends(taker);
}

void Residents::run_timed(ByTime& times) {
  Grid& grid = launches_.front().grid;
  Timekeeper& keeper = times.begins(grid);
  launches_.front().room = {keeper.residents(), "as the model of time has it"};
  LargePages pages;
  Order order;
  std::vector<Earliest> all;  // by the cluster's number
  Earliest spare;             // of the last that has ended, for the room that it has
  std::set<uint32_t> idle;
  uint64_t changes = 0;
  const auto find = [&](uint32_t number) {  // they stand in the order of their start
    return std::lower_bound(clusters_.begin(), clusters_.end(), number,
                            [](const auto& cluster, uint32_t n) { return cluster->number < n; });
  };
  const auto look = [&](Cluster& cluster) {
    if (all.size() <= cluster.number) all.resize(cluster.number + 1);
    Earliest& of = all[cluster.number];
    if (of.cluster == nullptr) std::swap(of, spare);
    const bool any = cluster.earliest(keeper, of);
    if (any)
      order.push(next_of(of));
    else if (!cluster.retired())
      idle.insert(cluster.number);
    return any;
  };
  const auto look_at_idle = [&] {
    for (const uint32_t number : std::exchange(idle, {})) look(**find(number));
  };
  const auto expect = [&](const Order::Next& next, bool is_next) {
    if (next.warp() != Order::kNoWarp) keeper.expects({next.cluster(), next.warp(), 0}, is_next);
  };
  bool room = true;  // there may be, where there was none at a look
  for (;;) {
    if (room || launches_.size() > 1) {
      while (InFlight* const launch = keeper.enough() || !keeper.more() ? nullptr : starting()) {
        if (&launch->grid == &grid) skip_to(grid, keeper.chosen(started_));
        start(*launch);
        pages.grow();
        keeper.starts(*clusters_.back());
        look(*clusters_.back());
      }
      if (keeper.enough() || clusters_.empty()) break;
      room = false;
    }
    if (changes != grid.flight.changes()) {  // who only waits may wait for memory that another cluster writes
      changes = grid.flight.changes();
      look_at_idle();
    }
    if (order.empty()) {
      if (!let_waits_time_out()) report_deadlock();
      look_at_idle();
      continue;
    }
    Order::Next next = order.first();
    const Order::Next* const second = order.second();
    Earliest& earliest = all[next.cluster()];
    Cluster& cluster = *earliest.cluster;
    bool ended = false, again = false;
    for (;;) {
      const Taker taker = earliest.taker();
      Instant at = 0;
      const Past past = keeper.has_turn(taker, at);
      if (past == Past::part) {
        Took took;
        took.keeper = &keeper;
        took.reaches = keeper.reaches();
        ended = cluster.take(taker, took);
        took.changes = grid.flight.changes();
        keeper.took(took);
        if (ended && keeper.goes_to_ends()) {  // by its time it goes on
          count(cluster);
          cluster.retire();
          ended = false;
        }
      }
      if (past == Past::all && earliest.looks == 0) {  // nothing happened now that others could wait for
        earliest.at[earliest.first] = at;
        find_first(earliest);
        again = true;
      } else {
        again = !ended && cluster.again(earliest, keeper);
      }
      if (!again) break;
      next = next_of(earliest);
      if ((changes != grid.flight.changes() && !idle.empty()) || (second != nullptr && *second < next)) break;
      expect(next, true);
    }
    if (again) {
      const auto [soon, later] = order.replace(next, second);
      if (soon != nullptr) {
        expect(*soon, true);
        const Earliest& its = all[soon->cluster()];
        fetch(its.at.data());
        fetch(&its.all[its.first]);
      }
      if (later != nullptr) {
        expect(*later, false);
        fetch(&all[later->cluster()]);
      }
      continue;
    }
    order.pop();
    if (!ended && (look(cluster) || !cluster.retired())) continue;
    room = true;
    keeper.ends(cluster);
    spare = std::exchange(earliest, {});
    end(static_cast<size_t>(find(cluster.number) - clusters_.begin()));
  }
  // What is left is not run.
  clusters_.clear();
  for (InFlight& launch : launches_) launch.grid.next.reset();
}

}  // namespace bitwell::run
