// Threads and operations as the checker follows them.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "model/hazard/finding.h"
#include "model/hazard/flow/mma_registers.h"
#include "model/hazard/knowledge/knowledge.h"
#include "model/hazard/shadow/record.h"

namespace bitwell::hazard {

// The kinds of what the lanes of a warp have under way that end in the order of issue. A bulk copy's reads
// and writes end apart.
enum class Stream : uint8_t { copy, bulk_read, bulk_write, tcgen05, tensor_load, tensor_store };
inline constexpr size_t kStreams = 6;
using Numbers = std::array<uint32_t, kStreams>;
// Whether all lanes of the warp issue and wait together: lane 0 then stands for all.
inline constexpr bool of_warp(Stream s) { return s >= Stream::tensor_load; }

// Of each lane of a warp one value, which is there once while all have the same.
template <class T>
class OfLanes {
 public:
  const T& operator[](uint32_t lane) const { return each_.empty() ? all_ : each_[lane]; }
  bool alike() const {
    return each_.empty() ||
           std::all_of(each_.begin() + 1, each_.end(), [&](const T& t) { return t == each_.front(); });
  }
  // Lanes are one bit each.
  void set(uint32_t lanes, T value) {
    if (lanes == ~0u) {
      all_ = std::move(value);
      each_.clear();
    } else {
      change(lanes, [&](const T&) { return value; });
    }
  }
  void set_each(const std::array<T, machine::kLanes>& values) { each_.assign(values.begin(), values.end()); }
  // Each lane's value becomes after(value), which is asked once for lanes in a row that have the same.
  template <class After>
  void change(uint32_t lanes, After after) {
    if (lanes == ~0u && alike()) return set(lanes, after((*this)[0]));
    if (each_.empty()) each_.assign(machine::kLanes, all_);
    for (T last{}, now{}; lanes != 0;) {
      last = each_[static_cast<size_t>(std::countr_zero(lanes))];
      now = after(last);
      for (; lanes != 0 && each_[static_cast<size_t>(std::countr_zero(lanes))] == last; lanes &= lanes - 1)
        each_[static_cast<size_t>(std::countr_zero(lanes))] = now;
    }
  }

 private:
  T all_{};
  std::vector<T> each_;  // of lanes that differ
};

// What a lane comes to that does more than weak accesses between barriers.
struct Lane {
  // By relaxed loads and waits: what the next fence takes over, by its scope.
  std::array<Known, 3> seen;
  // What was known at the last fence that reaches so far, and the warp's time then: what a relaxed store
  // publishes. By scope.
  struct Offer {
    Known known;
    uint32_t time = 0;  // 0: no fence yet

    bool operator==(const Offer&) const = default;
  };
  std::array<Offer, 3> offers;
  // The same of the last fence.sc, and what the strong loads since have seen; nullptr: none of both yet.
  struct Sc {
    std::array<Offer, 3> offers;
    KnownAtFences seen;
  };
  std::unique_ptr<Sc> sc;
  Known accepted;       // at its last tcgen05.fence::after_thread_sync
  uint64_t passed = 0;  // the last phase of the cluster's barrier that it has seen over
  // The latest of each committed group that may still be waited for, oldest first: of cp.async, of bulk
  // copies.
  std::array<std::vector<uint32_t>, 2> groups;
};

// The MMAs of a warp by the PTX lines of their wgmma.mma_async, as far as their registers go.
struct MmaUse {
  std::map<int, uint64_t> issued;  // how many of the warp's there had been with the last one of that line
  uint64_t last = 0, ended = 0;    // of all; so many were waited for
  struct Reached {
    Party by;
    const MmaRegisters::Reach* what = nullptr;  // nullptr: nobody
  };
  std::map<int, Reached> reached;  // who came to registers of that line's since the last wgmma.fence
};

struct Warp {
  Domain domain;
  std::array<uint32_t, 3> cta{};
  uint32_t rank = 0;  // of the CTA in its cluster
  int number = 0;     // in its CTA
  UnitId unit = 0;
  uint32_t time = 1;
  OfLanes<Known> known;
  // By stream, numbers of operations: the latest issued, and by lane the latest that it knows to have ended.
  // Which lanes issued it is not told: numbers only rise, and a wait covers what its own lane issued.
  Numbers latest{};
  std::array<Numbers, machine::kLanes> ended{};
  const Lane& lane(uint32_t i) const { return lanes_.empty() ? kFresh : lanes_[i]; }
  // That lane, to be changed.
  Lane& own_lane(uint32_t i) {
    if (lanes_.empty()) lanes_ = std::vector<Lane>(machine::kLanes);
    return lanes_[i];
  }
  // Whether all lanes are as they began, but for what they know and have waited for.
  bool fresh() const { return lanes_.empty(); }
  uint32_t sc_lanes = 0;                   // those that have Lane::sc
  std::array<UnitId, kStreams> streams{};  // their units; 0: nothing was issued yet
  uint32_t moves = 0;                      // tcgen05.ld and .st so far
  std::vector<uint32_t> loads;             // of those the numbers of tcgen05.ld
  uint32_t loads_used = 0;                 // the last of them up to which all registers have been read
  uint32_t last_mma = 0;                   // number of the tcgen05.mma issued last
  // The tensor map that a lane has read last, in global memory, and where.
  struct {
    uint64_t address = 0;
    int ptx_line = 0;
    uint32_t lane = 0;
  } map;
  MmaUse mmas;  // of wgmma
  // Of each volatile store, by PTX line, the last: when, and which lanes did it together.
  struct Together {
    uint32_t time, lanes;
  };
  std::map<int, Together> volatile_stores;

