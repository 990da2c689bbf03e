#include "model/run/stuck/cause.h"

#include <algorithm>

namespace bitwell::run {

using machine::MbarrierHistory;
using machine::MbarrierWord;
using machine::Split;
using machine::Warp;

bool at_mbarrier(const Split& s) { return s.wait != nullptr && s.wait->polls && s.mbarrier != 0; }

std::string own_words(const Grid& grid, int ptx_line, const std::string& before) {
  for (const isa::Function& f : grid.program.functions)
    for (const isa::Line& line : f.lines)
      if (line.ptx == ptx_line && line.cuda != nullptr) return before + line.cuda->own().words();
  return "";
}

std::string line_words(const Grid& grid, int ptx_line) {
  const std::string cuda = own_words(grid, ptx_line, " (");
  return "PTX line " + std::to_string(ptx_line) + (cuda.empty() ? "" : cuda + ")");
}

std::string plural(uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

namespace {

const MbarrierHistory* history_of(Cluster& cluster, const Split& split) {
  if (!at_mbarrier(split)) return nullptr;
  const auto& all = cluster.cta_of(split.mbarrier - 1)->mbarriers.all();
  const auto found = all.find(split.mbarrier - 1);
  return found == all.end() ? nullptr : &found->second;
}

MbarrierWord word_of(Cluster& cluster, const Split& split) {
  return cluster.cta_of(split.mbarrier - 1)->mbarriers.word(split.mbarrier - 1);
}

// Whether another warp last waited there for the other parity: then warps take phases in turn, and each skips
// some.
bool in_turns(Cluster& cluster, const Waiter& waiter, uint32_t parity) {
  for (const auto& cta : cluster.ctas)
    for (const Warp& w : cta->warps) {
      const auto found = w.waits_passed.find(waiter.split->mbarrier - 1);
      if (&w != waiter.warp && found != w.waits_passed.end() && found->second.parity != parity) return true;
    }
  return false;
}

bool has_arrived(const MbarrierHistory& history, const Waiter& who) {
  return std::any_of(history.arrivers.begin(), history.arrivers.end(),
                     [&](const auto& a) { return a.rank == who.cta->rank && a.warp == who.warp->index; });
}

// One that waits in an aligned barrier for threads of its warp that wait at another one. Where they wait for
// something else, this is only the consequence.
std::vector<Cause> divergent(const std::vector<Waiter>& waiters, const Waiter& waiter) {
  if (waiter.split->wait != &kMeets) return {};
  const isa::Op& op = waiter.cta->op_at(*waiter.split);
  if (op.kind != isa::OpKind::barrier) return {};
  const auto here = static_cast<uint64_t>(__builtin_popcount(waiter.split->mask));
  std::string text = "divergent barrier: '" + waiter.cta->line(*waiter.split).text +
                     "' is for all threads of a warp at once; " + plural(here, "thread") + " of this one " +
                     (here == 1 ? "is" : "are") + " here";
  for (const Waiter& w : waiters)
    if (w.warp == waiter.warp && w.split != waiter.split) {
      const bool at_barrier =
          w.split->wait == &kAtCtaBarrier ||
          (w.split->wait == &kMeets && w.cta->op_at(*w.split).kind == isa::OpKind::barrier);
      if (!at_barrier) return {};
      text += ", " + std::to_string(__builtin_popcount(w.split->mask)) + " at " +
              line_words(w.cta->grid, w.cta->line(*w.split).ptx);
    }
  return {{Mistake::divergent_barrier, text}};
}

// Why a first wait at a barrier where nobody ever arrived never ends.
std::vector<Cause> never_arrived(Cluster& cluster, const std::vector<Waiter>& waiters, const Waiter& waiter,
                                 const MbarrierWord& word, bool first) {
  const Cause missing{Mistake::under_arrival, "under-arrival: nobody ever arrived, of " +
                                                  plural(word.expected, "arrival") + " a phase"};
  if (!first) return {missing};
  // Those who could arrive wait themselves: where this warp arrived, or where nobody ever did either. Where
  // all arrivals came and bytes are missing, no warp's wait is the reason.
  bool for_this = false;
  bool mutual = false;
  for (const Waiter& w : waiters) {
    const MbarrierHistory* history = history_of(cluster, *w.split);
    if (history == nullptr || w.split->mbarrier == waiter.split->mbarrier) continue;
    const MbarrierWord there = word_of(cluster, *w.split);
    for_this = for_this || (history->phases == 0 && there.pending != 0 && has_arrived(*history, waiter));
    mutual = mutual || (history->phases == 0 && history->arrivals == 0);
  }
  if (!for_this && !mutual) return {missing};
  const Cause initial{
      for_this ? Mistake::wrong_initial_phase : Mistake::mutual_wait,
      std::string("wrong initial phase: this is the warp's first wait here, nobody ever arrived, and ") +
          (for_this ? "others wait where this warp has arrived"
                    : "those who could arrive are waiting themselves") +
          "; a wait for parity 1 passes a new barrier"};
  return {initial, missing};
}

}  // namespace

std::vector<Cause> causes(Cluster& cluster, const std::vector<Waiter>& waiters, const Waiter& waiter) {
  const Split& split = *waiter.split;
  const MbarrierHistory* history = history_of(cluster, split);
  if (history == nullptr) return divergent(waiters, waiter);
  const MbarrierWord word = word_of(cluster, split);
  if (word.expected == 0)
    return {{Mistake::under_arrival, "under-arrival: every thread has dropped out of the barrier"}};
  std::vector<Cause> out;
  const auto found = waiter.warp->waits_passed.find(split.mbarrier - 1);
  const machine::WaitsPassed passed =
      found == waiter.warp->waits_passed.end() ? machine::WaitsPassed{} : found->second;
  if (word.pending == 0 && word.bytes < 0)
    out.push_back({Mistake::surplus_bytes, "byte mismatch: every arrival came, and " +
                                               plural(static_cast<uint64_t>(-word.bytes), "byte") +
                                               " more than expected"});
  const bool skips = passed.count != 0 && in_turns(cluster, waiter, passed.parity);
  if (passed.count != 0 && passed.parity == split.mbarrier_parity && !skips)
    out.push_back({Mistake::parity_not_flipped, "parity not flipped: this warp's last wait here, at " +
                                                    line_words(cluster.grid, passed.ptx_line) +
                                                    ", was for parity " + std::to_string(passed.parity) +
                                                    " too; the next phase has the other one"});
  if (history->phases >= split.mbarrier_phase + 2 || (history->phases >= passed.count + 2 && !skips))
    out.push_back(
        {Mistake::lapped_phase, "lapped phase: the barrier ended " + plural(history->phases, "phase") +
                                    ", of which this warp waited for " + std::to_string(passed.count) +
                                    "; the parity it waits for has come round again"});
  if (history->phases == 0 && history->arrivals > 0 && word.pending != 0)
    out.push_back({Mistake::count_mismatch, "count mismatch: initialised for " +
                                                plural(word.expected, "arrival") + " a phase, and only " +
                                                std::to_string(history->arrivals) + " came"});
  if (word.pending == 0 && word.bytes > 0)
    out.push_back({Mistake::missing_bytes, "byte mismatch: every arrival came, and " +
                                               plural(static_cast<uint64_t>(word.bytes), "byte") +
                                               " of those expected never do"});
  uint64_t ended = 0;
  for (const auto& cta : cluster.ctas)
    for (const Warp& w : cta->warps) ended += static_cast<uint64_t>(__builtin_popcount(w.exited));
  const bool others_left = std::any_of(waiters.begin(), waiters.end(), [&](const Waiter& w) {
    return !at_mbarrier(*w.split) || w.split->mbarrier != split.mbarrier;
  });
  if (!others_left && ended > 0 && word.pending != 0)
    out.push_back({Mistake::exited_peer, "exited peer: " + plural(ended, "thread") +
                                             " ended, and nobody is left who could arrive"});
  if (word.pending != 0) {
    if (history->phases == 0 && history->arrivals == 0 && others_left) {
      for (Cause& c : never_arrived(cluster, waiters, waiter, word, passed.count == 0))
        out.push_back(std::move(c));
    } else {
      out.push_back({Mistake::under_arrival, "under-arrival: " + std::to_string(word.pending) + " of " +
                                                 plural(word.expected, "arrival") + " never come"});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Cause& a, const Cause& b) { return a.mistake < b.mistake; });
  return out;
}

}  // namespace bitwell::run
