// The report when nothing can run: who waits for what, which mistake that looks like, and the cycle.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "model/run/cluster.h"
#include "model/run/stuck/cause.h"
#include "model/run/stuck/nearby.h"

namespace bitwell::run {

using machine::Fault;
using machine::MbarrierHistory;
using machine::MbarrierWord;
using machine::Split;
using machine::Warp;

namespace {

constexpr size_t kShown = 8;       // waiters
constexpr size_t kMostShown = 32;  // where they wait in more places than kShown

std::string warp_name(const Cluster& cluster, uint32_t rank, int warp) {
  return (cluster.ctas.size() > 1 ? "CTA rank " + std::to_string(rank) + " " : "") + "warp " +
         std::to_string(warp);
}

// "warps 0 to 2 and 5" of these, in order of their numbers.
std::string warp_names(const Cluster& cluster, uint32_t rank, const std::set<int>& warps) {
  if (warps.size() == 1) return warp_name(cluster, rank, *warps.begin());
  std::vector<std::string> parts;
  for (auto at = warps.begin(); at != warps.end();) {
    const int first = *at;
    int last = first;
    while (++at != warps.end() && *at == last + 1) ++last;
    parts.push_back(std::to_string(first));
    if (last == first + 1) parts.push_back(std::to_string(last));
    if (last > first + 1) parts.back() += " to " + std::to_string(last);
  }
  std::string out = (cluster.ctas.size() > 1 ? "CTA rank " + std::to_string(rank) + " " : "") + "warps ";
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return out;
}

// Those that arrived, by the line where they did, in the order in which the first of each came.
std::string arrivals(const Cluster& cluster, const MbarrierHistory& history) {
  std::vector<std::pair<std::pair<uint32_t, int>, std::set<int>>> groups;  // by rank and line
  for (const MbarrierHistory::Arriver& a : history.arrivers) {
    const std::pair<uint32_t, int> key{a.rank, a.ptx_line};
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == key; });
    (same == groups.end() ? groups.emplace_back(key, std::set<int>{}) : *same).second.insert(a.warp);
  }
  std::string text;
  for (const auto& [key, warps] : groups)
    text += (text.empty() ? ", arrivals so far from " : ", ") + warp_names(cluster, key.first, warps) +
            " (line " + std::to_string(key.second) + own_words(cluster.grid, key.second, ", ") + ")";
  return text;
}

std::string mbarrier_reason(Cluster& cluster, const Split& split) {
  const uint64_t address = split.mbarrier - 1;
  machine::Mbarriers& barriers = cluster.cta_of(address)->mbarriers;
  const auto found = barriers.all().find(address);
  if (found == barriers.all().end())
    return " on " + cluster.barrier_name(address) + ", which was invalidated meanwhile";
  const MbarrierHistory& history = found->second;
  const MbarrierWord word = barriers.word(address);
  std::string text = " on " + cluster.barrier_name(address) + " for parity " +
                     std::to_string(split.mbarrier_parity) + ": phase " + std::to_string(history.phases) +
                     ", pending " + std::to_string(word.pending) + " of " + plural(word.expected, "arrival");
  if (history.bytes_expected != 0 || history.bytes_arrived != 0)
    text += ", " + std::to_string(history.bytes_arrived) + " bytes arrived of " +
            std::to_string(history.bytes_expected) + " expected";
  return text + "; initialised at " + line_words(cluster.grid, history.initialised.ptx_line) +
         arrivals(cluster, history);
}

// Of one that polls global memory, while CTAs have not started.
std::string who_could_end(const Cluster& cluster, const Split& split) {
  if (!split.polls_global || !cluster.grid.next) return "";
  return "; it may wait for CTA " + machine::triple(*cluster.grid.next) +
         " or a later one, which starts only when a resident cluster ends";
}

std::string reason(Cluster& cluster, const Waiter& w) {
  return (w.split->wait != nullptr ? w.split->wait : &kMeets)->why(cluster, w);
}

