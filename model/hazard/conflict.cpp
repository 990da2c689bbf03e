#include "model/hazard/conflict.h"

#include <algorithm>
#include <bit>

#include "model/hazard/knowledge/published.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Proxy;
using machine::Semantics;

namespace {

bool is_strong(const Site& s) { return strength(s) != 0; }
bool reaches(const Site& s, machine::Scope needed) {
  return std::min(s.order.scope, machine::Scope::gpu) >= needed;
}
Side side_of(bool earlier, bool later) {
  return earlier == later ? Side::either : earlier ? Side::earlier : Side::later;
}

}  // namespace

void Conflicts::reach(const Reach& r, Cell& cell, uint64_t address, uint64_t size) {
  ledger_.findings.mark();
  by_address_ = alike_in_any_turn_ = false;
  // A copy that replaces what an MMA has read is behind the copy before by being behind the MMA; one that
  // replaces what threads have read is behind the store that they read, which stands in shared memory then,
  // fence or not.
  const bool by_readers = cell.reads != kNoAct && r.site->kind != AccessKind::read &&
                          (r.space == kTensorSpace || (r.space == 0 && r.site->order.proxy == Proxy::async));
  const bool past_cache = r.site->order.proxy == Proxy::non_coherent;
  Said said = Said::nothing;
  if (cell.write != kNoAct && !by_readers && (past_cache || !behind(r, cell.write))) [[unlikely]]
    said = conflict(r, cell.write, address, size);
  if (cell.writes_before != kNoAct && said == Said::nothing) [[unlikely]]
    said = behind_all(r, cell.writes_before, address, size);
  if (r.site->kind == AccessKind::read) {
    cell.reads = read_too(r, cell.reads);
    return;
  }
  if (cell.reads != kNoAct) behind_all(r, cell.reads, address, size);
  alike_in_any_turn_ =
      alike_in_any_turn_ && by_readers && cell.writes_before == kNoAct && !is_strong(*r.site);
  if (once_ && !r.frees && r.space == 1 && r.site->kind == AccessKind::write && cell.write != kNoAct)
      [[unlikely]]
    written_again(r, cell.write, address, size);
  remember_write(r, cell, said == Said::equal);
}

bool Conflicts::made_as(size_t i, const Reach& r, ShadowPage& page, uint64_t first, uint64_t end) {
  const Came& came = came_[i];
  if (came.record != r.record || came.lanes != r.lanes || came.space != r.space ||
      !came.change.fits(page, first, end))
    return false;
  const size_t* which = came.which.data();
  for (const auto& [count, times] : came.found) {
    ledger_.findings.repeat({which, count}, times);
    which += count;
  }
  came.change.make(page, first);
  came_[came_last_].next = i;
  came_last_ = i;
  came_missed_ = 0;
  return true;
}

bool Conflicts::made_as_before(const Reach& r, ShadowPage& page, uint64_t first, uint64_t end) {
  const size_t count = std::min(came_count_, kMostCame);
  if (count == 0) return false;
  const size_t next = came_[came_last_].next;
  if (made_as(next, r, page, first, end)) return true;
  for (size_t i = 0; i < count; ++i)
    if (i != next && made_as(i, r, page, first, end)) return true;
  return false;
}

// Calls found(times) behind each cell, and where so many came to the same.
template <class Found>
void Conflicts::reach_cells(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end,
                            const Pieces& pieces, Found found) {
  const uint64_t cells = pieces.bytes >> page.shift();
  uint64_t passed = 1;  // pieces
  const auto pass = [&](uint64_t to) {
    for (; passed < to; ++passed) ledger_.findings.pass(pieces.apart);
  };
  page.each(
      first, end,
      [&](Cell& cell, uint64_t i) {
        if (pieces.count != 1) pass((i - first) / cells + 1);
        reach(r, cell, begin + (i << page.shift()), uint64_t{1} << page.shift());
        found(1);
      },
      [&](uint64_t times) {
        const bool told = again(times);
        if (told) found(times);
        return told;
      },
      [&] { return alike_in_any_turn_; });
  pass(pieces.count);
}

