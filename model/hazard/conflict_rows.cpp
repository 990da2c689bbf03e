// Rows of cells that the lanes of a warp reach together: what all of them come to, if it is the same.
#include "model/hazard/conflict.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Proxy;

// Whether each lane is behind what that one has done, who is turned as the lane is; nothing where that is so
// of some lanes, or may be.
std::optional<bool> Conflicts::behind(const RowReach& r, const Reader& before) const {
  uint32_t& passed = r.passed_records[before.record % r.passed_records.size()];
  if (before.record == passed) return true;
  const Record& record = ledger_.records[before.record];
  if (record.unit == kUnfinished) return false;
  const bool own_lane = before.lanes == 1;
  if (own_lane && record.unit == r.warp->unit) return true;
  if (!r.alike) return std::nullopt;
  if (r.known != nullptr) {
    const auto [least, most] = r.known->happened.range(record.unit);
    if (least >= record.time) {
      passed = before.record;
      return true;
    }
    if (most >= record.time) return std::nullopt;
  }
  return own_lane || record.unit != r.warp->unit ? std::optional(false) : std::nullopt;
}

// As the one of cells; nothing where lanes may come to different ends.
std::optional<Readers> Conflicts::read_too(const RowReach& r, Readers before, bool any_lane) {
  const Readers mine = act(r.record, 0);
  if (before == kNoAct || (before == mine && !any_lane)) return mine;
  bool told = true;
  const auto covers = [&](const Reader& old) {
    if (!stands_for(*r.site, ledger_.records.site_of(ledger_.records[old.record]))) return false;
    const std::optional<bool> over = behind(r, old);
    told = told && over;
    return over.value_or(false);
  };
  if ((before & kMany) == 0 && covers({record_of(before), any_lane ? ~0u : 1u << lane_of(before)}))
    return mine;
  if (!told || !r.alike || any_lane) return std::nullopt;
  const Readers now = ledger_.readers.with(before, {r.record, 1}, covers, true);
  return told ? std::optional(now) : std::nullopt;
}

// Of those who have read, none is left that a write has to keep.
bool Conflicts::all_behind(const RowReach& r, Readers before, bool any_lane) const {
  const Record& mine = ledger_.records[r.record];
  bool all = true;
  ledger_.readers.each(before, [&](const Reader& reader) {
    const Record& record = ledger_.records[reader.record];
    all = all && behind(r, {reader.record, any_lane ? ~0u : reader.lanes}).value_or(false) &&
          !(record.unit == mine.unit && record.time == mine.time) &&
          ledger_.records.site_of(record).order.proxy == Proxy::generic;
  });
  return all;
}

bool Conflicts::reach(const RowReach& r, ShadowPage& page, const CellRow& row,
                      const ShadowPage::Acts& found) {
  if (found.write != kNoAct) {
    const uint32_t lanes = found.any_writer ? ~0u : 1u << lane_of(found.write);
    if (!behind(r, {record_of(found.write), lanes}).value_or(false)) return false;
  }
  if (r.site->kind == AccessKind::read) {
    // A load past the coherent cache needs more than order.
    if (found.write != kNoAct && r.site->order.proxy != Proxy::generic) return false;
    const std::optional<Readers> reads = read_too(r, found.reads, found.any_reader);
    if (!reads) return false;
    if (found.any_reader || *reads != found.reads) page.set_reads(row, *reads, found.kept);
    return true;
  }
  if (once_ && found.write != kNoAct) return false;
  Readers reads = found.reads;
  if ((reads & kMany) == 0 && reads != kNoAct) {
    const Record& read = ledger_.records[record_of(reads)];
    const Record& mine = ledger_.records[r.record];
    if (!behind(r, {record_of(reads), found.any_reader ? ~0u : 1u << lane_of(reads)}).value_or(false) ||
        ledger_.records.site_of(read).order.proxy != Proxy::generic)
      return false;
    // As own_since has it.
    if (read.unit != mine.unit || read.time != mine.time) reads = kNoAct;
  } else if (reads != kNoAct) {
    if (!all_behind(r, reads, found.any_reader)) return false;
    reads = kNoAct;
  }
  if (reads != found.reads) page.set_reads(row, reads, found.kept);
  if (const Act write = act(r.record, 0); found.any_writer || write != found.write)
    page.set_write(row, write, found.kept);
  return true;
}

