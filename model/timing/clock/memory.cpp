// Loads and stores: shared memory, L1, L2, DRAM.
#include <algorithm>
#include <bit>
#include <cstring>

#include "model/timing/clock/issue.h"
#include "model/timing/clock/reached.h"

namespace bitwell::timing {
namespace {

// The same address always says the same.
bool falls_below(uint64_t address, double part) {
  const uint64_t mixed = (address / kLine) * 0x9E3779B97F4A7C15;
  return static_cast<double>(mixed >> 40) < part * static_cast<double>(1 << 24);
}

constexpr uint64_t kBurst = 64;  // that DRAM gives at once

}  // namespace

Clock::Region* Clock::find_region(uint64_t address) {
  const machine::Region* region = global_->find(address, 1);
  if (region == nullptr) return nullptr;
  const auto known = shares_.find(region->base());
  Asked& of = asked_[region->base()];
  of.name = region->name();
  of.size = region->size();
  std::rotate(regions_.begin(), regions_.end() - 1, regions_.end());
  regions_.front() = {region->base(), region->base() + region->size(),
                      known == shares_.end() ? Share{} : known->second, &of};
  return &regions_.front();
}

Clock::Amounts Clock::amounts(double bytes) const {
  return {bytes, sms_.front()->l2.amount(bytes), l2_.amount(bytes), dram_.amount(bytes)};
}

// What L2 has to do for whoever asks, where 1 is what it does for one alone.
double Clock::l2_part(uint64_t address, const Multiprocessor& sm, Time at) {
  const Time apart = neighbours_->apart(sm.gpc, sm.number, address / kSector, at), near = time(Key::l2_near);
  return apart >= near ? 1 : std::max(again_, static_cast<double>(apart) / static_cast<double>(near));
}

// When so many bytes have come from L2 or DRAM. `why`: of a copy.
[[gnu::always_inline]] inline Time Clock::from_l2(uint64_t address, const Amounts& of, Multiprocessor& sm,
                                                  Time start, const Latency& latency, Cause* why) {
  double part = 1, l2_part = 1;
  Region* const region = region_of(address);
  if (region != nullptr) {
    part = region->share.dram;
    l2_part = region->share.l2;
    region->asked->read += of.bytes;
  }
  if (neighbours_ != nullptr) {
    l2_part = this->l2_part(address, sm, start);
    read_ += of.bytes;
    if (region != nullptr) region->asked->l2 += l2_part * of.bytes;
  }
  const Time l2 = l2_part == 1 ? of.l2 : static_cast<Time>(l2_part * static_cast<double>(of.l2));
  // Where every cluster is looked at, it is known who was first; in a sample, how many are. Whoever asks for
  // what is on its way has it when the first one has.
  bool far = false;
  Time* arrival = nullptr;
  Time on_its_way = 0;
  const auto sectors = static_cast<uint64_t>(of.bytes) / kSector;
  if (extent_.clusters != 0) {
    far = falls_below(address, part);
    // The other half of what DRAM gives at once is on its way as well.
    const bool halves = (address / kSector | sectors) % 2 != 0;
    if (far && why == nullptr && halves) arrival = &arrivals_[address / kBurst];
    if (arrival != nullptr && *arrival >= 0) {
      far = false;
      on_its_way = *arrival;
    }
  } else if (part > 0) {
    arrival = &arrivals_[address / kBurst];
    far = *arrival < 0;
    part = far ? 1 : 0;
    on_its_way = *arrival;
  }
  Time way = latency.l2;
  if (far) {
    Time longest = latency.pieces == 0 ? 0 : INT64_MIN;
    for (uint64_t k = 0; k < latency.pieces; ++k)
      longest = std::max(
          longest, dram_latency_.beside_mean(address + k * static_cast<uint64_t>(latency.apart), start));
    way = latency.dram + longest;
  }
  Time end = std::max(start + way, on_its_way);
  if (why != nullptr) *why = Cause::copy;
  // What stands in a queue stands before the latency, which ends when the last byte is there.
  Time served = std::max(sm.l2.take(start, of.port), l2_.take(start, l2));
  if (why == nullptr) {
    const Time alone = l2_loads_.take(start, l2);
    if (served > alone) served = alone + static_cast<Time>(l2_beside_ * static_cast<double>(served - alone));
  }
  const Time over_l2 = served + latency.l2 / 2;
  if (over_l2 > end) {
    end = over_l2;
    if (why != nullptr) *why = Cause::l2;
  }
  if (part > 0) {
    const Time amount = part == 1 && sectors == 1 ? of_sectors_[2].dram
                        : part == 1               ? of.dram
                                                  : dram_.amount(of.bytes * part);
    const Time over_dram = dram_.take(start, amount) + (far ? latency.dram / 2 : 0);
    if (over_dram > end && far) {
      end = over_dram;
      if (why != nullptr) *why = Cause::dram;
    }
  }
  if (far && arrival != nullptr) {
    *arrival = end;
    if (sectors > 1 && sectors <= kSectors)
      if (Time& last = arrivals_[address / kBurst + 1];
          (address / kSector + sectors - 1) / 2 != address / kBurst && last < 0)
        last = end;
  }
  return end;
}

Time Clock::copied(uint64_t address, const Amounts& of, Multiprocessor& sm, Time start,
                   const Latency& latency, Cause& why) {
  return from_l2(address, of, sm, start, latency, &why);
}

// Words that follow each other, or are one, meet nowhere in shared memory.
Time Clock::shared(const Access& a, Multiprocessor& sm, Time start) {
  const uint32_t fronts = a.is(Access::How::wavefronts) ? a.many : std::max(a.bytes, 4u) / 4;
  return sm.memory.take(start, fronts * time(Key::shared_interval));
}

template <class Reached>
[[gnu::always_inline]] inline Time Clock::lines(machine::AccessKind kind, const Reached& reached,
                                                const Info& i, Multiprocessor& sm, Time start) {
  constexpr Time kProbed = 512;
  const size_t all = reached.sectors();
  const bool reads = kind == machine::AccessKind::read;
  // A load looks for four lines a cycle, and brings no more of sectors than it reaches.
  Time tags = static_cast<Time>(reached.count) * kCycle, conflicts = 0;
  Time data = static_cast<Time>(all) * time(Key::l1_interval) / (kProbed / kSector);
  if constexpr (requires { reached.banks(); })
    if (reads) {
      const Banks banks = reached.banks();
      tags = std::max(tags / 4, banks.fronts * kCycle);
      conflicts = banks.conflicts() * time(Key::l1_conflict);
      const uint64_t bytes = (uint64_t{banks.words} * Banks::kWord + kSector - 1) / kSector * kSector;
      data = static_cast<Time>(bytes) * time(Key::l1_interval) / kProbed;
    }
  const Time served = sm.memory.take(start, std::max(tags, data));
  warp_->pending = std::max(warp_->pending, served - time(Key::queue));
  if (kind == machine::AccessKind::write) {
    const Amounts of = all < of_sectors_.size() ? of_sectors_[all] : amounts(32.0 * static_cast<double>(all));
    // The probes' warps reach 16 sectors, and 32 lines; what of 64 of these is not yet sent when all are
    // issued is what may be under way.
    constexpr Time kSectors16 = 16, kLines = 32, kIssued = 64;
    const Time a_warp = time(Key::store_lines);
    const Time towards_l2 = std::max(static_cast<Time>(reached.count) * a_warp / kLines,
                                     static_cast<Time>(all) * time(Key::store_sectors) / kSectors16);
    sm.stored = std::max(sm.stored, sm.updates.take(start, towards_l2));
    warp_->clock = std::max(warp_->clock, sm.stored - (kIssued * a_warp - time(Key::stores_issued)));
    l2_.take(start, of.l2);
    if (reached.count != 0) {
      const auto [line, sectors] = reached.at(0);
      const uint64_t lowest =
          reached.first_byte(0, line * kSectors + static_cast<uint64_t>(std::countr_zero(sectors)));
      if (Region* const region = region_of(lowest); region != nullptr) region->asked->written += of.bytes;
    }
    dram_.take(start, of.dram);
    return served;
  }
  const Latency of_a_load{time(Key::l2_latency), time(Key::dram_latency), 1, 0};
  Time end = served + time(Key::l1_latency) + conflicts;
  const bool cached = reads && i.cached;
  const auto misses = [&](size_t k, uint64_t line, uint32_t wanted) -> uint32_t {
    if constexpr (requires { reached.place(k); })
      return sm.l1.misses(line, touched_.number(line), wanted, reached.place(k));
    else
      return sm.l1.misses(line, touched_.number(line), wanted);
  };
  Time asked = 0;  // what L1 misses, behind stores
  for (size_t k = 0; k < reached.count; ++k) {
    if constexpr (requires { reached.place(k); })
      if (cached && sm.coming.last() <= end && sm.l1.has(reached.place(k))) continue;
    const auto [line, wanted] = reached.at(k);
    if (cached && sm.coming.last() > end) end = std::max(end, sm.coming.of(line, wanted));
    Time out = 0;
    for (uint32_t missing = cached ? misses(k, line, wanted) : wanted; missing != 0;) {
      if (asked == 0) asked = sm.stored > served ? sm.updates.take(served, kCycle) : served;
      // L1 asks for one line after the other, however little of each.
      if (out == 0) out = sm.asks.take(asked, time(Key::l1_miss)) - time(Key::l1_miss);
      const auto first = static_cast<uint32_t>(std::countr_zero(missing));
      const auto run = static_cast<uint32_t>(std::countr_one(missing >> first));
      const uint32_t now = ((1u << run) - 1) << first;
      const Time there = from_l2(reached.first_byte(k, line * kSectors + first), of_sectors_[run], sm, out,
                                 of_a_load, nullptr);
      if (cached) sm.coming.add(line, now, out, there);
      end = std::max(end, there);
      missing &= ~now;
    }
  }
  return end;
}

Time Clock::scattered(const Access& a, Notes addresses, const Info& i, Multiprocessor& sm, Time start) {
  const auto kind = static_cast<machine::AccessKind>(a.kind);
  std::unique_ptr<Spread>& known = warp_->spread;
  if (known != nullptr && known->is_again(addresses.data(), a.bytes, addresses.size()))
    return lines(kind, ScatteredAgain{*known, a.bytes, addresses}, i, sm, start);
  const Scattered reached(a, addresses);
  constexpr size_t kFew = 12;  // lines, which are as soon looked for
  if (reached.count < kFew || addresses.size() != Spread::kLanes || kind != machine::AccessKind::read ||
      !i.cached)
    return lines(kind, reached, i, sm, start);
  if (known == nullptr) known = std::make_unique<Spread>();
  known->remember(addresses.data(), a.bytes, reached.lines.data(), reached.count, reached.banks());
  if (known->empty()) return lines(kind, reached, i, sm, start);
  return lines(kind, ScatteredAgain{*known, a.bytes, addresses}, i, sm, start);
}

Time Clock::in_a_row(machine::AccessKind kind, const InARow& row, const Info& i, Multiprocessor& sm,
                     Time start) {
  return lines(kind, row, i, sm, start);
}

[[gnu::always_inline]] inline Time Clock::global(machine::AccessKind kind, uint64_t first, uint64_t bytes,
                                                 const Info& i, Multiprocessor& sm, Time start) {
  return InALine::fits(first, bytes) ? lines(kind, InALine(first, bytes), i, sm, start)
                                     : in_a_row(kind, InARow(first, bytes), i, sm, start);
}

Time Clock::shared_latency(bool remote, machine::AccessKind kind) const {
  return time(remote                                ? Key::remote_latency
              : kind == machine::AccessKind::update ? Key::shared_atomic
                                                    : Key::shared_latency);
}

// Atomics and reductions of global memory: L2 does those of a sector one after the other, wherever they come
// from, and of floating-point sums or exchanges in one word each lane's.
Time Clock::updated(const Access& a, Notes addresses, const Info& i, WarpTime& w, Time start) {
  constexpr double kTogether = 16, kLanes = machine::kLanes;  // multiprocessors of the probes, lanes
  using Update = Info::Update;
  const double once = value(Key::update_word) / kTogether;
  const auto each = [&](Key of_all, double first) {
    return std::max(0.0, (value(of_all) / kTogether - first) / (kLanes - 1));
  };
  double sector = once, again = i.tells ? each(Key::update_result, once) : 0;
  double port = value(Key::update_sectors) / kLanes, port_again = 0;
  if (i.tells) port_again = value(Key::update_result_alone) / kLanes;
  if (i.update == Update::number) again = each(Key::update_number, once);
  if (i.update == Update::in_turn) {
    again = once;
    if (i.tells) port_again = value(Key::exchange_word_alone) / kLanes;
  }
  if (i.update == Update::exchange) {
    sector = value(Key::exchange_words) / kTogether / (kLanes * sizeof(uint32_t) / kSector);
    again = each(Key::exchange_word, sector);
    port *= sector / once;
    port_again = value(Key::exchange_word_alone) / kLanes;
  }
  std::array<uint64_t, machine::kLanes> at;
  const bool own = a.is(Access::How::each), row = a.is(Access::How::row);
  const size_t lanes = own ? addresses.size() : row ? machine::kLanes : std::max(a.many, 1u);
  for (size_t k = 0; k < lanes; ++k) at[k] = own ? addresses[k] : a.first + (row ? k * a.bytes : 0);
  std::sort(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(lanes));

  Multiprocessor& sm = *sm_;
  const Time asked =
      own ? scattered(a, addresses, i, sm, start)
          : global(machine::AccessKind::update, a.first, (row ? lanes : 1) * a.bytes, i, sm, start);
  const double others =
      extent_.clusters == 0 ? 1 : static_cast<double>(extent_.active_sms) / static_cast<double>(sms_.size());
  constexpr uint64_t kTwoLines = 2 * kLine;  // lie in one part of L2, as the probes say
  // So far ahead of L2 a multiprocessor may be.
  constexpr Time kHeld = 1024 * kCycle;
  Time end = asked + time(Key::global_atomic) - time(Key::l2_latency);
  double ports = 0;
  for (size_t k = 0; k < lanes;) {
    const uint64_t lines = at[k] / kTwoLines;
    double cost = 0;
    uint64_t last = UINT64_MAX, last_sector = UINT64_MAX;
    for (; k < lanes && at[k] / kTwoLines == lines; ++k) {
      if (at[k] == last) {
        cost += again;
        ports += port_again;
      } else if (at[k] / kSector != last_sector) {
        cost += sector;
        ports += port;
      }
      last = at[k];
      last_sector = at[k] / kSector;
    }
    Updated& of = updated_[lines];
    of.shared = of.shared || (of.by != 0 && of.by != at_->count);
    of.by = at_->count;
    of.free = std::max(of.free, start) + time_of(cost * (of.shared ? others : 1));
    end = std::max(end, of.free + time(Key::l2_latency) / 2);
    w.pending = std::max(w.pending, of.free - kHeld);
  }
  const Time sent = sm.updates.take(start, time_of(ports));
  w.pending = std::max(w.pending, sent - kHeld);
  return std::max(end, sent);
}

// When what one access asks for is there; `slow`: whether that is worth a word.
Time Clock::reach(const Access& a, Notes addresses, const Info& i, WarpTime& w, Time start, bool& slow) {
  Multiprocessor& sm = *sm_;
  const auto kind = static_cast<machine::AccessKind>(a.kind);
  constexpr Time kLocal = 4 * kCycle;  // wavefronts of a word of each lane's local memory
  if (machine::is_shared(a.first)) {
    const Time front = shared(a, sm, start);
    w.pending = std::max(w.pending, front - time(Key::queue));
    slow = true;
    return front + shared_latency(rank_of(a.first) != w.rank, kind);
  }
  if (machine::is_global(a.first)) {
    slow = true;
    if (kind == machine::AccessKind::update) return updated(a, addresses, i, w, start);
    if (!a.is(Access::How::each))
      return global(kind, a.first, (a.is(Access::How::row) ? machine::kLanes : 1) * uint64_t{a.bytes}, i, sm,
                    start);
    return scattered(a, addresses, i, sm, start);
  }
  if (a.first < machine::kConstWindow) return sm.memory.take(start, kLocal) + time(Key::l1_latency);
  return start;
}

[[gnu::always_inline]] inline void Clock::has_reached(const Info& i, WarpTime& w, Time start, Time done,
                                                      bool slow) {
  if (i.results == 0)
    now_ = std::max(now_, start);
  else
    give(i, w, done, slow ? i.line : 0);
}

[[gnu::always_inline]] inline void Clock::memory(const Step& step, WarpTime& w, Time start,
                                                 uint64_t address) {
  Multiprocessor& sm = *sm_;
  Time done;
  if (step.what == Step::What::shared) {
    const Time front = sm.memory.take(start, step.port);
    w.pending = std::max(w.pending, front - time(Key::queue));
    done = front + step.latency;
  } else {
    done = global(step.kind, address, step.amount, *step.info, sm, start);
  }
  has_reached(*step.info, w, start, std::max(start, done), true);
}

// Of one access of shared or global memory, which is all that it does.
bool Clock::costs_time(const Step& step, uint64_t address) {
  const Info& i = *step.info;
  WarpTime& w = *warp_;
  turn_line_ = i.line;
  if (!i.has_row) [[unlikely]]
    lacks_row(i);
  int loaded = 0;
  const Time ready = std::max(needs(i, w, loaded), behind_stores(i, w));
  const Time start = issue(i, w, *sm_, ready, loaded, false);
  has_stored(i, w, start);
  memory(step, w, start, address);
  now_ = std::max(now_, w.pending);
  return i.goes_on && start - turn_begin_ < kAhead;
}

void Clock::memory(const Info& i, WarpTime& w, Time start, Notes reached) {
  constexpr size_t kAccess = sizeof(Access) / sizeof(uint64_t);
  Time done = start;
  bool slow = false;
  while (!reached.empty()) {
    Access a;
    std::memcpy(static_cast<void*>(&a), reached.data(), sizeof a);
    const Notes addresses = reached.behind(kAccess).first(a.is(Access::How::each) ? a.many : 0);
    reached = reached.behind(kAccess + addresses.size());
    done = std::max(done, reach(a, addresses, i, w, start, slow));
  }
  has_reached(i, w, start, done, slow);
}

}  // namespace bitwell::timing
