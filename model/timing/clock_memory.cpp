// Loads and stores: shared memory, L1, L2, DRAM.
#include <algorithm>
#include <bit>

#include "model/timing/clock_state.h"

namespace bitwell::timing {
namespace {

constexpr uint64_t kLine = 128;

// The same address always says the same.
bool falls_below(uint64_t address, double part) {
  const uint64_t mixed = (address / kLine) * 0x9E3779B97F4A7C15;
  return static_cast<double>(mixed >> 40) < part * static_cast<double>(1 << 24);
}

}  // namespace

double Clock::part_from_dram(uint64_t address, Asked** asked) {
  if (address < last_base_ || address >= last_end_) {
    const machine::Region* region = global_->find(address, 1);
    if (region == nullptr) {
      if (asked != nullptr) *asked = nullptr;
      return 1;
    }
    last_base_ = region->base();
    last_end_ = region->base() + region->size();
    const auto known = from_dram_.find(last_base_);
    last_part_ = known == from_dram_.end() ? 1 : known->second;
    last_asked_ = &asked_[last_base_];
    last_asked_->name = region->name();
    last_asked_->size = region->size();
  }
  if (asked != nullptr) *asked = last_asked_;
  return last_part_;
}

// When so many bytes have come from L2 or DRAM. `why`: of a copy.
double Clock::from_l2(uint64_t address, double bytes, Multiprocessor& sm, double start, double l2_latency,
                      double dram_latency, Cause* why) {
  Asked* asked = nullptr;
  double part = part_from_dram(address, &asked);
  if (asked != nullptr) asked->read += bytes;
  // Where every cluster is looked at, it is known who was first; in a sample, how many are. Whoever asks for
  // what is on its way has it when the first one has.
  bool far = false;
  double* arrival = nullptr;
  double on_its_way = 0;
  if (extent_.clusters != 0) {
    far = falls_below(address, part);
  } else if (part > 0) {
    const auto [at, is_first] = touched_.try_emplace(address / kLine, 0);
    far = is_first;
    part = is_first ? 1 : 0;
    on_its_way = at->second;
    arrival = &at->second;
  }
  const double latency = far ? dram_latency : l2_latency;
  double end = std::max(start + latency, on_its_way);
  if (why != nullptr) *why = Cause::copy;
  // What stands in a queue stands before the latency, which ends when the last byte is there.
  double served = std::max(sm.l2.take(start, bytes), l2_.take(start, bytes));
  if (why == nullptr) {
    const double alone = l2_loads_.take(start, bytes);
    served = std::min(served, alone + l2_beside_ * std::max(0.0, served - alone));
  }
  const double over_l2 = served + l2_latency / 2;
  if (over_l2 > end) {
    end = over_l2;
    if (why != nullptr) *why = Cause::l2;
  }
  if (part > 0) {
    const double over_dram = dram_.take(start, bytes * part) + (far ? dram_latency / 2 : 0);
    if (over_dram > end && far) {
      end = over_dram;
      if (why != nullptr) *why = Cause::dram;
    }
  }
  if (far && arrival != nullptr) *arrival = end;
  return end;
}

// Wavefronts of shared memory: 128 bytes each, of banks of 4; lanes that read one word share it.
double Clock::shared(const Reached& r, Multiprocessor& sm, double start) {
  const auto bytes = static_cast<uint32_t>(std::clamp<uint64_t>(r.bytes, 4, 16));
  const uint32_t together = 128 / bytes;
  double fronts = 0;
  for (uint32_t first = 0; first < machine::kLanes; first += together) {
    std::array<std::array<uint64_t, 32>, 32> words;
    std::array<uint32_t, 32> count{};
    uint32_t most = 0;
    for (uint32_t lane = first; lane < first + together; ++lane) {
      if ((r.lanes >> lane & 1) == 0) continue;
      for (uint32_t b = 0; b < bytes; b += 4) {
        const uint64_t word = (r.addresses[lane] + b) / 4;
        auto& bank = words[word % 32];
        uint32_t& n = count[word % 32];
        if (std::find(bank.begin(), bank.begin() + n, word) != bank.begin() + n || n == 32) continue;
        bank[n++] = word;
        most = std::max(most, n);
      }
    }
    fronts += most;
  }
  fronts = std::max(fronts, 1.0);
  return sm.memory.take(start, fronts * value(Key::shared_interval));
}

double Clock::global(const Reached& r, const Info& i, Multiprocessor& sm, double start) {
  std::array<uint64_t, 32 * 17> sectors, reached_at;  // and the first byte of each that is reached
  size_t count = 0;
  bool ascending = true;
  for (uint32_t lanes = r.lanes; lanes != 0; lanes &= lanes - 1) {
    const uint64_t from = r.addresses[static_cast<size_t>(std::countr_zero(lanes))];
    for (uint64_t s = from / 32; s <= (from + r.bytes - 1) / 32 && count < sectors.size(); ++s) {
      if (count != 0 && sectors[count - 1] == s) continue;
      ascending = ascending && (count == 0 || sectors[count - 1] < s);
      reached_at[count] = std::max(from, s * 32);
      sectors[count++] = s;
    }
  }
  const auto end_of = [&] { return sectors.begin() + static_cast<std::ptrdiff_t>(count); };
  if (!ascending) {
    std::sort(sectors.begin(), end_of());
    count = static_cast<size_t>(std::unique(sectors.begin(), end_of()) - sectors.begin());
  }
  // A sector may begin before the region in which the bytes lie that are reached in it.
  const auto reached = [&](size_t k) {
    if (ascending) return reached_at[k];
    const uint64_t sector = sectors[k];
    for (uint32_t lanes = r.lanes; lanes != 0; lanes &= lanes - 1) {
      const uint64_t from = r.addresses[static_cast<size_t>(std::countr_zero(lanes))];
      if (from / 32 <= sector && sector <= (from + r.bytes - 1) / 32) return std::max(from, sector * 32);
    }
    return sector * 32;
  };
  size_t lines = 0;
  for (size_t k = 0; k < count; ++k) lines += k == 0 || sectors[k] / 4 != sectors[k - 1] / 4 ? 1 : 0;
  constexpr double kProbed = 512;
  const double data = static_cast<double>(count) * 32 * value(Key::l1_interval) / kProbed;
  double end = sm.memory.take(start, std::max(static_cast<double>(lines), data));
  warp_->pending = std::max(warp_->pending, end - value(Key::queue));
  if (r.kind == machine::AccessKind::write) {
    const double bytes = static_cast<double>(count) * 32;
    sm.l2.take(start, bytes);
    l2_.take(start, bytes);
    Asked* asked = nullptr;
    if (count != 0) part_from_dram(reached(0), &asked);
    if (asked != nullptr) asked->written += bytes;
    dram_.take(start, bytes);
    return end;
  }
  const double queued = end;
  end = queued + value(Key::l1_latency);
  for (size_t k = 0; k < count; ++k) {
    if (r.kind == machine::AccessKind::read && i.cached && sm.l1.has(sectors[k])) continue;
    size_t run = 1;  // sectors of one line
    while (k + run < count && sectors[k + run] == sectors[k] + run &&
           sectors[k + run] / 4 == sectors[k] / 4 &&
           !(r.kind == machine::AccessKind::read && i.cached && sm.l1.has(sectors[k + run])))
      ++run;
    end = std::max(end, from_l2(reached(k), static_cast<double>(run) * 32, sm, queued, value(Key::l2_latency),
                                value(Key::dram_latency)));
    k += run - 1;
  }
  return end;
}

void Clock::memory(const Info& i, WarpTime& w, double start) {
  Multiprocessor& sm = sm_of(*at_, w.rank);
  const bool loads = i.results != 0;
  double done = start;
  bool slow = false;
  constexpr double kLocal = 4;  // wavefronts of a word of each lane's local memory
  for (const Reached& r : reached_) {
    const uint64_t address = r.addresses[static_cast<size_t>(std::countr_zero(r.lanes))];
    if (address >= machine::kSharedWindow && address < machine::kLocalWindow) {
      const uint64_t rank = (address - machine::kSharedWindow) >> machine::kRankShift;
      const bool remote = rank != w.rank;
      const double front = shared(r, sm, start);
      w.pending = std::max(w.pending, front - value(Key::queue));
      done = std::max(done, front + value(remote                                  ? Key::remote_latency
                                          : r.kind == machine::AccessKind::update ? Key::shared_atomic
                                                                                  : Key::shared_latency));
      slow = true;
    } else if (machine::is_global(address)) {
      if (r.kind == machine::AccessKind::update) {
        const double fetched = global(r, i, sm, start);
        done = std::max(done, fetched + value(Key::global_atomic) - value(Key::l2_latency));
      } else {
        done = std::max(done, global(r, i, sm, start));
      }
      slow = true;
    } else if (address < machine::kConstWindow) {
      done = std::max(done, sm.memory.take(start, kLocal) + value(Key::l1_latency));
    }
  }
  if (!loads) {
    now_ = std::max(now_, start);
    return;
  }
  for (const uint32_t d : results(i)) w.rows[d] = {done, slow ? i.line : 0};
}

}  // namespace bitwell::timing