void Conflicts::reach_page(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end,
                           const Pieces& pieces) {
  came_.resize(kMostCame);
  const size_t place = came_count_ % kMostCame;
  Came& came = came_[place];
  came.record = 0;
  came.which.clear();
  came.found.clear();
  came.change.begin(page, first, end);
  bool counted = true;
  reach_cells(r, page, begin, first, end, pieces, [&](uint64_t times) {
    const FindingList::Marked& marked = ledger_.findings.marked();
    counted = counted && marked.counted;
    if (marked.which.empty()) return;
    came.which.insert(came.which.end(), marked.which.begin(), marked.which.end());
    came.found.push_back({marked.which.size(), times});
  });
  ++came_missed_;
  if (!came.change.end(page) || !counted) return;
  came.record = r.record;
  came.lanes = r.lanes;
  came.space = r.space;
  ++came_count_;
  came_[came_last_].next = place;
  came_last_ = came.next = place;
}

void Conflicts::reach_page_alone(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first,
                                 uint64_t end, const Pieces& pieces) {
  reach_cells(r, page, begin, first, end, pieces, [](uint64_t) {});
}

// What the cell had still counts where this write does not stand for it; `beside`: as it is not behind a
// write of equal bytes.
void Conflicts::remember_write(const Reach& r, Cell& cell, bool beside) {
  if (beside) {
    const Reader before{record_of(cell.write), 1u << lane_of(cell.write)};
    cell.writes_before =
        cell.writes_before == kNoAct ? cell.write : ledger_.readers.with(cell.writes_before, before);
  } else if (is_strong(*r.site)) {
    cell.reads = not_stood_for(*r.site, cell.reads);
    // One as strong as the last write, as nearly always, has the same before it.
    if (cell.write != kNoAct &&
        strength(ledger_.records.site_of(ledger_.records[record_of(cell.write)])) != strength(*r.site)) {
      cell.writes_before = not_stood_for(*r.site, cell.writes_before);
      if (not_stood_for(*r.site, cell.write) != kNoAct)
        cell.writes_before = cell.writes_before == kNoAct
                                 ? cell.write
                                 : ledger_.readers.with(cell.writes_before,
                                                        {record_of(cell.write), 1u << lane_of(cell.write)});
    }
  } else {
    cell.writes_before = kNoAct;
    if (cell.reads != kNoAct) cell.reads = own_since(r, cell.reads);
  }
  cell.write = act(r.record, static_cast<uint32_t>(std::countr_zero(r.lanes)));
}

// Of those who have read the cell, the threads of the writer's warp since it was last behind others or others
// behind it: another who stores equal bytes may be behind neither.
Readers Conflicts::own_since(const Reach& r, Readers reads) {
  if (r.instruction == nullptr) return kNoAct;
  const Record& mine = ledger_.records[r.record];
  const auto own = [&](uint32_t number) {
    const Record& record = ledger_.records[number];
    return record.unit == mine.unit && record.time == mine.time &&
           ledger_.records.site_of(record).order.proxy == Proxy::generic;
  };
  if ((reads & kMany) == 0) return own(record_of(reads)) ? reads : kNoAct;
  if (unturned(reads) != last_own_.from || r.record != last_own_.record)
    last_own_ = {unturned(reads), r.record, ledger_.readers.only(unturned(reads), [&](const Reader& other) {
                   return own(other.record);
                 })};
  return last_own_.to == kNoAct ? kNoAct : turned(last_own_.to, turn_of(reads));
}

// Of those, whom that write does not stand for.
Readers Conflicts::not_stood_for(const Site& write, Readers before) {
  const auto counts = [&](uint32_t record) {
    return !stands_for(write, ledger_.records.site_of(ledger_.records[record]));
  };
  if (before == kNoAct) return kNoAct;
  if ((before & kMany) == 0) return counts(record_of(before)) ? before : kNoAct;  // nearly always
  return ledger_.readers.only(before, [&](const Reader& r) { return counts(r.record); });
}

