#include "model/hazard/shadow/record.h"

#include <algorithm>

#include "model/machine/failure.h"

namespace bitwell::hazard {

namespace {

bool same(const Site& a, const Site& b) {
  return a.ptx_line == b.ptx_line && a.actor == b.actor && a.kind == b.kind && a.tensor == b.tensor &&
         a.order.semantics == b.order.semantics && a.order.scope == b.order.scope &&
         a.order.proxy == b.order.proxy;
}

}  // namespace

uint32_t Records::site(const Site& s) {
  constexpr size_t kKinds = 3;
  const size_t place = kKinds * static_cast<size_t>(s.ptx_line) + static_cast<size_t>(s.kind);
  if (place >= recent_.size()) recent_.resize(place + kKinds);
  if (const uint32_t n = recent_[place]; n < sites_.size() && same(sites_[n], s)) return n;
  const auto [at, fresh] = site_numbers_.try_emplace(
      {s.ptx_line, s.actor, s.kind, s.order.semantics, s.order.scope, s.order.proxy, s.tensor},
      static_cast<uint32_t>(sites_.size()));
  if (fresh) sites_.push_back(s);
  return recent_[place] = at->second;
}

uint32_t Records::tensor_order(const machine::TensorOrder& order) {
  const auto at = std::find(tensor_orders_.begin() + 1, tensor_orders_.end(), order);
  const auto number = static_cast<uint32_t>(at - tensor_orders_.begin());
  if (at == tensor_orders_.end()) tensor_orders_.push_back(order);
  return number;
}

uint32_t Records::add(const Record& record) {
  if (count_ == kMost)
    throw machine::Unsupported("the race check can tell " + std::to_string(kMost) +
                               " accesses apart, this launch has more: a smaller one shows the same races");
  if (count_ % kChunk == 0) chunks_.push_back(std::make_unique<Record[]>(kChunk));
  at(count_) = record;
  return count_++;
}

uint32_t Records::record(const Record& record) {
  if (record.unit >= last_.size()) {
    found_bytes_ += (record.unit + 1 - last_.size()) * sizeof(OfUnit);
    last_.resize(record.unit + 1);
  }
  OfUnit& unit = last_[record.unit];
  const auto count = static_cast<uint32_t>(unit.all.size());
  for (uint32_t n = 0, i = unit.next; n < count; ++n, ++i) {
    Last& last = unit.all[i >= count ? i -= count : i];
    if (last.site != record.site) continue;
    unit.next = i + 1;
    if (last.time != record.time) last = {record.site, record.time, add(record)};
    return last.record;
  }
  const size_t before = unit.all.capacity();
  unit.all.push_back({record.site, record.time, add(record)});
  found_bytes_ += (unit.all.capacity() - before) * sizeof(Last);
  unit.next = 0;
  return unit.all.back().record;
}

void Records::ended(UnitId unit) {
  if (unit >= last_.size()) return;
  found_bytes_ -= last_[unit].all.capacity() * sizeof(Last);
  last_[unit] = {};
}

uint32_t Records::unfinished(uint32_t site) { return add({kUnfinished, 0, site}); }

}  // namespace bitwell::hazard
