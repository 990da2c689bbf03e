#include "model/hazard/checker.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/hazard/knowledge/peers.h"
#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

using machine::Synchronisation;
using SyncKind = Synchronisation::Kind;

machine::Observer Checker::observer() {
  machine::Observer out;
  out.tell = [this](const machine::Event& event) { tell(event); };
  out.accesses = true;
  out.lines = warpgroups_.registers()->lines();
  out.steps = false;
  out.pieces = true;
  return out;
}

void Checker::tell(const machine::Event& event) {
  const auto* const a = std::get_if<machine::Access>(&event.what);
  if (a == nullptr || a->operation != 0 || a->mbarrier || a->order.semantics != machine::Semantics::weak)
    conflicts_.forget_rows();
  else if (!held_back_ && a->met == 0 && in_row(*a) &&
           tell({a->kind, a->order, a->cta, a->warp, a->ptx_line, a->addresses[0], a->bytes, a->unchanged}))
    return;
  if (a != nullptr) {
    Cluster& c = clusters_.of(event.first_cta);
    begin_part({&c, a->mbarrier ? 0 : a->operation});
    return told(*a, c);
  }
  if (const auto* turns = std::get_if<machine::ByTurns>(&event.what)) return told(*turns, event.first_cta);
  conflicts_.next_event();
  last_part_ = {};
  if (const auto* s = std::get_if<Synchronisation>(&event.what)) {
    synchronised(*s, clusters_.of(event.first_cta));
  } else if (const auto* r = std::get_if<machine::Reached>(&event.what)) {
    warpgroups_.reached(*r, clusters_.of(event.first_cta));
  }
}

void Checker::begin_part(Part part) {
  if (part.operation != 0 && part == last_part_)
    conflicts_.next_part();
  else
    conflicts_.next_event();
  last_part_ = part;
}

void Checker::told(const machine::ByTurns& turns, const std::array<uint32_t, 3>& first_cta) {
  const size_t count = turns.of.front().addresses.size();
  if (addresses_ && std::any_of(turns.of.begin(), turns.of.end(),
                                [&](const machine::Access& a) { return addresses_->asks_for(a); })) {
    for (size_t i = 0; i < count; ++i) {
      if (i != 0) ledger_.findings.pass(turns.between);
      for (const machine::Access& a : turns.of) tell({first_cta, a.piece(i)});
    }
    return;
  }
  Cluster& c = clusters_.of(first_cta);
  begin_part({&c, turns.of.front().operation});
  if (held_back_) hold_back_no_more(c);
  operations_.by_turns(turns, c);
  conflicts_.drop_sets(clusters_);
}

void Checker::told(const machine::Access& a, Cluster& c) {
  if (a.operation == 0 || a.addresses.size() == 1 || !addresses_ || !addresses_->asks_for(a)) {
    ledger_.findings.next_access();
    return access(a, c);
  }
  for (size_t i = 0; i < a.addresses.size(); ++i) {
    ledger_.findings.next_access();
    access(a.piece(i), c);
  }
}

namespace {

// Whether lanes reach nothing but what is their own, as parameters are.
bool reaches_own_alone(const machine::Access& a) {
  const auto of_all = [](uint64_t address) {
    return machine::is_global(address) || address - machine::kSharedWindow < machine::kWindowSize;
  };
  const uint64_t first = a.addresses[static_cast<size_t>(std::countr_zero(a.lanes))];
  if (of_all(first)) return false;
  uint64_t other = 0;
  for (uint32_t i = 0; i < machine::kLanes; ++i) other |= a.addresses[i] ^ first;
  for (uint32_t lanes = other == 0 ? 0 : a.lanes; lanes != 0; lanes &= lanes - 1)
    if (of_all(a.addresses[static_cast<size_t>(std::countr_zero(lanes))])) return false;
  return true;
}

}  // namespace