// The readers and this one. Those that it is behind need not be kept: who is not behind them is not behind
// it.
Readers Conflicts::read_too(const Reach& r, Readers before) {
  const auto covers = [&](const Reader& old) {
    if (!stands_for(*r.site, ledger_.records.site_of(ledger_.records[old.record]))) return false;
    for (uint32_t lanes = old.lanes; lanes != 0; lanes &= lanes - 1) {
      if (!behind(r, act(old.record, static_cast<uint32_t>(std::countr_zero(lanes))))) return false;
      if (all_passed(r, old.record)) return true;
    }
    return true;
  };
  if (std::has_single_bit(r.lanes)) {
    // The usual ones: nobody has read it, or this lane.
    const Act mine = act(r.record, static_cast<uint32_t>(std::countr_zero(r.lanes)));
    if (before == kNoAct || before == mine) return mine;
    if ((before & kMany) == 0 && r.site->actor == Actor::thread &&
        covers({record_of(before), 1u << lane_of(before)}))
      return mine;
  }
  return ledger_.readers.with(
      before, {r.record, r.lanes},
      [&](const Reader& old) { return covers(old) && (!r.warp_alike || in_any_turn(r, old)); }, r.warp_alike);
}

// Whether those, whom this one is behind, would be so too if all lanes were others by as many: the set that
// this makes is taken for theirs. All of its warp know the same, but that may be of some of those lanes
// alone: of who has released by himself, or has met some of his warp.
bool Conflicts::in_any_turn(const Reach& r, const Reader& old) const {
  const Record& record = ledger_.records[old.record];
  if (record.unit == kUnfinished) return true;
  const Proxy proxy = r.site->order.proxy;
  if (proxy != Proxy::generic && proxy != Proxy::non_coherent) return false;
  const Viewer& v = r.viewers[0];
  if (record.unit == v.warp->unit && r.viewer_count == 1 && old.lanes == 1u << v.lane) return true;
  if (v.known == nullptr) return true;
  const auto [least, most] = v.known->happened.range(record.unit);
  return least >= record.time || most < record.time;
}

// A write meets those who have read the cell since the last one; any access, those that wrote it before.
Conflicts::Said Conflicts::behind_all(const Reach& r, Readers those, uint64_t address, uint64_t size) {
  const Knowledge* const known = r.alike ? r.viewers[0].known : nullptr;
  const bool by_operation = r.space != kTensorSpace && r.instruction == nullptr && r.viewer_count == 1 &&
                            r.site->order.proxy == Proxy::async && !non_coherent_;
  for (size_t i = 0; by_operation && i < std::min(unfenced_count_, unfenced_.size()); ++i) {
    const Unfenced& old = unfenced_[i];
    if (old.readers != unturned(those) || old.record != r.record || old.lanes != r.lanes) continue;
    ledger_.findings.add_again(old.found);
    alike_in_any_turn_ = true;
    return old.said;
  }
  if ((those & kMany) == 0 && !non_coherent_ && !by_operation)
    return behind(r, those) ? Said::nothing : conflict(r, those, address, size);
  if (known != nullptr && unturned(those) == behind_readers_ && known == behind_readers_known_)
    return Said::nothing;
  bool by_known = known != nullptr;  // all that is behind is so for whoever knows that much
  bool in_any_turn = by_operation;   // and what is not would be found of other lanes too
  const size_t marked = ledger_.findings.marked().which.size();
  Said said = Said::nothing;
  ledger_.readers.each(those, [&](const Reader& reader) {
    const bool came_past_cache =
        non_coherent_ &&
        ledger_.records.site_of(ledger_.records[reader.record]).order.proxy == Proxy::non_coherent;
    for (uint32_t lanes = reader.lanes; lanes != 0; lanes &= lanes - 1) {
      const Act before = act(reader.record, static_cast<uint32_t>(std::countr_zero(lanes)));
      if (!came_past_cache && behind(r, before)) {
        by_known = by_known && by_known_of(r, reader.record);
        if (all_passed(r, reader.record)) return;
        in_any_turn = false;
        continue;
      }
      by_known = false;
      in_any_turn = in_any_turn && all_unfenced(r, reader.record);
      said = std::max(said, conflict(r, before, address, size));
      return;
    }
  });
  if (const FindingList::Marked& all = ledger_.findings.marked();
      in_any_turn && all.counted && all.which.size() != marked) {
    Unfenced& old = unfenced_[unfenced_count_++ % unfenced_.size()];
    old.readers = unturned(those);
    old.record = r.record;
    old.lanes = r.lanes;
    old.found.assign(all.which.begin() + static_cast<std::ptrdiff_t>(marked), all.which.end());
    old.said = said;
    alike_in_any_turn_ = true;
  }
  if (!by_known) return said;
  behind_readers_ = unturned(those);
  behind_readers_known_ = known;
  return said;
}

