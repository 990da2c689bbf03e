// Loads and stores: shared memory, L1, L2, DRAM.
#include <algorithm>
#include <bit>
#include <cstring>

#include "model/timing/clock_state.h"

namespace bitwell::timing {
namespace {

// The same address always says the same.
bool falls_below(uint64_t address, double part) {
  const uint64_t mixed = (address / kLine) * 0x9E3779B97F4A7C15;
  return static_cast<double>(mixed >> 40) < part * static_cast<double>(1 << 24);
}

constexpr uint64_t kSector = 32, kSectors = kLine / kSector;

}  // namespace

double Clock::part_from_dram(uint64_t address, Asked** asked) {
  const auto holds = [&](const Region& r) { return address >= r.base && address < r.end; };
  if (!holds(regions_.front())) {
    auto at = std::find_if(regions_.begin() + 1, regions_.end(), holds);
    if (at == regions_.end()) {
      const machine::Region* region = global_->find(address, 1);
      if (region == nullptr) {
        if (asked != nullptr) *asked = nullptr;
        return 1;
      }
      const auto known = from_dram_.find(region->base());
      Asked& of = asked_[region->base()];
      of.name = region->name();
      of.size = region->size();
      *--at = {region->base(), region->base() + region->size(), known == from_dram_.end() ? 1 : known->second,
               &of};
    }
    std::rotate(regions_.begin(), at, at + 1);
  }
  if (asked != nullptr) *asked = regions_.front().asked;
  return regions_.front().from_dram;
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
    arrival = &touched_[address / kLine];
    far = *arrival < 0;
    part = far ? 1 : 0;
    on_its_way = *arrival;
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

// Words that follow each other, or are one, meet nowhere in shared memory.
double Clock::shared(const Access& a, Multiprocessor& sm, double start) {
  const uint32_t fronts = a.is(Access::How::wavefronts) ? a.many : std::max(a.bytes, 4u) / 4;
  return sm.memory.take(start, fronts * value(Key::shared_interval));
}

// By what lanes reach of lines: the sectors of each, and where the first byte lies that is reached in one.
struct Clock::Sectors {
  struct Line {
    uint64_t line;
    uint32_t sectors;  // a bit each
  };
  std::array<Line, 32 * 17> lines;
  size_t count = 0;  // of lines
  uint32_t all = 0;  // sectors
  const Access& access;
  const Notes addresses;

  Sectors(const Access& a, Notes those) : access(a), addresses(those) {
    if (!a.is(Access::How::each)) {
      add_from(a.first, a.first + (a.is(Access::How::row) ? uint64_t{machine::kLanes} : 1) * a.bytes);
    } else {
      bool ascend = true;
      for (const uint64_t from : addresses) {
        ascend = ascend && (count == 0 || from / kLine >= lines[count - 1].line);
        add_from(from, from + a.bytes);
      }
      if (!ascend) {
        std::sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count),
                  [](const Line& x, const Line& y) { return x.line < y.line; });
        join();
      }
    }
    constexpr std::array<uint8_t, 1 << kSectors> kBits{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    for (size_t i = 0; i < count; ++i) all += kBits[lines[i].sectors];
  }
  // A sector may begin before the region in which the bytes lie that are reached in it.
  uint64_t first_byte(uint64_t sector) const {
    if (!access.is(Access::How::each)) return std::max(access.first, sector * kSector);
    for (const uint64_t from : addresses)
      if (from / kSector <= sector && sector <= (from + access.bytes - 1) / kSector)
        return std::max(from, sector * kSector);
    return sector * kSector;
  }
  uint64_t lowest() const {
    const Line& l = lines.front();
    return first_byte(l.line * kSectors + static_cast<uint64_t>(std::countr_zero(l.sectors)));
  }

 private:
  void add_from(uint64_t from, uint64_t to) {
    for (uint64_t line = from / kLine; line * kLine < to && count < lines.size(); ++line) {
      const uint64_t begin = line * kLine;
      const uint64_t first = from > begin ? (from - begin) / kSector : 0;
      const uint64_t last = std::min((to - 1 - begin) / kSector, kSectors - 1);
      if (count == 0 || lines[count - 1].line != line) lines[count++] = {line, 0};
      lines[count - 1].sectors |= (2u << last) - (1u << first);
    }
  }
  // Lines that stand there several times.
  void join() {
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i)
      if (kept != 0 && lines[kept - 1].line == lines[i].line)
        lines[kept - 1].sectors |= lines[i].sectors;
      else
        lines[kept++] = lines[i];
    count = kept;
  }
};

