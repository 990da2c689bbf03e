// Lanes of a warp that reach bytes side by side, as rows of cells.
#include <algorithm>
#include <bit>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

namespace {

// Lanes that come to the address of a neighbour.
uint32_t beside_alike(const machine::Access& a) {
  uint32_t out = 0;
  for (uint32_t i = 0; i + 1 < machine::kLanes; ++i)
    out |= static_cast<uint32_t>(a.addresses[i] == a.addresses[i + 1]) << i;
  out &= a.lanes & a.lanes >> 1;
  return out | out << 1;
}

// Of those lanes the first and others that follow it at the same distance, each where the one before it ends
// or as far behind it, up to `end`.
struct Run {
  uint32_t lanes = 0;  // one bit each
  uint32_t apart = 1;
  uint64_t step = 0;  // bytes from each to the next
};
// Without `search` at distance `apart` alone.
Run run_of(const machine::Access& a, uint32_t lanes, uint32_t first, uint32_t apart, uint64_t end,
           bool search) {
  const auto follows = [&](uint32_t lane, uint64_t address) {
    return lane < machine::kLanes && (lanes >> lane & 1) != 0 && a.addresses[lane] == address;
  };
  uint64_t next = a.addresses[first] + a.bytes;
  Run out{1u << first, apart, a.bytes};
  if (next >= end) return out;
  if (!follows(first + apart, next)) {
    if (!search) return out;
    uint32_t other = 1;
    while (other < machine::kLanes && !follows(first + other, next)) other *= 2;
    if (other < machine::kLanes) {
      out.apart = other;
    } else {
      out.apart = 1;
      if (first + 1 == machine::kLanes || (lanes >> (first + 1) & 1) == 0) return out;
      next = a.addresses[first + 1];
      out.step = next - a.addresses[first];  // huge where it is in front
      if (out.step % a.bytes != 0 || next >= end || out.step >= ShadowPage::kPageBytes) return out;
    }
  }
  for (uint32_t lane = first + out.apart; next < end && follows(lane, next);
       lane += out.apart, next += out.step)
    out.lanes |= 1u << lane;
  return out;
}

uint32_t lanes_of(const CellRow& row) {
  uint32_t out = 0;
  for (uint32_t i = 0; i < row.lanes; ++i) out |= 1u << (row.lane + i * row.apart);
  return out;
}

// The same of lanes that are all in order, of bytes that are a power of two.
Run up_to(const machine::Access& a, uint32_t first, uint64_t end) {
  const uint64_t there = (end - a.addresses[first] + a.bytes - 1) >> std::countr_zero(a.bytes);
  const uint32_t from = ~0u << first;
  return {first + there >= machine::kLanes ? from : from & ~(~0u << (first + there)), 1, a.bytes};
}

}  // namespace

// Whether lanes that are all in a row are done with, as a row of one page.
bool Checker::page_row(uint64_t address, uint64_t bytes, uint32_t unchanged, Cluster& c, const RowReach& r) {
  const uint64_t all = bytes * machine::kLanes;
  if ((address & (bytes - 1)) != 0 || address % ShadowPage::kPageBytes + all > ShadowPage::kPageBytes)
    return false;
  Shadow* const shadow = shadow_of(c, ledger_.global, address);
  if (!may_have_rows(shadow)) return false;
  if (ShadowPage::Row* const kept = shadow->kept_whole(address, bytes);
      kept != nullptr && conflicts_.reach_as_last(r, *kept, unchanged == 0))
    return true;
  auto [page, row] = shadow->row(address, bytes, bytes, 0, machine::kLanes, 1);
  const ShadowPage::Acts found = page.acts(row);
  if (found.lanes != machine::kLanes) return false;
  // What it was for the last row is tried first.
  const auto made = [&, &page = page, &row = row] {
    return unchanged == 0 && conflicts_.made_as_before(r, page, row, found);
  };
  if (r.made && made()) return true;
  if (conflicts_.reach(r, page, row, found)) {
    r.made = false;
    if (const ShadowPage::Row* const kept = found.kept; kept != nullptr)
      r.last = {found.write, kept->write, found.reads, kept->reads};
    return true;
  }
  return !r.made && (r.made = made());
}

