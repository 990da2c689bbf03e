#include "model/hazard/checker.h"

#include <algorithm>

#include "model/machine/memory.h"

namespace bitwell::hazard {

machine::Observer Checker::observer() {
  machine::Observer out;
  out.tell = [this](const machine::Event& event) {
    behind_record_ = 0;
    behind_readers_ = kNoAct;
    if (const auto* a = std::get_if<machine::Access>(&event.what)) {
      ++accesses_;
      access(*a, cluster_of(event.first_cta));
    } else if (const auto* s = std::get_if<machine::Synchronisation>(&event.what)) {
      synchronised(*s, cluster_of(event.first_cta));
    } else if (const auto* r = std::get_if<machine::Reached>(&event.what)) {
      registers_reached(*r, cluster_of(event.first_cta));
    }
  };
  out.accesses = true;
  out.lines = mma_registers_.lines();
  out.steps = false;
  return out;
}

Checker::Cluster& Checker::cluster_of(const std::array<uint32_t, 3>& first) {
  const uint32_t number = first[0] + grid_[0] * (first[1] + grid_[1] * first[2]);
  if (last_cluster_ != nullptr && last_cluster_->number == number) return *last_cluster_;
  last_cluster_ = &clusters_[number];
  last_cluster_->number = number;
  return *last_cluster_;
}

uint32_t Checker::rank_of(const std::array<uint32_t, 3>& cta) const {
  const auto& s = cluster_size_;
  return cta[0] % s[0] + s[0] * (cta[1] % s[1] + s[1] * (cta[2] % s[2]));
}

UnitId Checker::new_unit(const Warp& w) {
  units_.push_back({w.cta, w.domain, w.number});
  return static_cast<UnitId>(units_.size() - 1);
}

UnitId Checker::stream(Warp& w, Stream s) {
  UnitId& unit = w.streams[static_cast<size_t>(s)];
  if (unit == 0) unit = new_unit(w);
  return unit;
}

Warp& Checker::warp_of(Cluster& c, const std::array<uint32_t, 3>& cta, int number) {
  const std::pair key{rank_of(cta), number};
  if (c.last_key == key) return *c.last_warp;
  std::unique_ptr<Warp>& at = c.warps[key];
  if (at == nullptr) {
    at = std::make_unique<Warp>();
    at->cta = cta;
    at->rank = key.first;
    at->number = number;
    at->domain = {cta[0] + grid_[0] * (cta[1] + grid_[1] * cta[2]), c.number};
    at->unit = new_unit(*at);
  }
  c.last_key = key;
  c.last_warp = at.get();
  return *at;
}

void Checker::add_operations(Knowledge& to, const Warp& w, uint32_t lane, const Numbers& ended) {
  for (size_t s = 0; s < kStreams; ++s) {
    if (w.streams[s] == 0) continue;
    const bool all = of_warp(static_cast<Stream>(s));
    if (ended[s] != 0) to.happened.raise(w.streams[s], all ? ~0u : 1u << lane, ended[s]);
    if (const uint32_t latest = w.lanes[lane].latest[s]; all && latest > ended[s])
      to.unwaited.raise(w.streams[s], ~0u, latest);
    if (static_cast<Stream>(s) == Stream::tensor_load && w.loads_used > ended[s])
      to.used.raise(w.streams[s], ~0u, w.loads_used);
  }
}

Known Checker::published(const Warp& w, uint32_t lane, const Known& known, uint32_t time,
                         const Numbers& ended) {
  auto out = known == nullptr ? std::make_shared<Knowledge>() : std::make_shared<Knowledge>(*known);
  out->happened.raise(w.unit, 1u << lane, time);
  add_operations(*out, w, lane, ended);
  add_sc_order(*out, w, 1u << lane);
  return out;
}

Known Checker::published(const Warp& w, uint32_t lanes) const {
  auto out = std::make_shared<Knowledge>();
  const Knowledge* last = nullptr;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(rest));
    const Lane& lane = w.lanes[i];
    if (lane.known != nullptr && lane.known.get() != last) join(*out, *lane.known);
    last = lane.known.get();
    add_operations(*out, w, i, lane.ended);
  }
  out->happened.raise(w.unit, lanes, w.time);
  add_sc_order(*out, w, lanes);
  return out;
}

Shadow* Checker::shadow_of(Cluster& c, uint64_t address) {
  if (address - machine::kSharedWindow < machine::kWindowSize) return &c.shared;
  return address >= machine::kModuleGlobals ? &global_ : nullptr;
}