// "warp 0 -> warp 4 -> warp 0": each waits on a barrier where the next one arrived before.
std::string cycle(Cluster& cluster, const std::vector<Waiter>& waiters) {
  using Who = std::pair<uint32_t, int>;
  const auto next = [&](const Who& who) -> std::vector<Who> {
    std::vector<Who> out;
    for (const Waiter& w : waiters) {
      if (w.cta->rank != who.first || w.warp->index != who.second || !at_mbarrier(*w.split)) continue;
      const auto& barriers = cluster.cta_of(w.split->mbarrier - 1)->mbarriers.all();
      const auto found = barriers.find(w.split->mbarrier - 1);
      if (found == barriers.end()) continue;
      for (const MbarrierHistory::Arriver& a : found->second.arrivers)
        if (Who{a.rank, a.warp} != who) out.push_back({a.rank, a.warp});
    }
    return out;
  };
  for (const Waiter& start : waiters) {
    const Who first{start.cta->rank, start.warp->index};
    std::vector<std::vector<Who>> paths{{first}};
    std::set<Who> seen{first};
    for (size_t i = 0; i < paths.size(); ++i)
      for (const Who& who : next(paths[i].back())) {
        if (who == first) {
          std::string text = "\n  the cycle: ";
          for (const Who& step : paths[i]) text += warp_name(cluster, step.first, step.second) + " -> ";
          return text + warp_name(cluster, first.first, first.second);
        }
        if (!seen.insert(who).second) continue;
        std::vector<Who> longer = paths[i];
        longer.push_back(who);
        paths.push_back(std::move(longer));
      }
  }
  return "";
}

}  // namespace

std::string others_of_warp(Cluster&, const Waiter& w) {
  return w.cta->op_at(*w.split).kind == isa::OpKind::barrier
             ? " for the other threads of its warp"
             : " for the other threads that its member mask names";
}

static std::string committed_operations(Cluster&, const Waiter&) {
  return " for asynchronous operations that it has committed";
}

std::string polled_memory(Cluster& cluster, const Waiter& w) {
  return (at_mbarrier(*w.split) ? mbarrier_reason(cluster, *w.split) : std::string()) +
         who_could_end(cluster, *w.split);
}

// By which instruction the innermost loop around a split reads what others write: it may be found anywhere in
// it.
static std::string polled_by(const Cluster& cluster, const Waiter& w) {
  const isa::Program& program = cluster.grid.program;
  const int number = w.split->activation == nullptr ? program.entry : w.split->activation->function;
  const isa::Function& f = program.functions[static_cast<size_t>(number)];
  for (uint32_t end = w.split->pc; end < f.code.size(); ++end) {
    const isa::Op& back = f.code[end];
    if ((back.kind != isa::OpKind::branch && back.kind != isa::OpKind::jump) || back.target > w.split->pc)
      continue;
    for (uint32_t pc = back.target; pc <= end; ++pc) {
      const auto line = static_cast<size_t>(f.code[pc].line);
      const auto touches = f.uses.at(line).touches;
      const bool polls = std::any_of(touches.begin(), touches.end(), [](const isa::Touch& t) {
        return t.reads && !t.barrier && t.space != isa::Space::local && t.space != isa::Space::param &&
               t.space != isa::Space::constant;
      });
      if (polls && pc == w.split->pc) return "";
      if (polls)
        return ", around '" + f.lines[line].text + "' of " + line_words(cluster.grid, f.lines[line].ptx);
    }
    return "";
  }
  return "";
}

static std::string spins(Cluster& cluster, const Waiter& w) {
  return ", in a loop that nothing can end any more" + polled_by(cluster, w) + polled_memory(cluster, w);
}

const WaitKind kMeets{others_of_warp};
const WaitKind kSpins{.why = spins, .polls = true};
const WaitKind kForOperations{.why = committed_operations, .looks_again = true};

std::string Cluster::barrier_name(uint64_t address) const {
  const std::string name = shared_name(address);
  return name[0] == '\'' ? "mbarrier " + name : "the mbarrier at " + name;
}

std::string Cluster::shared_name(uint64_t address) const {
  const uint64_t offset = address & ((uint64_t{1} << machine::kRankShift) - 1);
  std::string name;
  for (const isa::SharedVariable& v : grid.program.shared_variables)
    if (offset >= v.offset && (v.size == 0 || offset < v.offset + v.size))
      name =
          "'" + readable(v.name) + "'" + (offset > v.offset ? " + " + std::to_string(offset - v.offset) : "");
  const uint64_t rank = address >> machine::kRankShift;
  const std::string where = "shared address " + std::to_string(offset) +
                            (ctas.size() > 1 ? " of CTA rank " + std::to_string(rank) : "");
  return name.empty() ? where : name + " (" + where + ")";
}

