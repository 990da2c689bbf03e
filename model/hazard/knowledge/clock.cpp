#include "model/hazard/knowledge/clock.h"

#include <algorithm>
#include <bit>

namespace bitwell::hazard {

size_t Clock::searched(UnitId unit) const {
  return static_cast<size_t>(std::lower_bound(entries_.begin(), entries_.end(), unit,
                                              [](const Entry& e, UnitId u) { return e.unit < u; }) -
                             entries_.begin());
}

std::pair<uint32_t, uint32_t> Clock::range(UnitId unit) const {
  const Entry* e = find(unit);
  if (e == nullptr) return {0, 0};
  return {e->least, e->lanes == nullptr ? e->most : *std::max_element(e->lanes->begin(), e->lanes->end())};
}

Clock::Entry Clock::of(UnitId unit, const Row& row) {
  const auto [least, most] = std::minmax_element(row.begin(), row.end());
  const auto more = row.end() - row.begin() - std::count(row.begin(), row.end(), *least);
  Entry out{unit, *least};
  if (more == 1) {
    out.ahead = static_cast<uint32_t>(most - row.begin());
    out.most = *most;
  } else if (more != 0) {
    out.lanes = counted<const Row>(row);
  }
  return out;
}

bool Clock::covers(const Entry& a, const Entry& b) {
  if (b.lanes == nullptr) return a.least >= b.least && a.at(b.ahead) >= b.most;
  if (a.lanes == b.lanes) return true;
  uint32_t less = 0;
  for (uint32_t i = 0; i < machine::kLanes; ++i) less |= static_cast<uint32_t>(a.at(i) < (*b.lanes)[i]);
  return less == 0;
}

bool Clock::covers_all(const Clock& other) const {
  if (other.entries_.size() > entries_.size()) return false;
  auto a = entries_.begin();
  for (const Entry& b : other.entries_) {
    while (a != entries_.end() && a->unit < b.unit) ++a;
    if (a == entries_.end() || a->unit != b.unit || !covers(*a, b)) return false;
  }
  return true;
}

Clock::Entry Clock::merged(const Entry& a, const Entry& b) {
  if (covers(a, b)) return a;
  if (covers(b, a)) return b;
  Row row;
  for (uint32_t i = 0; i < machine::kLanes; ++i) row[i] = std::max(a.at(i), b.at(i));
  return of(a.unit, row);
}

void Clock::join_all(const Clock& other) {
  if (entries_.empty()) {
    entries_ = other.entries_;
    return;
  }
  const auto less = [](const Entry& x, const Entry& y) { return x.unit < y.unit; };
  if (std::includes(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(), less)) {
    auto here = entries_.begin();  // nearly always: every unit has its place
    for (const Entry& entry : other.entries_) {
      while (here->unit < entry.unit) ++here;
      if (!covers(*here, entry)) *here = merged(*here, entry);
    }
    return;
  }
  std::vector<Entry> all;
  all.reserve(entries_.size() + other.entries_.size());
  auto a = entries_.begin();
  auto b = other.entries_.begin();
  while (a != entries_.end() && b != other.entries_.end()) {
    if (a->unit < b->unit)
      all.push_back(std::move(*a++));
    else if (b->unit < a->unit)
      all.push_back(*b++);
    else
      all.push_back(merged(*a++, *b++));
  }
  all.insert(all.end(), std::make_move_iterator(a), std::make_move_iterator(entries_.end()));
  all.insert(all.end(), b, other.entries_.end());
  entries_ = std::move(all);
}

void Clock::raise(UnitId unit, uint32_t lanes, uint32_t time) {
  const auto at = entries_.begin() + static_cast<std::ptrdiff_t>(place_of(unit));
  const bool there = at != entries_.end() && at->unit == unit;
  if (lanes == ~0u && there && at->lanes == nullptr) {  // as most often
    at->least = std::max(at->least, time);
    at->most = std::max(at->most, time);
    return;
  }
  if (lanes == ~0u && !there) {  // as at a CTA's first barrier
    entries_.insert(at, {unit, time});
    return;
  }
  const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
  if (std::has_single_bit(lanes)) {
    if (!there) {
      entries_.insert(at, {unit, 0, lane, time});
      return;
    }
    if (at->at(lane) >= time) return;
    if (at->is_whole() || (at->lanes == nullptr && at->ahead == lane)) {
      at->ahead = lane;
      at->most = time;
      return;
    }
  }
  Row row;
  for (uint32_t i = 0; i < machine::kLanes; ++i)
    row[i] = std::max(there ? at->at(i) : 0, (lanes >> i & 1) != 0 ? time : 0);
  if (there)
    *at = of(unit, row);
  else
    entries_.insert(at, of(unit, row));
}

void Clock::raise_common(const Clock& a, const Clock& b, UnitId unit) {
  if (a.most(unit) == 0 || b.most(unit) == 0) return;
  for (uint32_t i = 0; i < machine::kLanes; ++i)
    if (const uint32_t time = std::min(a.at(unit, i), b.at(unit, i)); time != 0) raise(unit, 1u << i, time);
}

size_t Clock::bytes() const {
  size_t out = entries_.capacity() * sizeof(Entry);
  for (const Entry& e : entries_) out += e.lanes == nullptr ? 0 : sizeof(Row);
  return out;
}

}  // namespace bitwell::hazard