void Checker::access(const machine::Access& a, Cluster& c) {
  if (addresses_ && addresses_->access(a, c)) return;
  if (held_back_ && holds_back(a, c)) return;
  if (a.mbarrier)
    mbarriers_.access(a, c);
  else if (a.rows != 0)
    tensor_.access(a, c);
  else if (a.operation != 0)
    operations_.access(a, c);
  else if (a.order.semantics != machine::Semantics::weak || !reaches_own_alone(a))
    lanes_access(a, c);
  conflicts_.drop_sets(clusters_);
  if (held_back_ && a.order.semantics != machine::Semantics::weak) held_back_->changes(a.warp);
}

// Whether no shadow is to be told of the access, at least not now.
bool Checker::holds_back(const machine::Access& a, Cluster& c) {
  if (a.operation != 0 || a.mbarrier || a.rows != 0) {
    hold_back_no_more(c);
    return false;
  }
  // It races with writes that it is behind, too.
  if (a.order.proxy == machine::Proxy::non_coherent) {
    if (held_back_->forgot() && held_back_->written(a)) forgot_too_much_ = true;
    tell_held_back(c);
    held_back_->leave_global();
  }
  const HeldBack::Reached reached = held_back_->reach(a, c);
  if (reached == HeldBack::Reached::kept) {
    if (held_back_->full()) {
      tell_held_back(c);
      held_back_->stop();
    }
    return true;
  }
  if (reached == HeldBack::Reached::shared) tell_held_back(c);
  if (held_back_->untold())
    held_back_->each_page(a, [&](uint64_t page, int shift) {
      Shadow* const shadow = shadow_of(c, ledger_.global, page * ShadowPage::kPageBytes);
      if (shift < ShadowPage::kCoarsest) shadow->refine(page, shift);
    });
  return false;
}

// The shadow comes to hold what it would if nothing had been held back since all threads met last.
void Checker::tell_held_back(Cluster& c) {
  held_back_->tell_all([&](const machine::Access& a, uint32_t time, const OfLanes<Known>& known) {
    Warp& w = clusters_.warp_of(c, a.cta, a.warp);
    const uint32_t time_now = std::exchange(w.time, time);
    const OfLanes<Known> known_now = std::exchange(w.known, known);
    conflicts_.next_event();
    conflicts_.forget_rows();
    lanes_access(a, c);
    conflicts_.drop_sets(clusters_);
    w.time = time_now;
    w.known = known_now;
  });
  conflicts_.next_event();
  conflicts_.forget_rows();
}

// Operations reach the cluster's memory: what lanes did before counts for them in other ways.
void Checker::hold_back_no_more(Cluster& c) {
  forgot_too_much_ = forgot_too_much_ || held_back_->forgot();
  tell_held_back(c);
  spent_ = std::move(held_back_);
}

// Such as all that is done for an Access that is kept: else false, and nothing is done.
bool Checker::hold_back(const machine::Row& row) {
  if (addresses_ && !addresses_->passes(row.ptx_line)) return false;
  if (!held_back_->keep(row, clusters_.with(row.cta))) return false;
  ledger_.findings.pass(1);
  conflicts_.next_event();
  last_part_ = {};
  return true;
}

void Checker::hold_back(const Synchronisation& s, Cluster& c) {
  switch (s.kind) {
    case SyncKind::cta_arrived: held_back_->arrived(s.which, s.amount); break;
    case SyncKind::cta_over: return held_back_->met(s.which, c);
    case SyncKind::cta_passed: return each_that_passes(s, [&](int warp) { held_back_->changes(warp); });
    case SyncKind::fence:
    case SyncKind::warp_met:
    case SyncKind::cluster_arrived:
    case SyncKind::cluster_passed:
    case SyncKind::exited: break;
    case SyncKind::cluster_ended: return;
    default: return hold_back_no_more(c);
  }
  held_back_->changes(s.warp);
}