// Where a split waits: those of one place wait for the same.
static std::tuple<const WaitKind*, uint64_t, uint64_t> place_of(const Waiter& w) {
  const uint64_t rank = w.cta->rank;
  if (at_mbarrier(*w.split)) return {nullptr, w.split->mbarrier, 0};
  if (w.split->wait == &kAtCtaBarrier) return {w.split->wait, rank, w.split->barrier};
  return {w.split->wait, rank, static_cast<uint64_t>(w.cta->line(*w.split).ptx)};
}

static std::vector<Waiter> all_waiters(const Cluster& cluster) {
  std::vector<Waiter> out;
  for (const auto& cta : cluster.ctas)
    for (const Warp& w : cta->warps)
      for (const Split& s : w.splits) out.push_back({cta.get(), &w, &s});
  return out;
}

void Cluster::report_deadlock(const std::string& beside) {
  const std::vector<Waiter> waiters = all_waiters(*this);
  std::vector<std::vector<Cause>> found;
  std::optional<Mistake> likeliest;
  for (const Waiter& w : waiters) {
    found.push_back(causes(*this, waiters, w));
    if (!found.back().empty() && (!likeliest || found.back()[0].mistake < *likeliest))
      likeliest = found.back()[0].mistake;
  }
  // Whose wait shows the mistake comes first: the others are only its consequence.
  std::vector<size_t> order(waiters.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto shows = [&](size_t i) {
    return likeliest && !found[i].empty() && found[i][0].mistake == *likeliest;
  };
  std::stable_partition(order.begin(), order.end(), shows);
  // Then one of each place: whoever waits where nobody else does may be the one to blame.
  std::set<std::tuple<const WaitKind*, uint64_t, uint64_t>> places;
  std::vector<size_t> first_there, others;
  for (const size_t i : order)
    (places.insert(place_of(waiters[i])).second ? first_there : others).push_back(i);
  order = std::move(first_there);
  order.insert(order.end(), others.begin(), others.end());
  const size_t most = std::max(kShown, std::min(places.size(), kMostShown));
  std::string text = "deadlock: nothing can run";
  std::vector<Fault::Waiter> all;
  // Warps of a CTA that wait alike are told together.
  struct Told {
    uint32_t rank;
    std::set<int> warps;
    std::string threads, text;
  };
  std::vector<Told> told;
  for (const size_t i : order) {
    const Waiter& w = waiters[i];
    const isa::Line& line = w.cta->line(*w.split);
    const std::string why = reason(*this, w);
    const auto threads = static_cast<uint32_t>(__builtin_popcount(w.split->mask));
    all.push_back({w.cta->place(*w.warp, *w.split, -1), line.text, threads,
                   why.substr(why.find_first_not_of(", ")),
                   w.split->wait == &kSpins && w.split->polls_global ? w.split->polled_at : 0});
    const std::string of = std::to_string(threads) + " of " +
                           std::to_string(__builtin_popcount(w.warp->live())) + " threads, wait";
    std::string one = " at " + line_words(grid, line.ptx) + " '" + line.text + "'" + why;
    if (shows(i))
      for (const Cause& c : found[i])
        one += "\n    " + std::string(&c == found[i].data() ? "" : "or ") + c.text;
    const auto same = std::find_if(told.begin(), told.end(), [&](const Told& t) {
      return t.rank == w.cta->rank && t.threads == of && t.text == one && !t.warps.contains(w.warp->index);
    });
    if (same == told.end())
      told.push_back({w.cta->rank, {w.warp->index}, of, std::move(one)});
    else
      same->warps.insert(w.warp->index);
  }
  for (size_t i = 0; i < std::min(told.size(), most); ++i) {
    const Told& t = told[i];
    const bool one = t.warps.size() == 1;
    text += "\n  " + warp_names(*this, t.rank, t.warps) + (one ? ", " : ", each ") + t.threads +
            (one ? "s" : "") + t.text;
  }
  if (told.size() > most) text += "\n  and " + std::to_string(told.size() - most) + " more";
  text += cycle(*this, waiters);
  for (const auto& agent : agents_) text += "\n  under way: " + agent->describe();
  text += beside;
  const machine::Place first = waiters.empty() ? agents_.front()->place.kept()
                                               : waiters[order[0]].cta->called_place(
                                                     *waiters[order[0]].warp, *waiters[order[0]].split, -1);
  Fault fault(first, text);
  fault.waiters = std::move(all);
  throw fault;
}

}  // namespace bitwell::run
