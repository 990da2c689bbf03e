#include "model/machine/mbarrier.h"

#include <cstring>

namespace bitwell::machine {
namespace {

constexpr size_t kArrivers = 4;  // remembered
constexpr int64_t kMostBytes = (int64_t{1} << 20) - 1;

std::string at(uint64_t address) { return " of the mbarrier at shared address " + std::to_string(address); }

}  // namespace

// 20 bits expected, 20 pending, 21 bytes (signed), 1 parity.
uint64_t encode(const MbarrierWord& w) {
  return uint64_t{w.expected} | uint64_t{w.pending} << 20 |
         (static_cast<uint64_t>(static_cast<int64_t>(w.bytes)) & 0x1FFFFF) << 40 | uint64_t{w.parity} << 61;
}

MbarrierWord decode_mbarrier(uint64_t bits) {
  const auto bytes = static_cast<int32_t>(static_cast<uint32_t>(bits >> 40 & 0x1FFFFF) << 11) >> 11;
  return {static_cast<uint32_t>(bits & kMostArrivals), static_cast<uint32_t>(bits >> 20 & kMostArrivals),
          bytes, static_cast<uint32_t>(bits >> 61 & 1)};
}

MbarrierHistory& Mbarriers::history(uint64_t address) {
  const auto found = histories_.find(address);
  if (found == histories_.end())
    throw Fault("no mbarrier at shared address " + std::to_string(address) +
                ": it was never initialised, or it was invalidated");
  return found->second;
}

MbarrierWord Mbarriers::word(uint64_t address) {
  history(address);
  uint64_t bits = 0;
  std::memcpy(&bits, shared_.raw_bytes() + (address - shared_.base()), sizeof bits);
  return decode_mbarrier(bits);
}

void Mbarriers::put(uint64_t address, const MbarrierWord& word) {
  const uint64_t bits = encode(word);
  std::memcpy(shared_.raw_bytes() + (address - shared_.base()), &bits, sizeof bits);
}

bool Mbarriers::init(uint64_t address, uint64_t count, const Place& place) {
  if (count == 0 || count > kMostArrivals)
    throw Fault("mbarrier.init with count " + std::to_string(count) + ", it must be 1 to " +
                std::to_string(kMostArrivals));
  if (const auto* live = overlapping(address, 8); live != nullptr) {
    const MbarrierHistory& h = live->second;
    const bool untouched = h.phases == 0 && h.arrivals == 0 && h.bytes_expected == 0 && h.bytes_arrived == 0;
    const MbarrierWord w = word(live->first);
    if (live->first == address && untouched && w.expected == count && w.pending == count) return true;
    throw Fault("mbarrier.init over the mbarrier at shared address " + std::to_string(live->first) +
                ", which is live: mbarrier.inval comes first");
  }
  MbarrierHistory history;
  history.initialised = place;
  histories_.emplace(address, std::move(history));
  shared_.mark_defined(address - shared_.base(), 8);
  put(address, {static_cast<uint32_t>(count), static_cast<uint32_t>(count), 0, 0});
  return false;
}

void Mbarriers::inval(uint64_t address) {
  history(address);
  histories_.erase(address);
  shared_.mark_undefined(address - shared_.base(), 8);
}

bool Mbarriers::finish(uint64_t address, MbarrierWord w) {
  const bool over = w.pending == 0 && w.bytes == 0;
  if (over) {
    w.pending = w.expected;
    w.parity ^= 1;
    MbarrierHistory& h = history(address);
    ++h.phases;
    h.last_expected = h.bytes_expected;
    h.bytes_expected = h.bytes_arrived = 0;
  }
  put(address, w);
  return over;
}

bool Mbarriers::arrive(uint64_t address, uint64_t count, const MbarrierHistory::Arriver& who) {
  MbarrierHistory& h = history(address);
  MbarrierWord w = word(address);
  if (count == 0 || count > kMostArrivals)
    throw Fault("an arrival with count " + std::to_string(count) + ", it must be 1 to " +
                std::to_string(kMostArrivals));
  if (count > w.pending)
    throw Fault("over-arrival: " + std::to_string(count) + " more while phase " + std::to_string(h.phases) +
                at(address) + " needs " + std::to_string(w.pending) + " of its " +
                std::to_string(w.expected));
  h.arrivals += count;
  std::erase_if(h.arrivers, [&](const auto& a) { return a.rank == who.rank && a.warp == who.warp; });
  h.arrivers.push_back(who);
  if (h.arrivers.size() > kArrivers) h.arrivers.pop_front();
  w.pending -= static_cast<uint32_t>(count);
  return finish(address, w);
}

bool Mbarriers::arrive_drop(uint64_t address, uint64_t count, const MbarrierHistory::Arriver& who) {
  MbarrierWord w = word(address);
  if (count > w.expected)
    throw Fault("arrive_drop of " + std::to_string(count) + at(address) + ", which expects " +
                std::to_string(w.expected) + " arrivals a phase");
  if (count <= w.pending) {
    w.expected -= static_cast<uint32_t>(count);
    put(address, w);
  }
  return arrive(address, count, who);
}

void Mbarriers::arrive_no_complete(uint64_t address, uint64_t count, bool drop,
                                   const MbarrierHistory::Arriver& who) {
  const MbarrierWord w = word(address);
  if (count == w.pending && w.bytes == 0)
    throw Fault("an arrival with .noComplete ends the phase" + at(address));
  if (drop)
    arrive_drop(address, count, who);
  else
    arrive(address, count, who);
}

void Mbarriers::increment_pending(uint64_t address) {
  MbarrierWord w = word(address);
  if (w.pending == kMostArrivals) throw Fault("the pending count" + at(address) + " overflows");
  ++w.pending;
  put(address, w);
}

bool Mbarriers::expect(uint64_t address, uint64_t bytes) {
  MbarrierWord w = word(address);
  if (bytes > static_cast<uint64_t>(kMostBytes) || w.bytes + static_cast<int64_t>(bytes) > kMostBytes)
    throw Fault("expect_tx of " + std::to_string(bytes) + " bytes takes the transaction count" + at(address) +
                " to " + std::to_string(w.bytes + static_cast<int64_t>(bytes)) + ", the limit is " +
                std::to_string(kMostBytes));
  history(address).bytes_expected += bytes;
  w.bytes += static_cast<int32_t>(bytes);
  return finish(address, w);
}

bool Mbarriers::complete(uint64_t address, uint64_t bytes) {
  MbarrierHistory& h = history(address);
  MbarrierWord w = word(address);
  if (w.bytes - static_cast<int64_t>(bytes) < -kMostBytes)
    throw Fault(std::to_string(bytes) + " bytes take the transaction count" + at(address) + " below -" +
                std::to_string(kMostBytes));
  h.bytes_arrived += bytes;
  w.bytes -= static_cast<int32_t>(bytes);
  return finish(address, w);
}

bool Mbarriers::phase_over(uint64_t address, uint32_t parity) { return word(address).parity != (parity & 1); }

const std::pair<const uint64_t, MbarrierHistory>* Mbarriers::overlapping(uint64_t address,
                                                                         uint64_t length) const {
  auto next = histories_.lower_bound(address >= 7 ? address - 7 : 0);
  return next != histories_.end() && next->first < address + length ? &*next : nullptr;
}

}  // namespace bitwell::machine