 private:
  static const Lane kFresh;
  std::vector<Lane> lanes_;  // none, before one of them was changed
};
inline const Lane Warp::kFresh{};

// What is behind one who acts.
struct Viewer {
  const Knowledge* known;  // or nullptr
  const Warp* warp;
  uint32_t lane;
  uint32_t until;        // what this thread did up to this time of its own
  const Numbers* ended;  // as it was then

  bool own(const Epoch& e) const { return e.unit == warp->unit && e.lane == lane && e.time <= until; }
  bool knows(const Epoch& e) const {
    if (own(e) || (known != nullptr && known->happened.knows(e))) return true;
    for (size_t s = 0; s < kStreams; ++s)
      if (warp->streams[s] == e.unit)
        return (e.lane == lane || of_warp(static_cast<Stream>(s))) && (*ended)[s] >= e.time;
    return false;
  }
  // Whether a fence has told the async proxy of it; space: 0 shared, 1 global memory.
  bool fenced(const Epoch& e, size_t space) const {
    return known != nullptr && known->fenced[space].knows(e);
  }
};
inline constexpr uint32_t kNow = UINT32_MAX;

// A warpgroup's MMAs.
struct Warpgroup {
  UnitId unit = 0;
  uint64_t started = 0;  // the last that did
  // Of each MMA that has not started: what its warps knew when they issued it.
  struct Issue {
    const Warp* warp;
    Known known;
    uint32_t until;
    Numbers ended;
  };
  std::map<uint64_t, std::vector<Issue>> issued;  // by number
  std::vector<Issue> running;
  std::array<uint64_t, 4> count{};              // issued, by warp
  std::array<std::vector<uint64_t>, 4> groups;  // by warp: how many were issued at each commit, oldest first
};

// An operation under way.
struct Operation {
  machine::Ending ending{};
  Warp* by = nullptr;
  uint32_t number = 0;
  uint32_t lane = 0;   // that issued it
  uint32_t lanes = 0;  // all that have; of cp.async the first of them
  uint32_t until = 0;  // what its issuers did up to this time of theirs comes before
  Known accepted;      // by that lane, at the issue
  // At the issue, by lane, of those that have.
  OfLanes<Known> known;
  OfLanes<Numbers> ended;
  machine::TensorOrder tensor;
  uint32_t last_mma = 0;    // of its warp, issued before
  uint32_t loads_used = 0;  // of its warp, then
  // Records whose end is not known yet, and the rank of the CTA that they write to.
  struct Part {
    uint32_t record, site, rank;
  };
  std::vector<Part> unfinished;
};

// By lane of a warp: when it last used an mbarrier, and in which phase it last saw the one before over, when;
// 0: never.
struct Use {
  std::array<uint32_t, machine::kLanes> time{}, passed{}, passed_at{};
  std::array<uint32_t, machine::kLanes> matched{}, matched_at{};  // whom it last met at match.sync, when
  uint32_t site = 0, pass_site = 0;                               // of the last

  // Whether somebody knows of a lane of that warp that met this one behind its last use.
  bool known_by_match(const Viewer& v, UnitId unit, uint32_t lane) const;
};

// An mbarrier.
struct Mbarrier {
  UnitId unit = 0;  // of the copies that complete on it
  uint32_t phase = 1;
  std::vector<Act> inits;  // by all who have, with one count
  bool fenced = false;     // by one of those
  uint64_t met = 0;        // the phase of the cluster's barrier at which one of those arrived first behind it
  Message arrived, over;   // of all arrivals; of those up to the last phase that is over
  Known committed, committed_over;  // likewise, what tcgen05.commit has told of alone
  std::map<UnitId, Use> uses;
  Party last;  // who arrived last
};

// Plain writes into another CTA's shared memory that no release in the scope of the cluster has published.
struct RemoteWrites {
  std::array<uint32_t, machine::kLanes> time{};  // of the last of each lane; 0: none
  uint32_t record = 0;
};

}  // namespace bitwell::hazard