// Whether this one was found of late to be behind all lanes of that record.
bool Conflicts::all_passed(const Reach& r, uint32_t record) const {
  return (record == r.passed_record && record != 0) || by_known_of(r, record);
}
// Whether an operation is behind all lanes of that record, and of none a fence has told it.
bool Conflicts::all_unfenced(const Reach& r, uint32_t number) const {
  const Record& record = ledger_.records[number];
  const Knowledge* const known = r.viewers[0].known;
  return record.unit != kUnfinished && known != nullptr &&
         known->happened.least(record.unit) >= record.time &&
         known->fenced[r.space].most(record.unit) < record.time &&
         ledger_.records.site_of(record).order.proxy != Proxy::async;
}
// And that by what it knows alone.
bool Conflicts::by_known_of(const Reach& r, uint32_t record) const {
  return r.alike && record == behind_record_ && r.viewers[0].known != nullptr &&
         r.viewers[0].known == behind_known_;
}

// Whether nothing is to be said, which is so nearly always.
bool Conflicts::behind(const Reach& r, Act before) {
  const uint32_t number = record_of(before);
  const Knowledge* const known = r.alike ? r.viewers[0].known : nullptr;
  if (before == r.passed || all_passed(r, number)) return true;
  const Record& record = ledger_.records[number];
  const uint32_t lane = lane_of(before);
  const auto every = [&](const auto& holds) {
    return std::all_of(r.viewers, r.viewers + r.viewer_count, holds);
  };
  const Proxy proxy = r.site->order.proxy;
  if (proxy == Proxy::async || proxy == Proxy::tensor_map || record.unit == kUnfinished) {
    if (proxy == Proxy::async && r.space != kTensorSpace && record.unit != kUnfinished) {
      const bool of_async = ledger_.records.site_of(record).order.proxy == Proxy::async;
      const bool all = every([&](const Viewer& v) {
        return v.known != nullptr && v.known->happened.least(record.unit) >= record.time &&
               (of_async || v.known->fenced[r.space].least(record.unit) >= record.time);
      });
      if (all) r.passed_record = number;
      if (all) return true;
    }
    const bool fine = every([&](const Viewer& v) { return !judge(r, v, record, lane); });
    if (fine) r.passed = before;
    return fine;
  }
  if (known != nullptr && known->happened.least(record.unit) >= record.time) {
    behind_record_ = number;
    behind_known_ = known;
    return true;
  }
  return every([&](const Viewer& v) { return v.knows({record.unit, lane, record.time}); });
}

// A byte has a writer already: another one is found.
void Conflicts::written_again(const Reach& r, Act before, uint64_t address, uint64_t size) {
  const Record& record = ledger_.records[record_of(before)];
  const auto lane = static_cast<uint32_t>(std::countr_zero(r.lanes));
  if (record.unit == ledger_.records[r.record].unit && lane_of(before) == lane) return;
  ledger_.findings.add(Kind::written_twice, ledger_.party(record_of(before), lane_of(before)),
                       ledger_.party(r.record, lane), address, size);
}