namespace {

// Lanes of `all` that come with `lane` at the same address, one behind the other.
uint32_t same_address(const machine::Access& a, uint32_t lane) {
  uint32_t out = 1u << lane;
  for (uint32_t i = lane + 1; i < machine::kLanes && (a.lanes >> i & 1) != 0; ++i) {
    if (a.addresses[i] != a.addresses[lane]) break;
    out |= 1u << i;
  }
  return out;
}

// Lanes that store what stands there, as all do that store there with them.
uint32_t unchanged_by_all(const machine::Access& a) {
  uint32_t out = a.unchanged;
  for (uint32_t others = out == 0 ? 0 : a.lanes & ~a.unchanged; others != 0; others &= others - 1) {
    const uint64_t changed = a.addresses[static_cast<size_t>(std::countr_zero(others))];
    for (uint32_t lanes = out; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
      if (a.addresses[lane] < changed + a.bytes && changed < a.addresses[lane] + a.bytes)
        out &= ~(1u << lane);
    }
  }
  return out;
}

// Whether all lanes know the same of others, and have waited for the same operations of their own.
bool alike(const Warp& w) {
  const bool issued = std::any_of(w.streams.begin(), w.streams.end(), [](UnitId unit) { return unit != 0; });
  return w.known.alike() && (!issued || std::all_of(w.ended.begin() + 1, w.ended.end(),
                                                    [&](const Numbers& n) { return n == w.ended[0]; }));
}

// Whether nothing that is asked of a lane and another one, to name a race between the two, is otherwise of
// lanes as far behind them. Weak accesses, that change something.
bool alike_in_any_turn(const Warp& w) {
  const Knowledge* const known = w.known[0].get();
  if (!w.fresh() || known == nullptr) return w.fresh();
  return known->happened.of_whole_units() && known->narrow_release.empty() && known->narrow_acquire.empty() &&
         known->unreleased.empty() && known->sc == nullptr;
}

// Whether lanes that reach bytes side by side may be looked at as a row.
bool may_be_row(const machine::Access& a) {
  const machine::Proxy proxy = a.order.proxy;
  const bool reads = a.kind == machine::AccessKind::read;
  return (reads || a.kind == machine::AccessKind::write) && a.order.semantics == machine::Semantics::weak &&
         a.met == 0 && a.bytes - 1 < ShadowPage::kPageBytes && (a.bytes & (a.bytes - 1)) == 0 &&
         (proxy == machine::Proxy::generic || (reads && proxy == machine::Proxy::non_coherent));
}

}  // namespace

// As most often: a row like the last one by that instruction, if that is all there is to it.
bool Checker::tell(const machine::Row& row) {
  if (held_back_) return hold_back(row);
  LanesWay* const way = known_way(row);
  if (way == nullptr || !way->as_row ||
      !page_row(row.address, row.bytes, row.unchanged, *way->cluster, way->row))
    return false;
  ledger_.findings.next_access();
  conflicts_.next_event();
  last_part_ = {};
  conflicts_.drop_sets(clusters_);
  return true;
}

Checker::LanesWay& Checker::lanes_way(const machine::Access& a, Cluster& c) {
  if (LanesWay* const known = known_way(a); known != nullptr) return *known;
  LanesWay& way = way_place(a);
  Warp& w = clusters_.warp_of(c, a.cta, a.warp);
  way.series = conflicts_.rows_series();
  way.cta = a.cta;
  way.number = a.warp;
  way.site = {a.ptx_line, Actor::thread, a.kind, a.order};
  way.cluster = &c;
  way.warp = &w;
  way.as_row = false;
  way.alike = alike(w);
  const uint32_t record = ledger_.records.record({w.unit, w.time, ledger_.records.site(way.site)});
  way.row = {&w, w.known[0].get(), way.alike, &way.site, record};
  return way;
}