bool Conflicts::made_as_before(const RowReach& r, ShadowPage& page, const CellRow& row,
                               const ShadowPage::Acts& found) {
  const CameRow& came = came_row(r.record, found);
  if (came.series != rows_series_ || came.record != r.record || came.found_write != found.write ||
      came.found_reads != found.reads || found.any_writer || found.any_reader)
    return false;
  ledger_.findings.repeat(*came.which, uint64_t{row.lanes} * row.each);
  if (found.kept != nullptr) r.last = {found.write, came.write, found.reads, came.reads, came.which};
  if (came.write != found.write) page.set_write(row, came.write, found.kept);
  if (came.reads != found.reads) page.set_reads(row, came.reads, found.kept);
  return true;
}

void Conflicts::came_to(uint32_t record, const ShadowPage::Acts& found, Act write, Readers reads) {
  if (came_row(record, found).series == rows_series_ && came_rows_.size() < kMostCameRows) {
    const std::vector<CameRow> before =
        std::exchange(came_rows_, std::vector<CameRow>(4 * came_rows_.size()));
    for (const CameRow& row : before)
      came_row(row.record, {.write = row.found_write, .reads = row.found_reads}) = row;
  }
  CameRow& came = came_row(record, found);
  came.series = rows_series_;
  came.record = record;
  came.found_write = found.write;
  came.found_reads = found.reads;
  came.write = write;
  came.reads = reads;
  came.which = &*came_which_.insert(ledger_.findings.marked().which).first;
}

void Conflicts::came_to(const Reach& r, const ShadowPage::Row& held, const Cell& now) {
  if (!ledger_.findings.marked().counted) return;
  CamePart& came = came_part(r.record, held);
  came.series = series_;
  came.record = r.record;
  came.lanes = r.lanes;
  came.space = r.space;
  came.found_write = held.write;
  came.found_reads = held.reads;
  came.write = now.write;
  came.reads = now.reads;
  came.which = ledger_.findings.marked().which;
}

void Conflicts::reach_first(const Reach& r, Shadow::Block& block) {
  ShadowPage::Row held;
  held.write = block.write;
  held.reads = block.reads;
  if (const CamePart* const came = came_of(r, {&held, 1}); came != nullptr) {
    ledger_.findings.mark();
    ledger_.findings.add_again(came->which);
    block.write = came->write;
    block.reads = came->reads;
  } else {
    Cell now{block.write, kNoAct, block.reads};
    reach(r, now, block.shape.address, kWhole);
    came_to(r, held, now);
    block.write = now.write;
    block.reads = now.reads;
  }
  repeat_cells(block.shape.bytes, 0, 1);
}

bool Conflicts::reach_parts(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end,
                            const Pieces& pieces) {
  // What is strong may leave writes before the last one, which parts do not have.
  if (strength(*r.site) != 0) return false;
  const std::span<ShadowPage::Row> parts = page.parts(first, end);
  if (parts.empty()) return false;
  uint64_t passed = 1;  // pieces
  const auto pass = [&](uint64_t to) {
    if (to > passed) ledger_.findings.pass((to - passed) * pieces.apart), passed = to;
  };
  for (ShadowPage::Row& part : parts) {
    if (made_as_before(r, part)) continue;
    Cell now{part.write, kNoAct, part.reads};
    const int shift = page.shift();
    const uint64_t address = begin + (uint64_t{part.first} << shift);
    const auto pass_to = [&](uint64_t i) {
      if (pieces.count != 1) pass(((part.first + i - first) << shift) / pieces.bytes + 1);
    };
    pass_to(0);
    reach(r, now, address, uint64_t{1} << shift);
    came_to(r, part, now);
    part.write = now.write;
    part.reads = now.reads;
    for (uint64_t i = 1; i < part.each && !again(part.each - i); ++i) {
      pass_to(i);
      ledger_.findings.repeat_at(i << shift);
    }
  }
  pass(pieces.count);
  return true;
}

}  // namespace bitwell::hazard