std::optional<Judged> Conflicts::judge(const Reach& r, const Viewer& v, const Record& before,
                                       uint32_t lane) const {
  if (r.space == kTensorSpace) {
    const auto kind = judge_cells(ledger_, r, v, before, lane);
    return kind ? std::optional(Judged{*kind}) : std::nullopt;
  }
  const Site& old = ledger_.records.site_of(before);
  const Site& now = *r.site;
  const Epoch e{before.unit, lane, before.time};
  const bool ended = before.unit != kUnfinished;
  if (ended && (v.knows(e) || copied_by_warp(ledger_, before, v)))
    return judge_proxies(ledger_, r, v, e, old);
  const machine::Scope needed =
      ended ? v.warp->domain.with(ledger_.units[before.unit].domain) : machine::Scope::gpu;
  if (is_strong(old) && is_strong(now)) {
    if (!reaches(old, needed) || !reaches(now, needed))
      return Judged{Kind::scope, side_of(!reaches(old, needed), !reaches(now, needed))};
    return in_lockstep(v, before, now) ? std::optional(Judged{Kind::lockstep}) : std::nullopt;
  }
  if (!ended) return Judged{Kind::operation_race};
  if (v.known != nullptr) {
    const bool release = v.known->narrow_release.knows(e), acquire = v.known->narrow_acquire.knows(e);
    if (release || acquire) return Judged{Kind::scope, side_of(release, acquire)};
    if (v.known->unreleased.knows(e)) return Judged{Kind::release, Side::earlier};
  }
  const bool seen = r.seen != nullptr && *r.seen != nullptr && (*r.seen)->happened.knows(e);
  if (seen || fenced_before_seen(v, e)) return Judged{Kind::release, Side::later};
  if (r.frees) return Judged{Kind::use_after_free};
  if (old.actor != Actor::thread || now.actor != Actor::thread) return Judged{Kind::operation_race};
  return Judged{before.unit == v.warp->unit ? Kind::warp_race : Kind::race};
}

// Whether a lane reads, volatile, what another lane has stored by an instruction that both have executed
// together: what it reads is the other's by lockstep alone. Lanes that wait for each other by flags diverge.
bool Conflicts::in_lockstep(const Viewer& v, const Record& before, const Site& now) const {
  const Site& old = ledger_.records.site_of(before);
  if (old.order.semantics != Semantics::volatile_ || now.order.semantics != Semantics::volatile_)
    return false;
  if (now.kind != AccessKind::read || before.unit != v.warp->unit) return false;
  const auto at = v.warp->volatile_stores.find(old.ptx_line);
  return at != v.warp->volatile_stores.end() && at->second.time == before.time &&
         (at->second.lanes >> v.lane & 1) != 0;
}

Conflicts::Said Conflicts::conflict(const Reach& r, Act before, uint64_t address, uint64_t size) {
  const uint32_t number = record_of(before);
  if (number == r.record && r.instruction != nullptr) {
    by_address_ = true;
    // Lanes of one instruction that write at one place: the manual leaves it to one of them.
    const uint64_t other = r.instruction->addresses[lane_of(before)];
    if ((r.instruction->lanes >> lane_of(before) & 1) != 0 && other < address + size &&
        address < other + r.instruction->bytes)
      return Said::nothing;
  }
  const Site& old = ledger_.records.site_of(ledger_.records[number]);
  const bool both_store = r.unchanged && old.kind == AccessKind::write && old.actor == Actor::thread;
  for (size_t i = 0; i < r.viewer_count; ++i) {
    auto judged = judge(r, r.viewers[i], ledger_.records[number], lane_of(before));
    if (!judged) continue;
    const bool equal = both_store && (judged->kind == Kind::race || judged->kind == Kind::warp_race);
    if (equal) judged = {Kind::equal_stores};
    Finding& f = ledger_.findings.add(judged->kind, ledger_.party(number, lane_of(before)),
                                      party(r.viewers[i], *r.site), reported(address, r.space), size);
    if (f.count == 1) f.side = judged->side;
    return equal ? Said::equal : Said::something;
  }
  return Said::nothing;
}

void Conflicts::drop_many_sets(Clusters& clusters) {
  ledger_.readers.keep([&](auto visit) {
    const auto again = [&](Readers readers) { return visit(readers); };
    ledger_.global.replace_sets(again);
    for (auto& [number, c] : clusters.running()) {
      c.shared.replace_sets(again);
      c.tensor.replace_sets(again);
    }
  });
  next_event();
  forget_rows();
  last_own_ = {};
  most_sets_ = std::max({kLeastSets, 2 * ledger_.readers.list_bytes(), ledger_.global.touched() / 4});
}

}  // namespace bitwell::hazard