void Checker::lanes_access(const machine::Access& a, Cluster& c) {
  if (a.order.proxy == machine::Proxy::non_coherent) conflicts_.past_cache();
  LanesWay& way = lanes_way(a, c);
  const bool rows = may_be_row(a);
  const uint32_t at_once = rows ? row_access(a, c, way.row) : 0;
  way.as_row = at_once == ~0u && (!addresses_ || addresses_->passes(a));
  if (rows && at_once == a.lanes) return;
  Warp& w = *way.warp;
  const bool is_strong = a.order.semantics != machine::Semantics::weak;
  const bool reads = a.kind == machine::AccessKind::read;
  const Site& site = way.site;
  const uint32_t record = way.row.record;
  if (a.order.semantics == machine::Semantics::volatile_ && a.kind == machine::AccessKind::write)
    w.volatile_stores[a.ptx_line] = {w.time, a.lanes};
  const uint32_t unchanged = unchanged_by_all(a);
  std::array<Viewer, machine::kLanes> viewers;
  // Lanes that have met stand for each other, all of them.
  const bool warp_alike = (a.met == 0 || a.met == ~0u) && way.alike;
  const bool turns = rows && at_once != a.lanes && warp_alike && a.unchanged == 0 && in_row(a) &&
                     a.addresses[0] % a.bytes == 0 && alike_in_any_turn(w);
  for (uint32_t lanes = a.lanes & ~at_once; lanes != 0;) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    // What lanes of one instruction write at one place, the manual leaves to one of them.
    const uint32_t together = is_strong ? 1u << lane : same_address(a, lane);
    lanes &= ~together;
    const uint64_t address = a.addresses[lane];
    Shadow* const shadow = shadow_of(c, ledger_.global, address);
    if (shadow == nullptr) continue;
    const bool shared = shadow != &ledger_.global;
    Reach r{viewers.data(),
            0,
            true,
            &site,
            record,
            reads ? together : 1u << lane,
            shared ? 0ul : 1ul,
            &w.lane(lane).seen.back(),
            &a};
    for (uint32_t rest = a.met != 0 ? a.met : r.lanes; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(rest));
      viewers[r.viewer_count++] = {w.known[i].get(), &w, i, kNow, &w.ended[i]};
      r.alike = r.alike && viewers[0].known == w.known[i].get();
    }
    r.map = address;
    r.warp_alike = warp_alike;
    r.unchanged = (together & ~unchanged) == 0;
    if (launches_.overlaps() && !shared) launches_.behind(r, address, a.bytes);
    if (turns && (shared ? !clusters_.several_ctas() : !launches_.overlaps()))
      lanes &= ~reach_row(a, w, r, viewers[0], *shadow, lanes);
    else
      conflicts_.reach(r, *shadow, address, a.bytes);
    if (shared && clusters_.several_ctas()) peer_access(ledger_, a, c, viewers[0], site, address);
    if (!shared && a.order.proxy == machine::Proxy::tensor_map) w.map = {address, a.ptx_line, lane};
    if (shared && !reads && clusters_.several_ctas()) Mbarriers::wrote_to_peer(c, w, lane, address, record);
    if (is_strong) threads_.strong(a, c, w, lane, address, shared);
  }
  // What it does from now on was not published.
  if (is_strong && !reads) ++w.time;
}

