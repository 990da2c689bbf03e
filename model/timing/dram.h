// How long loads from DRAM take, beside the mean of all.
#pragma once
#include <algorithm>
#include <cstdint>

#include "model/timing/cost.h"
#include "model/timing/server.h"

namespace bitwell::timing {

// Half of DRAM is near and half is far, and what is refreshed gives nothing until that is over. Which is
// which cannot be seen in an address: it is drawn, for the same address always the same. 4 KiB are as far as
// each other, as two runs of an H200 said that are not kept. That 1 KiB is refreshed at once, and 128 KiB at
// four times at most, is fitted to its probes of many loads together ("bursts").
class DramLatency {
 public:
  DramLatency() = default;  // all take as long
  explicit DramLatency(const Device& d)
      : spread_(time_of((d.value(Key::dram_near_late) - d.value(Key::dram_near)) / kLate)),
        further_(time_of(d.value(Key::dram_far) - d.value(Key::dram_near))),
        refresh_(time_of(d.value(Key::dram_refreshed) - d.value(Key::dram_far))),
        every_(time_of(d.value(Key::dram_refresh_every))),
        nearest_(-(further_ + spread_) / 2 -
                 time_of(cycles_of(refresh_) * cycles_of(refresh_) / (2 * cycles_of(every_)))) {}

  // How much longer than the mean one load takes of 64 bytes or less, that is asked for then.
  Time beside_mean(uint64_t address, Time at) const {
    if (every_ == 0) return 0;
    const uint64_t bank = drawn(address >> 17 << 2 | ((address >> 10 ^ address >> 12) & 3)),
                   burst = drawn(~(address >> 6));
    const auto every = static_cast<uint64_t>(every_);
    const auto into =
        static_cast<Time>((static_cast<uint64_t>(at) + bank % every) % every);  // since it began
    constexpr uint64_t kParts = 1024;
    return nearest_ + static_cast<Time>(burst % kParts) * spread_ / static_cast<Time>(kParts) +
           ((drawn(address >> 12) & 1) != 0 ? further_ : 0) + std::max(refresh_ - into, Time{0});
  }

 private:
  static constexpr double kLate = 2 * (0.4 - 0.25);  // of those that are near, between the two rows

  // As good as drawn (MurmurHash3's last steps).
  static constexpr uint64_t drawn(uint64_t number) {
    number = (number ^ number >> 33) * 0xFF51AFD7ED558CCD;
    number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53;
    return number ^ number >> 33;
  }

  Time spread_ = 0, further_ = 0, refresh_ = 0, every_ = 0;
  Time nearest_ = 0;  // beside the mean
};

}  // namespace bitwell::timing
