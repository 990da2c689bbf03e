// Warps of a quarter that compute side by side: they ask for the same pipes, and none waits for its turn in
// the order in which the model happens to look at them.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/timing/server.h"

namespace bitwell::timing {

constexpr Time kHeard = 1000 * kCycle;  // as far as a warp may go before the others
constexpr Time kLongAgo = -(Time{1} << 40);

class Crowd {
 public:
  static constexpr size_t kMost = 16;  // warps of a quarter

  Crowd() { until_.fill(kLongAgo); }
  // A place for another warp.
  uint8_t comes() { return static_cast<uint8_t>(come_++ % kMost); }
  // How many compute at that time, with the one of that place. Of one that did until a while before no more
  // is known yet: it most likely goes on.
  size_t at(uint8_t place, Time time) const {
    size_t others = 0;
    for (size_t k = 0; k < kMost; ++k) others += from_[k] <= time && until_[k] + kHeard >= time ? 1 : 0;
    return others + (from_[place] <= time && until_[place] + kHeard >= time ? 0 : 1);
  }
  void computes(uint8_t place, Time from, Time until) {
    if (from > until_[place] + kHeard) from_[place] = from;
    until_[place] = until;
  }

  // What each of them takes longer, by how many there are: by mean value analysis of a closed queue, in which
  // a warp finds the others as often where it comes to as it finds them there on average. `alone` is what it
  // takes by itself, `busy` how long it keeps what all of them need.
  static std::array<Time, kMost + 1> longer(Time alone, Time busy) {
    std::array<Time, kMost + 1> out{};
    const auto whole = static_cast<double>(alone), asks = static_cast<double>(std::min(busy, alone));
    double queue = 0;
    for (size_t warps = 1; warps <= kMost && asks > 0; ++warps) {
      const double there = asks * (1 + queue), all = whole - asks + there;
      queue = static_cast<double>(warps) * there / all;
      out[warps] = static_cast<Time>(all - whole);
    }
    return out;
  }
  // And by how much that grows where it keeps `slowed` instead of `busy`.
  static std::array<Time, kMost + 1> longer(Time alone, Time busy, Time slowed) {
    const Time whole = std::max(alone, slowed);
    const std::array<Time, kMost + 1> before = longer(alone, busy);
    std::array<Time, kMost + 1> out = longer(whole, slowed);
    for (size_t warps = 1; warps <= kMost; ++warps) out[warps] += whole - alone - before[warps];
    return out;
  }

 private:
  std::array<Time, kMost> from_{}, until_;
  uint32_t come_ = 0;
};

// Warps of a quarter that hand wgmmas over to its tensor core. Who does so in the same while does so at the
// same time, as warpgroups do that begin together: then each takes as long as all.
class Products {
 public:
  Products() { latest_.fill(kLongAgo); }
  // That many warps with the one of that place, which does so now.
  size_t hand_over(uint8_t place, Time now) {
    latest_[place] = now;
    return static_cast<size_t>(
        std::count_if(latest_.begin(), latest_.end(), [&](Time t) { return t + kHeard > now; }));
  }

 private:
  std::array<Time, Crowd::kMost> latest_;
};

}  // namespace bitwell::timing