double Clock::global(const Access& a, Notes addresses, const Info& i, Multiprocessor& sm, double start) {
  const Sectors sectors(a, addresses);
  constexpr double kProbed = 512;
  const double data = static_cast<double>(sectors.all) * 32 * value(Key::l1_interval) / kProbed;
  double end = sm.memory.take(start, std::max(static_cast<double>(sectors.count), data));
  warp_->pending = std::max(warp_->pending, end - value(Key::queue));
  if (a.is(machine::AccessKind::write)) {
    const double bytes = static_cast<double>(sectors.all) * 32;
    sm.l2.take(start, bytes);
    l2_.take(start, bytes);
    Asked* asked = nullptr;
    if (sectors.count != 0) part_from_dram(sectors.lowest(), &asked);
    if (asked != nullptr) asked->written += bytes;
    dram_.take(start, bytes);
    return end;
  }
  const double queued = end;
  end = queued + value(Key::l1_latency);
  const bool cached = a.is(machine::AccessKind::read) && i.cached;
  for (size_t k = 0; k < sectors.count; ++k) {
    const auto [line, wanted] = sectors.lines[k];
    for (uint32_t missing = cached ? sm.l1.misses(line, touched_.number(line), wanted) : wanted;
         missing != 0;) {
      const auto first = static_cast<uint32_t>(std::countr_zero(missing));
      const auto run = static_cast<uint32_t>(std::countr_one(missing >> first));
      end = std::max(end, from_l2(sectors.first_byte(line * kSectors + first), run * 32.0, sm, queued,
                                  value(Key::l2_latency), value(Key::dram_latency)));
      missing &= ~(((1u << run) - 1) << first);
    }
  }
  return end;
}

void Clock::memory(const Info& i, WarpTime& w, double start, Notes reached) {
  Multiprocessor& sm = *sm_;
  const bool loads = i.results != 0;
  double done = start;
  bool slow = false;
  constexpr double kLocal = 4;  // wavefronts of a word of each lane's local memory
  while (!reached.empty()) {
    Access a;
    std::memcpy(static_cast<void*>(&a), reached.data(), sizeof a);
    const Notes addresses =
        reached.subspan(sizeof a / sizeof(uint64_t), a.is(Access::How::each) ? a.many : 0);
    reached = reached.subspan(sizeof a / sizeof(uint64_t) + addresses.size());
    if (a.first >= machine::kSharedWindow && a.first < machine::kLocalWindow) {
      const uint64_t rank = (a.first - machine::kSharedWindow) >> machine::kRankShift;
      const bool remote = rank != w.rank;
      const double front = shared(a, sm, start);
      w.pending = std::max(w.pending, front - value(Key::queue));
      done = std::max(done, front + value(remote                              ? Key::remote_latency
                                          : a.is(machine::AccessKind::update) ? Key::shared_atomic
                                                                              : Key::shared_latency));
      slow = true;
    } else if (machine::is_global(a.first)) {
      const double fetched = global(a, addresses, i, sm, start);
      const bool update = a.is(machine::AccessKind::update);
      done = std::max(done, update ? fetched + value(Key::global_atomic) - value(Key::l2_latency) : fetched);
      slow = true;
    } else if (a.first < machine::kConstWindow) {
      done = std::max(done, sm.memory.take(start, kLocal) + value(Key::l1_latency));
    }
  }
  if (!loads) {
    now_ = std::max(now_, start);
    return;
  }
  for (const uint32_t d : results(i)) w.rows[d] = {done, slow ? i.line : 0};
  w.given = std::max(w.given, done);
}

}  // namespace bitwell::timing