// The lanes that are done with: those in a row that find nothing but what is ordered, in cells that are
// alike. Others are looked at one by one.
uint32_t Checker::row_access(const machine::Access& a, Cluster& c, const RowReach& r) {
  uint32_t done = 0, apart = 1;
  int alone = 0;  // lanes in turn that nobody follows: where each lane has a row of a matrix, all are
  const bool whole = in_row(a);
  bool in_turn = whole && a.unchanged == 0;                                       // nothing was left undone
  if (whole && page_row(a.addresses[0], a.bytes, a.unchanged, c, r)) return ~0u;  // as most often
  for (uint32_t lanes = whole ? ~0u : a.lanes & ~beside_alike(a); lanes != 0;) {
    const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
    const uint64_t address = a.addresses[first];
    const uint64_t end = (address / ShadowPage::kPageBytes + 1) * ShadowPage::kPageBytes;
    const Run run = whole ? up_to(a, first, end) : run_of(a, lanes, first, apart, end, alone < 2);
    lanes &= ~run.lanes;
    apart = run.apart;
    alone = std::has_single_bit(run.lanes) ? alone + 1 : 0;
    Shadow* const shadow = shadow_of(c, ledger_.global, address);
    if (!may_have_rows(shadow) || (address & (a.bytes - 1)) != 0) {
      in_turn = false;
      continue;
    }
    const auto count = static_cast<uint32_t>(std::popcount(run.lanes));
    auto [page, row] = shadow->row(address, a.bytes, run.step, first, count, run.apart);
    for (uint32_t rest = row.lanes; rest != 0;) {
      row.lanes = rest;
      const ShadowPage::Acts found = page.acts(row);
      row.lanes = std::max(found.lanes, 1u);
      in_turn = in_turn && found.lanes != 0;
      if ((found.lanes != 0 && conflicts_.reach(r, page, row, found)) ||
          (in_turn = in_turn && conflicts_.made_as_before(r, page, row, found)))
        done |= row.lanes == count ? run.lanes : lanes_of(row);
      rest -= row.lanes;
      row.first += row.lanes * row.step;
      row.lane += row.lanes * row.apart;
    }
  }
  return done;
}

// A lane of a row reaches its bytes, and others behind it that find the same as it does theirs, as far as all
// are on one page: those are given back. `viewer` is the lane's, as `r` has it.
uint32_t Checker::reach_row(const machine::Access& a, const Warp& w, Reach r, Viewer& viewer, Shadow& shadow,
                            uint32_t lanes) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(r.lanes));
  const uint64_t address = a.addresses[lane];
  const uint64_t in_page = (ShadowPage::kPageBytes - address % ShadowPage::kPageBytes) / a.bytes;
  const auto behind = static_cast<uint32_t>(std::countr_one(static_cast<uint64_t>(lanes) >> lane >> 1));
  auto [page, row] = shadow.row(address, a.bytes, a.bytes, lane,
                                static_cast<uint32_t>(std::min<uint64_t>(in_page, 1 + behind)), 1);
  const ShadowPage::Acts found = page.acts(row);
  row.lanes = found.lanes;
  if (row.lanes == 0 || found.any_writer || found.any_reader) {
    conflicts_.reach(r, shadow, address, a.bytes);
    return 0;
  }
  const auto of_lane = [](uint32_t value, uint32_t by) {
    return value == kNoAct ? kNoAct : turned(value, by);
  };
  const auto turned_by = [&](const Cell& cell, uint32_t by) {
    return Cell{of_lane(cell.write, by), cell.writes_before, of_lane(cell.reads, by)};
  };
  const uint64_t size = uint64_t{1} << page.shift();
  std::array<Cell, machine::kLanes> came;  // of lane 0 in their places
  bool alike = true, counted = false;
  uint32_t last = 0;
  for (;; ++last) {
    const Cell before{of_lane(found.write, lane + last), kNoAct, of_lane(found.reads, lane + last)};
    const auto reach = [&](uint32_t cell) {
      Cell now = before;
      conflicts_.reach(r, now, address + last * a.bytes + cell * size, size);
      return now;
    };
    came[last] = turned_by(reach(0), -(lane + last));
    if (row.each > 1 && !conflicts_.again(row.each - 1))
      for (uint32_t i = 1; i < row.each; ++i) reach(i);  // come to the same
    alike = alike && came[last] == came[0] && came[0].writes_before == kNoAct;
    if (last + 1 == row.lanes) break;
    counted = conflicts_.again(uint64_t{row.lanes - last - 1} * row.each);
    if (counted) break;
    if (last == 0 && conflicts_.again_by_lanes(row, size)) {
      came[row.lanes - 1] = came[0];
      break;
    }
    const uint32_t next = lane + last + 1;
    r.lanes = 1u << next;
    r.map = a.addresses[next];
    r.seen = &w.lane(next).seen.back();
    r.passed = kNoAct;
    r.passed_record = 0;
    viewer = {w.known[next].get(), &w, next, kNow, &w.ended[next]};
  }
  if (alike) {
    if (came[0].write != found.write) page.set_write(row, came[0].write);
    if (came[0].reads != found.reads) page.set_reads(row, came[0].reads);
    if (counted) conflicts_.came_to(r.record, found, came[0].write, came[0].reads);
  } else {
    page.to_cells();
    for (uint32_t i = 0; i < row.lanes * row.each; ++i) {
      const uint32_t of = i / row.each;
      page.set(row.first + i, page.cell(row.first + i), turned_by(came[std::min(of, last)], lane + of));
    }
  }
  return static_cast<uint32_t>((uint64_t{1} << row.lanes) - 2) << lane;
}

}  // namespace bitwell::hazard