void Checker::access(const machine::Access& a, Cluster& c) {
  if (objects_) {
    if (heap_call(a, c)) return;
    inside_its_object(a);
    follow_handed_over(a, c);
  }
  if (a.mbarrier)
    mbarrier_access(a, c);
  else if (a.rows != 0)
    tensor_access(a, c);
  else if (a.operation != 0)
    operation_access(a, c);
  else
    lanes_access(a, c);
  if (readers_.list_bytes() > most_sets_) drop_sets();
}

void Checker::drop_sets() {
  readers_.keep([&](auto visit) {
    const auto again = [&](Readers readers) { return visit(readers); };
    global_.replace_sets(again);
    for (auto& [number, c] : clusters_) {
      c.shared.replace_sets(again);
      c.tensor.replace_sets(again);
    }
  });
  behind_readers_ = kNoAct;
  last_set_ = {};
  most_sets_ = std::max({kLeastSets, 2 * readers_.list_bytes(), global_.touched() / 4});
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

}  // namespace

void Checker::lanes_access(const machine::Access& a, Cluster& c) {
  Warp& w = warp_of(c, a.cta, a.warp);
  const bool is_strong = a.order.semantics != machine::Semantics::weak;
  const bool reads = a.kind == machine::AccessKind::read;
  const Site site{a.ptx_line, Actor::thread, a.kind, a.order};
  const uint32_t record = records_.record({w.unit, w.time, records_.site(site)});
  non_coherent_ = non_coherent_ || a.order.proxy == machine::Proxy::non_coherent;
  if (a.order.semantics == machine::Semantics::volatile_ && a.kind == machine::AccessKind::write)
    w.volatile_stores[a.ptx_line] = {w.time, a.lanes};
  std::array<Viewer, machine::kLanes> viewers;
  for (uint32_t lanes = a.lanes; lanes != 0;) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    // What lanes of one instruction write at one place, the manual leaves to one of them.
    const uint32_t together = is_strong ? 1u << lane : same_address(a, lane);
    lanes &= ~together;
    const uint64_t address = a.addresses[lane];
    Shadow* const shadow = shadow_of(c, address);
    if (shadow == nullptr) continue;
    const bool shared = shadow != &global_;
    Reach r{viewers.data(),      0, true, &site, record, reads ? together : 1u << lane, shared ? 0ul : 1ul,
            &w.lanes[lane].seen, &a};
    for (uint32_t rest = a.met != 0 ? a.met : r.lanes; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(rest));
      viewers[r.viewer_count++] = {w.lanes[i].known.get(), &w, i, kNow, &w.lanes[i].ended};
      r.alike = r.alike && viewers[0].known == w.lanes[i].known.get();
    }
    r.map = address;
    if (before_ != nullptr && !shared) behind_launches_before(r, address, a.bytes);
    shadow->each(address, a.bytes, [&](Cell& cell, uint64_t at, uint64_t size) { reach(r, cell, at, size); });
    if (shared && clustered_) peer_access(a, c, viewers[0], site, address);
    if (!shared && a.order.proxy == machine::Proxy::tensor_map) w.map = {address, a.ptx_line, lane};
    if (shared && !reads && clustered_) remote_write(c, w, lane, address, record);
    if (is_strong) strong(a, c, w, lane, address, shared);
  }
  // What it does from now on was not published.
  if (is_strong && !reads) ++w.time;
}

// An atomic or strong access orders what comes after it behind what came before the store that it reads.
void Checker::strong(const machine::Access& a, Cluster& c, Warp& w, uint32_t lane, uint64_t address,
                     bool shared) {
  using machine::AccessKind;
  using machine::Semantics;
  const Semantics s = a.order.semantics;
  const bool both = s == Semantics::acq_rel || s == Semantics::sc;
  Lane& me = w.lanes[lane];
  Message& word = (shared ? c.words : words_)[address];
  if (a.kind != AccessKind::write) {
    Known& to = both || s == Semantics::acquire ? me.known : me.seen;
    to = joined(to, word.acquire(a.order.scope, w.domain));
    if (word.fenced() != nullptr) sc_of(w, lane).seen.join(*word.fenced());
  }
  if (a.kind == AccessKind::read) return;
  if (a.kind == AccessKind::write) word = {};  // an update goes on with the release that it reads
  if (me.sc != nullptr || (me.known != nullptr && me.known->sc != nullptr)) {
    KnownAtFences before =
        me.known == nullptr || me.known->sc == nullptr ? KnownAtFences{} : me.known->sc->before;
    add_own_fences(before, w, 1u << lane);
    word.write_behind(before);
  }
  if (both || s == Semantics::release)
    return word.publish(published(w, lane, me.known, w.time, me.ended), a.order.scope, w.domain);
  for (size_t i = 0; i <= std::min<size_t>(static_cast<size_t>(a.order.scope), 2); ++i)
    if (const Lane::Offer& offer = me.offers[i]; offer.time != 0)
      word.publish(published(w, lane, offer.known, offer.time, me.ended), static_cast<machine::Scope>(i),
                   w.domain);
  if (a.kind == AccessKind::write) word.publish_unreleased(published(w, lane, me.known, w.time, me.ended));
}

