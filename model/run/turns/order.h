// Clusters in the order in which one of each can go on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/run/turns/chooser.h"

namespace bitwell::run {

// A heap of which the first is looked at, has its turn, and is put where it belongs then: the one that can go
// on first; of two at one time that of the lower number.
class Order {
 public:
  class Next {
   public:
    // `warp`: who it is there; kNoWarp: an operation. No time is below 0.
    Next(Instant at, uint32_t cluster, uint32_t warp)
        : key_(Key{static_cast<uint64_t>(at)} << 64 | uint64_t{cluster} << 32 | warp) {}
    uint32_t cluster() const { return static_cast<uint32_t>(key_ >> 32); }
    uint32_t warp() const { return static_cast<uint32_t>(key_); }
    bool operator<(const Next& o) const { return key_ < o.key_; }

   private:
    __extension__ using Key = unsigned __int128;
    Key key_;
  };
  static constexpr uint32_t kNoWarp = UINT32_MAX;

  bool empty() const { return all_.empty(); }
  const Next& first() const { return all_.front(); }
  // Who is the first but for the first; nullptr: nobody. Until something is pushed or popped it stays that
  // place.
  const Next* second() const { return least_below(0); }
  void push(const Next& next) {
    all_.push_back(next);
    size_t at = all_.size() - 1;
    for (; at != 0 && next < all_[(at - 1) / kBelow]; at = (at - 1) / kBelow)
      all_[at] = all_[(at - 1) / kBelow];
    all_[at] = next;
  }
  // Who has come near the front; nullptr: nobody.
  struct Near {
    const Next* soon = nullptr;   // one of the next turns is its
    const Next* later = nullptr;  // one of some twenty
  };
  // The first, that is; `second`: as it is.
  Near replace(const Next& next, const Next* second) {
    constexpr size_t kSoon = 1 + kBelow, kLater = kSoon + kBelow * kBelow;
    Near near;
    size_t at = 0;
    for (const Next* least = second; least != nullptr && *least < next; least = least_below(at)) {
      all_[at] = *least;
      at = static_cast<size_t>(least - all_.data());
      if (at < kLater) (at < kSoon ? near.soon : near.later) = least;
    }
    all_[at] = next;
    return near;
  }
  void pop() {
    const Next last = all_.back();
    all_.pop_back();
    if (!all_.empty()) replace(last, second());
  }

 private:
  static constexpr size_t kBelow = 4;  // each stands above so many
  const Next* least_below(size_t at) const {
    const size_t from = kBelow * at + 1;
    const Next* const below = all_.data() + from;
    const auto less = [](const Next* a, const Next* b) { return *b < *a ? b : a; };
    if (from + kBelow <= all_.size()) return less(less(below, below + 1), less(below + 2, below + 3));
    const Next* out = nullptr;
    for (size_t i = from; i < all_.size(); ++i) out = out == nullptr ? &all_[i] : less(out, &all_[i]);
    return out;
  }
  std::vector<Next> all_;
};

}  // namespace bitwell::run