void Checker::synchronised(const Synchronisation& s, Cluster& c) {
  if (held_back_) hold_back(s, c);
  switch (s.kind) {
    case SyncKind::fence:
    case SyncKind::mbarrier_init_fence:
    case SyncKind::warp_met:
    case SyncKind::cta_arrived:
    case SyncKind::cta_passed:
    case SyncKind::cta_over:
    case SyncKind::cluster_arrived:
    case SyncKind::cluster_passed: return threads_.synchronised(s, c);
    case SyncKind::mbarrier_passed: return mbarriers_.passed(s, c);
    case SyncKind::mbarrier_over: return mbarriers_.over(s.which, c);
    case SyncKind::issued: return operations_.issued(s, c);
    case SyncKind::finished:
      c.operations.erase(s.which);
      if (!c.mma_operations.empty()) c.mma_operations.erase(s.which);
      return;
    case SyncKind::copies_committed:
    case SyncKind::copies_waited:
    case SyncKind::bulk_committed:
    case SyncKind::bulk_waited:
    case SyncKind::bulk_read: return Operations::groups(s, clusters_.warp_of(c, s.cta, s.warp));
    case SyncKind::mma_issued:
    case SyncKind::mma_started:
    case SyncKind::mma_committed:
    case SyncKind::mma_waited: return warpgroups_.order(s, c);
    case SyncKind::tensor_loads_used: {
      Warp& w = clusters_.warp_of(c, s.cta, s.warp);
      w.loads_used = w.loads[s.which - 1];
      return;
    }
    case SyncKind::tensor_loads_waited:
    case SyncKind::tensor_stores_waited:
    case SyncKind::tensor_fence_before:
    case SyncKind::tensor_fence_after: return TensorMemory::order(s, clusters_.warp_of(c, s.cta, s.warp), c);
    case SyncKind::grids_waited: return launches_.waited(s, clusters_.warp_of(c, s.cta, s.warp));
    case SyncKind::dependents_let: return launches_.let(s, clusters_.warp_of(c, s.cta, s.warp));
    case SyncKind::columns: return tensor_.columns(s, c);
    case SyncKind::exited:
    case SyncKind::emptied: return;  // the accesses behind these are told of themselves
    case SyncKind::cluster_ended:
      if (const Cost cost = cost_of(c); cost.shadow > ended_.shadow) ended_ = cost;
      for (const auto& [key, warp] : c.warps) {
        ledger_.records.ended(warp->unit);
        for (const UnitId unit : warp->streams) ledger_.records.ended(unit);
      }
      return clusters_.end(c);
  }
}

// A cell of tensor memory has 4 bytes.
Checker::Cost Checker::cost_of(const Cluster& c) {
  return {c.shared.bytes() + c.tensor.bytes(), c.shared.touched() + 4 * c.tensor.touched()};
}

std::unique_ptr<Checker> Checker::of_one_cluster(std::unique_ptr<HeldBack> spare) const {
  auto out = std::make_unique<Checker>(grid_, cluster_, once_);
  if (holds_back_ && !clusters_.several_ctas()) {
    out->held_back_ = spare == nullptr ? std::make_unique<HeldBack>() : std::move(spare);
    out->held_back_->begin(!once_);
  }
  out->ledger_.findings.keep_as(ledger_.findings);
  if (addresses_) out->follow(addresses_->objects());
  out->warpgroups_.follow(warpgroups_.registers());
  return out;
}

bool Checker::passes_over(const std::array<uint32_t, 3>& cta, int warp, int ptx_line) {
  if (addresses_ && addresses_->asks_for_reads(ptx_line)) return false;
  // Its number is by when it first does anything.
  if (!held_back_) clusters_.warp_of(clusters_.with(cta), cta, warp);
  ledger_.findings.pass(1);
  return true;
}

Checker::OfCluster Checker::of_cluster() {
  OfCluster out{ledger_.findings.taken(), ledger_.findings.accesses(), ledger_.records.count(), cost(),
                forgot_too_much_};
  out.spare = std::move(held_back_ ? held_back_ : spent_);
  return out;
}

void Checker::add(OfCluster cluster) {
  if (!added_ || cluster.cost.shadow > added_->shadow) added_ = cluster.cost;
  ledger_.findings.add(std::move(cluster.findings), cluster.accesses);
}

Checker::Cost Checker::cost() const {
  if (added_) return *added_;
  Cost now{ledger_.global.bytes() + ledger_.records.bytes() + ledger_.readers.bytes(),
           ledger_.global.touched()};
  Cost shared = ended_;
  for (const auto& [number, c] : clusters_.running())
    if (const Cost cost = cost_of(c); cost.shadow > shared.shadow) shared = cost;
  now = {now.shadow + shared.shadow, now.touched + shared.touched};
  if (const HeldBack* const held = (held_back_ ? held_back_ : spent_).get(); held != nullptr)
    now = {now.shadow + held->bytes(), std::max(now.touched, held->touched())};
  return now;
}

}  // namespace bitwell::hazard