void Checker::operation_access(const machine::Access& a, Cluster& c) {
  const auto mma = c.mma_operations.find(a.operation);
  if (c.starting != nullptr && mma == c.mma_operations.end()) c.mma_operations[a.operation] = c.starting;
  Warpgroup* const group = mma != c.mma_operations.end() ? mma->second : c.starting;
  c.starting = nullptr;
  const uint64_t address = a.addresses[0];
  Shadow* const shadow = shadow_of(c, address);
  if (shadow == nullptr) return;
  const bool shared = shadow != &global_;
  const bool reads = a.kind == machine::AccessKind::read;
  Site site{a.ptx_line, Actor::wgmma, a.kind, a.order};
  if (a.kind == machine::AccessKind::update)  // a reduction, which is relaxed (PTX ISA 9.0, 9.7.9.25.4)
    site.order.semantics = machine::Semantics::relaxed, site.order.scope = machine::Scope::gpu;
  std::array<Viewer, machine::kLanes> viewers;
  Reach r{viewers.data(), 1, false, &site, 0, 1, shared ? 0ul : 1ul, nullptr, nullptr};
  if (group != nullptr) {
    r.viewer_count = std::min<size_t>(group->running.size(), 4);
    for (size_t i = 0; i < r.viewer_count; ++i) {
      const Warpgroup::Issue& issue = group->running[i];
      viewers[i] = {issue.known.get(), issue.warp, 0, issue.until, &issue.ended};
    }
    r.record = records_.record({group->unit, static_cast<uint32_t>(group->started) + 1, records_.site(site)});
    r.lanes = ~0u;
  } else {
    const auto found = c.operations.find(a.operation);
    if (found == c.operations.end()) return;
    Operation& op = found->second;
    r.lanes = a.issuer >= 0 ? 1u << a.issuer : op.lanes;
    r.viewer_count = 0;
    for (uint32_t rest = r.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
      viewers[r.viewer_count++] = {op.known[lane].get(), op.by, lane, op.until, &op.ended[lane]};
    }
    if (!reads) r.lanes = std::bit_floor(r.lanes);  // the last of them: what it did, the others have done
    r.record = record_of_operation(op, site, address, reads, shared, r.lanes);
    if (shared && clustered_) peer_access(a, c, viewers[0], site, address);
  }
  if (before_ != nullptr && !shared) behind_launches_before(r, address, a.bytes);
  shadow->each(address, a.bytes, [&](Cell& cell, uint64_t at, uint64_t size) { reach(r, cell, at, size); });
}

uint32_t Checker::record_of_operation(Operation& op, Site& site, uint64_t address, bool reads, bool shared,
                                      uint32_t& lanes) {
  Stream s{};
  switch (op.ending) {
    case machine::Ending::copy_group:
      site.actor = Actor::copy;
      s = Stream::copy;
      break;
    case machine::Ending::bulk_group:
      site.actor = Actor::bulk_copy;
      s = reads ? Stream::bulk_read : Stream::bulk_write;
      break;
    case machine::Ending::commit:
      site.actor = Actor::tcgen05;
      s = Stream::tcgen05;
      break;
    default: {
      site.actor = Actor::mbarrier_copy;
      lanes = 1;
      const uint32_t number = records_.site(site);
      const auto rank = static_cast<uint32_t>(
          shared && !reads ? (address - machine::kSharedWindow) >> machine::kRankShift : kAnyRank);
      for (const Operation::Part& p : op.unfinished)
        if (p.site == number && p.rank == rank) return p.record;
      op.unfinished.push_back({records_.unfinished(number), number, rank});
      return op.unfinished.back().record;
    }
  }
  return records_.record({stream(*op.by, s), op.number, records_.site(site)});
}

// A cell of tensor memory has 4 bytes.
Checker::Cost Checker::cost_of(const Cluster& c) {
  return {c.shared.bytes() + c.tensor.bytes(), c.shared.touched() + 4 * c.tensor.touched()};
}

Checker::Cost Checker::cost() const {
  Cost now{global_.bytes() + records_.bytes() + readers_.bytes(), global_.touched()};
  Cost shared = ended_;
  for (const auto& [number, c] : clusters_)
    if (const Cost cost = cost_of(c); cost.shadow > shared.shadow) shared = cost;
  return {now.shadow + shared.shadow, now.touched + shared.touched};
}

}  // namespace bitwell::hazard
