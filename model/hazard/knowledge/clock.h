// Vector clocks: what a thread knows to have happened (FastTrack, Flanagan and Freund, PLDI 2009).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/hazard/knowledge/counted.h"
#include "model/machine/warp.h"

namespace bitwell::hazard {

// A unit has 32 lanes and a time of each: a warp, whose time passes when it orders others behind itself, or
// one kind of operation that its lanes have under way, whose time is the operation's number. Of an mbarrier's
// copies lane 0 alone counts, in phases.
using UnitId = uint32_t;

// One act: the lane's unit had come to that time.
struct Epoch {
  UnitId unit;
  uint32_t lane;
  uint32_t time;
};

class Clock {
 public:
  // Most that are copied know nothing: that is seen without a call.
  Clock() = default;
  Clock(const Clock& other) {
    if (!other.empty()) entries_ = other.entries_;
  }
  Clock(Clock&&) = default;
  Clock& operator=(const Clock& other) {
    if (!empty() || !other.empty()) entries_ = other.entries_;
    return *this;
  }
  Clock& operator=(Clock&&) = default;
  ~Clock() = default;

  // What is known of the unit's lane: everything up to this time; 0: nothing.
  uint32_t at(UnitId unit, uint32_t lane) const {
    const Entry* e = find(unit);
    return e == nullptr ? 0 : e->at(lane);
  }
  // The same of every lane of the unit.
  uint32_t least(UnitId unit) const {
    const Entry* e = find(unit);
    return e == nullptr ? 0 : e->least;
  }
  // Of that lane, and of the one of which most is known.
  std::pair<uint32_t, uint32_t> range(UnitId unit) const;
  uint32_t most(UnitId unit) const { return range(unit).second; }
  bool knows(const Epoch& e) const { return at(e.unit, e.lane) >= e.time; }

  // Whether everything is known that `other` knows.
  bool covers(const Clock& other) const { return other.empty() || covers_all(other); }
  // From now on everything is known that `other` knows.
  void join(const Clock& other) {
    if (!other.empty()) join_all(other);
  }
  // The lanes of the unit (one bit each) are known up to `time`, if they were not already.
  void raise(UnitId unit, uint32_t lanes, uint32_t time);
  // Of the unit's lanes what both know.
  void raise_common(const Clock& a, const Clock& b, UnitId unit);
  bool empty() const { return entries_.empty(); }
  // Whether of every unit that is known all lanes are known up to the same time.
  bool of_whole_units() const {
    return std::ranges::all_of(entries_, [](const Entry& e) { return e.is_whole(); });
  }
  // Bytes that it takes.
  size_t bytes() const;

 private:
  using Row = std::array<uint32_t, machine::kLanes>;
  // While all lanes of a unit are known up to the same time, or all but one, of which more is, there is no
  // row.
  struct Entry {
    UnitId unit;
    uint32_t least;
    uint32_t ahead = 0, most = least;  // that one, and its time
    Counted<const Row> lanes = nullptr;

    bool is_whole() const { return lanes == nullptr && most == least; }
    uint32_t at(uint32_t lane) const {
      return lanes != nullptr ? (*lanes)[lane] : lane == ahead ? most : least;
    }
  };
  // The place of that unit, or the one before which it belongs.
  size_t place_of(UnitId unit) const {
    // The warps of a cluster follow one another, as they do here where all are known.
    if (!entries_.empty())
      if (const size_t guess = unit - entries_.front().unit;
          guess < entries_.size() && entries_[guess].unit == unit)
        return guess;
    return searched(unit);
  }
  size_t searched(UnitId unit) const;
  const Entry* find(UnitId unit) const {
    const size_t at = place_of(unit);
    return at < entries_.size() && entries_[at].unit == unit ? &entries_[at] : nullptr;
  }
  bool covers_all(const Clock& other) const;
  void join_all(const Clock& other);
  static bool covers(const Entry& a, const Entry& b);
  static Entry merged(const Entry& a, const Entry& b);
  static Entry of(UnitId unit, const Row& row);

  std::vector<Entry> entries_;  // by unit, ascending
};

}  // namespace bitwell::hazard
