#include "model/run/cluster.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/run/parallel/apart.h"
#include "model/run/parallel/parallel.h"
#include "model/run/turns/chooser.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"
#include "model/run/watch/follow.h"

namespace bitwell::run {

using machine::Agent;
using machine::Fault;
using machine::Warp;

namespace {

// One in so many turns of the random schedule puts the one that ran last.
constexpr uint64_t kTurnsBetweenChanges = 24;
// A starving schedule lets everyone run once in so many turns, and after each that ended for its length; the
// lazy one an operation.
constexpr uint64_t kTurnsWithoutTheStarved = 4096;

// Warp instructions between two reports of progress.
constexpr uint64_t kInstructionsAReport = 1 << 22;
// The random schedule preempts after 1 to 2^n accesses, n drawn each time below a limit that is drawn below
// this for each cluster: often enough for one that makes two, and in many runs hardly ever.
constexpr uint64_t kPreemptions = 14;
// One in 2^m of these lets other clusters go on, m below this.
constexpr uint64_t kPreemptionsOfACluster = 4;

// Of the random choices within the cluster that starts there: the first one's is that of the schedule.
uint64_t seed_of(const Grid& g, const std::array<uint32_t, 3>& first) {
  constexpr uint64_t kFar = 0x9E3779B97F4A7C15;
  const std::array<uint32_t, 3>& all = g.shape.grid;
  return g.options.schedule.seed +
         kFar * (first[0] + uint64_t{all[0]} * (first[1] + uint64_t{all[1]} * first[2]));
}

}  // namespace

Cluster::Cluster(Grid& g, std::array<uint32_t, 3> first)
    : grid(g), first_(first), random_(seed_of(g, first)) {
  const auto& observers = g.options.observers;
  watched_ = std::any_of(observers.begin(), observers.end(), [](const auto& o) { return o.steps; });
  accesses_watched_ = g.options.follow != nullptr || std::any_of(observers.begin(), observers.end(),
                                                                 [](const auto& o) { return o.accesses; });
  each_access_watched_ =
      g.options.follow != nullptr ||
      std::any_of(observers.begin(), observers.end(), [](const auto& o) { return o.accesses && !o.pieces; });
  if (observers.size() == 1 && !each_access_watched_)
    taker_of_rows_ = g.parallel != nullptr ? g.parallel->taker_of_rows() : apart_of(observers.front());
  const Policy policy = g.options.schedule.policy;
  yielded_ = g.options.chooser != nullptr;  // behind every effect
  exploring_ = yielded_ || (policy != Policy::lazy && policy != Policy::eager);
  const bool later = g.options.chooser != nullptr && g.options.chooser->by_time() != nullptr &&
                     g.before == nullptr && !g.has_dependents;
  if (!later) make_ctas();
  const uint64_t warps = g.shape.ctas_a_cluster() * warps_of_each();
  for (uint64_t w = 0; w < warps; ++w) warp_priority_.push_back(first_priority());
  if (policy == Policy::random) {
    preemptions_ = 1 + random_() % kPreemptions;
    preemptions_of_all_ = uint64_t{1} << random_() % kPreemptionsOfACluster;
    touches_left_ = until_preemption();
  }
}

void Cluster::make_ctas() {
  const auto& c = grid.shape.cluster;
  for (uint32_t z = 0; z < c[2]; ++z)
    for (uint32_t y = 0; y < c[1]; ++y)
      for (uint32_t x = 0; x < c[0]; ++x)
        ctas.push_back(
            std::make_unique<Cta>(*this, std::array<uint32_t, 3>{first_[0] + x, first_[1] + y, first_[2] + z},
                                  static_cast<uint32_t>(ctas.size())));
}

void Cluster::print(std::string_view text) {
  if (!grid.options.print) return;
  if (first_to_end_)
    grid.options.print(text);
  else
    journal.printed += text;
}

void Cluster::is_first() {
  if (std::exchange(first_to_end_, true) || journal.printed.empty()) return;
  grid.options.print(std::exchange(journal.printed, {}));
}

Cta* Cluster::cta_of(uint64_t shared_address) {
  const uint64_t rank = shared_address >> machine::kRankShift;
  return rank < ctas.size() ? ctas[rank].get() : nullptr;
}

void Cluster::tell(const machine::Event& event) const {
  for (const machine::Observer& observer : grid.options.observers)
    if (observer.steps) observer.tell(event);
}

void Cluster::note_writers() {
  if (writers_ == nullptr) writers_ = std::make_unique<LastWriters>(grid.program);
  accesses_watched_ = each_access_watched_ = true;
  taker_of_rows_ = nullptr;
}

namespace {

// Calls visit(access) for each piece of an operation's access; of lanes for all that they reach.
template <class Visit>
[[gnu::noinline]] void each_piece(const machine::Access& access, Visit visit) {
  if (access.operation == 0) return visit(access);
  for (size_t i = 0; i < access.addresses.size(); ++i) visit(access.piece(i));
}

}  // namespace

void Cluster::tell_access(const machine::Event& event) const {
  const machine::Access& access = *std::get_if<machine::Access>(&event.what);
  if (writers_ != nullptr || grid.options.follow != nullptr) [[unlikely]]
    each_piece(access, [&](const machine::Access& a) {
      if (writers_ != nullptr) writers_->note(a);
      if (grid.options.follow != nullptr) grid.options.follow->told(a, *this);
    });
  for (const machine::Observer& observer : grid.options.observers) {
    if (!observer.accesses) continue;
    if (observer.pieces || access.operation == 0)
      observer.tell(event);
    else
      each_piece(access, [&](const machine::Access& a) { observer.tell({first_, a}); });
  }
}

void Cluster::tell(const machine::ByTurns& accesses) const {
  for (const machine::Observer& observer : grid.options.observers)
    if (observer.accesses) observer.tell({first_, accesses});
}

namespace {

// The same of each warp that passes a barrier.
void tell_each_warp(const machine::Event& event, const machine::Observer& observer) {
  machine::Event one = event;
  auto& s = std::get<machine::Synchronisation>(one.what);
  for (uint32_t rest = std::exchange(s.amount, 0); rest != 0; rest &= rest - 1) {
    s.warp = std::countr_zero(rest);
    observer.tell(one);
  }
}

}  // namespace

void Cluster::tell_synchronisation(const machine::Event& event) const {
  if (grid.options.follow != nullptr) grid.options.follow->over();
  const bool passed =
      std::get_if<machine::Synchronisation>(&event.what)->kind == machine::Synchronisation::Kind::cta_passed;
  for (const machine::Observer& observer : grid.options.observers) {
    if (!observer.accesses) continue;
    if (passed && !observer.pieces)
      tell_each_warp(event, observer);
    else
      observer.tell(event);
  }
}

void Cluster::tell_reached(const machine::Event& event) const {
  const auto& at = std::get<machine::Reached>(event.what);
  for (const machine::Observer& observer : grid.options.observers) {
    // One alone has asked for all that it stops at.
    if (grid.options.observers.size() != 1 &&
        std::count(observer.lines.begin(), observer.lines.end(), at.ptx_line) == 0)
      continue;
    if (observer.accesses) {
      observer.tell(event);
      continue;
    }
    machine::Event whole = event;  // with the operations under way, which who wants accesses knows
    for (const auto& agent : agents_)
      std::get<machine::Reached>(whole.what).under_way.push_back(agent->describe());
    observer.tell(whole);
  }
}

void Cluster::tell(machine::OperationStep::Kind kind, const Agent& a) const {
  if (watched_ && !a.tells_of_each()) tell(kind, a.place, a.issuer, a.id, a.describe());
}

void Cluster::tell(machine::OperationStep::Kind kind, const machine::IssuePlace& place, int warp, uint64_t id,
                   const std::string& state) const {
  if (watched_)
    tell({first_, machine::OperationStep{kind, place.cta, warp, time(), id, place.ptx_line, state}});
}

const Agent* Cluster::filling(uint64_t shared_address, uint64_t length) const {
  for (const auto& agent : agents_)
    if (agent->fills(shared_address, length)) return agent.get();
  return nullptr;
}

bool Cluster::run_warp(Cta& cta, Warp& warp) {
  const uint64_t begin = grid.flight.time();
  const bool progress = cta.run_warp(warp);
  if (watched_ && grid.flight.time() != begin) {
    machine::Turn turn{cta.index, warp.index, begin, grid.flight.time(), 0, {}};
    if (!warp.splits.empty()) {
      turn.ptx_line = cta.line(warp.splits.front()).ptx;
      turn.instruction = cta.line(warp.splits.front()).text;
    }
    tell({first_, std::move(turn)});
  }
  return progress;
}

void Cluster::wake_mbarrier(uint64_t address) {
  wake();
  if (watched_) tell({first_, machine::PhaseOver{cta_of(address)->index, time(), barrier_name(address)}});
  tell_synchronised(Synchronisation::Kind::mbarrier_over, *cta_of(address), 0, address);
  for (const auto& cta : ctas)
    for (Warp& w : cta->warps)
      for (machine::Split& s : w.splits)
        if (s.wait != nullptr && s.wait->gives_up && s.mbarrier == address + 1) s.wait = nullptr;
}

bool Cluster::ended() const {
  return agents_.empty() && std::all_of(ctas.begin(), ctas.end(), [](const auto& cta) {
           return std::all_of(cta->warps.begin(), cta->warps.end(),
                              [](const Warp& w) { return w.splits.empty(); });
         });
}

Cluster::Standing Cluster::run(bool alone) {
  waits_ = false;
  while (!ended()) {
    if (grid.parallel != nullptr && !grid.parallel->goes_on(grid.flight.time())) [[unlikely]]
      return Standing::interrupted;
    woken_ = yielded_ = interrupted_ = false;
    release_spinners();
    if (grid.options.progress && grid.flight.time() - reported_ >= kInstructionsAReport) report_progress();
    if (exploring_ ? run_one() : run_in_order()) {
      if (!alone && only_polled()) {
        polls_ = idle_polls_ = 0;
        gave_way_ = grid.flight.time();
        return Standing::gives_way;
      }
      if (!alone && interrupted_ && !ended()) return Standing::interrupted;
    } else if (waits_for_others() && !alone) {
      waits_ = true;
      waits_since_ = grid.flight.changes();
      return Standing::waits;
    } else if (!let_waits_time_out()) {
      // No other cluster reaches what this one waits for.
      if (!waits_for_others()) report_deadlock("");
      waits_ = true;
      waits_since_ = grid.flight.changes();
      return Standing::waits;
    }
  }
  tell_synchronised(Synchronisation::Kind::cluster_ended, *ctas.front(), 0, 0);
  return Standing::ended;
}

void Cluster::report_progress() {
  reported_ = grid.flight.time();
  grid.options.progress({grid.show(grid.ended), grid.ctas(), grid.flight.time() - grid.last_end});
}

uint64_t Cluster::until_preemption() {
  const uint64_t drawn = random_();  // first, whatever a compiler would evaluate first
  return 1 + drawn % (uint64_t{1} << random_() % preemptions_);
}

void Cluster::preempt() {
  touches_left_ = until_preemption();
  yielded_ = true;
  preempted_ = true;
  interrupted_ = random_() % preemptions_of_all_ == 0;
}

bool Cluster::run_in_order() {
  bool progress = false;
  for (const auto& cta : ctas)
    for (Warp& warp : cta->warps)
      if (!warp.splits.empty()) {
        progress = run_warp(*cta, warp) || progress;
        if (interrupted_) return true;
      }
  // A warp that can still run though nothing woke it has used up its turn: it may be looking at what an
  // operation is to change. So may warps that wake each other for ever.
  const bool turned = !woken_ && std::any_of(ctas.begin(), ctas.end(), [](const auto& cta) {
    return std::any_of(cta->warps.begin(), cta->warps.end(), [](const Warp& w) { return w.can_run(); });
  });
  if ((progress || woken_) && !turned && ++turns_ % kTurnsWithoutTheStarved != 0) return true;
  for (size_t i = 0; i < agents_.size(); ++i)
    if (agents_[i]->ready()) return step(i);
  return progress || woken_;
}

bool Cluster::run_one() {
  // Classes first (the starving schedules), then priority.
  struct Candidate {
    int rank = -1;
    uint64_t priority = 0;
    Cta* cta = nullptr;
    Warp* warp = nullptr;
    size_t number = 0;  // of the warp or agent
  };
  const Policy policy = grid.options.schedule.policy;
  Candidate best;
  // Now and then everyone's turn comes, the one that has waited longest first: others may be spinning for
  // what the starved do.
  const bool fair = policy != Policy::random && (turns_ % kTurnsWithoutTheStarved == 0 || spun_);
  const auto consider = [&](Candidate c) {
    if (fair) c.rank = 0;
    if (c.rank > best.rank || (c.rank == best.rank && c.priority > best.priority)) best = c;
  };
  size_t warps = 0;
  for (const auto& cta : ctas)
    for (Warp& warp : cta->warps) {
      const size_t at = warps++;
      if (!warp.can_run()) continue;
      const bool last = (policy == Policy::starve_producer && warp.producer) ||
                        (policy == Policy::starve_consumer && !warp.producer);
      consider({policy == Policy::random ? 1 : last ? 0 : 2, warp_priority_[at], cta.get(), &warp, at});
    }
  for (size_t i = 0; i < agents_.size(); ++i)
    if (agents_[i]->ready()) {
      const bool last = policy == Policy::starve_stores && agents_[i]->ending == machine::Ending::bulk_group;
      consider({last ? 0 : 1, agent_priority_[i], nullptr, nullptr, i});
    }
  if (best.rank < 0) return false;
  uint64_t& priority = best.warp == nullptr ? agent_priority_[best.number] : warp_priority_[best.number];
  if (policy != Policy::random)
    priority = ~++turns_;  // the one that has not run for longest goes first
  else if (random_() % kTurnsBetweenChanges == 0)
    priority = random_() >> 32;
  if (best.warp == nullptr) {
    spun_ = false;
    return step(best.number);
  }
  yielded_ = false;
  preempted_ = false;
  run_warp(*best.cta, *best.warp);
  if (preempted_) priority = random_() >> 32;
  spun_ = !yielded_ && best.warp->can_run();
  return true;
}

bool Cluster::step(size_t i) {
  change();
  bool done = false;
  const machine::Work before = agents_[i]->work;
  try {
    done = agents_[i]->step();
  } catch (const Fault& fault) {
    if (fault.placed) throw;
    throw fault.at(agents_[i]->place.kept());
  } catch (const machine::Unsupported& what) {
    if (what.placed) throw;
    throw machine::Unsupported(agents_[i]->place.kept(), what.what());
  }
  if (counted_ != nullptr) {
    counted_->work.bytes += agents_[i]->work.bytes - before.bytes;
    counted_->work.products += agents_[i]->work.products - before.products;
    counted_->over = done;
  }
  using Kind = machine::OperationStep::Kind;
  tell(done ? Kind::finished : Kind::moved, *agents_[i]);
  if (done) {
    tell_synchronised(Synchronisation::Kind::finished, *ctas.front(), 0, agents_[i]->id);
    agents_.erase(agents_.begin() + static_cast<std::ptrdiff_t>(i));
    agent_priority_.erase(agent_priority_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

void Cluster::start(std::unique_ptr<Agent> agent, Warp& warp) {
  warp.producer = true;
  agent->issuer = warp.index;
  agent->id = ++operations_;
  tell(machine::OperationStep::Kind::issued, *agent);
  tell_issued(*this, agent->place, warp.index, agent->id, agent->ending, {}, agent->lanes);
  agents_.push_back(std::move(agent));
  agent_priority_.push_back(first_priority());
  settle();
}

void Cluster::settle() {
  if (grid.options.schedule.policy == Policy::eager)
    for (size_t i = 0; i < agents_.size();) {
      const size_t before = agents_.size();
      if (agents_[i]->ready())
        step(i);
      else
        ++i;
      if (agents_.size() < before) i = 0;
    }
  yield();
}

}  // namespace bitwell::run
