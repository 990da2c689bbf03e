// A warp: 32 lanes, as a list of splits that execute apart and merge when they meet.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "model/machine/async_group.h"
#include "model/machine/memory/unknown_bits.h"
#include "model/machine/tensor/tensor_loads.h"

namespace bitwell::run {
struct WaitKind;  // model/run/wait.h
}

namespace bitwell::machine {

inline constexpr int kLanes = 32;
inline constexpr size_t kRowBytes =
    128;  // 32 lanes of 32 bits; 64-bit values take two rows, predicates 4 bytes of one

// Memory that registers had, for the next ones of that size: it is in the host's caches, and malloc would
// give back what was freed longest ago. One for each host thread.
class SpareRows {
 public:
  // All zero. Where nobody ever writes, pages of zeros cost nothing: many warps of a persistent kernel find
  // nothing to do.
  std::byte* take(size_t bytes) {
    List& list = this->list(bytes);
    if (list.count == 0 || list.bytes != bytes) {
      auto* const out = static_cast<std::byte*>(std::calloc(bytes, 1));
      if (out == nullptr) throw std::bad_alloc();
      return out;
    }
    return static_cast<std::byte*>(std::memset(list.all[--list.count], 0, bytes));
  }
  void give(std::byte* memory, size_t bytes) {
    List& list = this->list(bytes);
    if (list.bytes != bytes) list.clear();
    list.bytes = bytes;
    if (list.count == list.all.size()) return std::free(memory);
    list.all[list.count++] = memory;
  }
  static SpareRows& here() {
    static thread_local SpareRows out;
    return out;
  }

 private:
  struct List {
    size_t bytes = 0, count = 0;
    std::array<std::byte*, 64> all;
    void clear() {
      while (count != 0) std::free(all[--count]);
    }
    ~List() { clear(); }
  };
  List& list(size_t bytes) { return lists_[bytes / kRowBytes % lists_.size()]; }
  std::array<List, 8> lists_;
};

// Registers of one function activation: rows of 32 lanes, and for each row the mask of lanes that hold a
// value.
class Rows {
 public:
  // All zero.
  explicit Rows(size_t count) : bytes_(nullptr, {}), count_(count) {
    if (count == 0) return;
    size_t room = count * (kRowBytes + sizeof(uint32_t)) + kLine;
    bytes_ = {SpareRows::here().take(room), {room}};
    void* at = bytes_.get();
    rows_ = static_cast<std::byte*>(std::align(kLine, count * kRowBytes, at, room));
  }
  size_t count() const { return count_; }
  std::byte* data() { return rows_; }
  uint32_t* defined() { return reinterpret_cast<uint32_t*>(rows_ + count_ * kRowBytes); }

 private:
  static constexpr size_t kLine = 64;
  struct Free {
    size_t bytes = 0;
    void operator()(std::byte* p) const { SpareRows::here().give(p, bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::byte* rows_ = nullptr;  // the first of them on a line
  size_t count_;
};

// One call of a function by the lanes that made it together. `local_base` is where its local memory starts in
// each lane's stack.
struct Activation {
  Activation(int function_, size_t rows_) : function(function_), rows(rows_) {}
  int function;
  Rows rows;
  uint32_t local_base = 0;
  int depth = 0;
  std::shared_ptr<Activation> caller;
  uint32_t return_pc = 0;
  uint32_t call_pc = 0;
  std::unique_ptr<UnknownBits> unknown;  // as soon as a value that is not whole was met

  // The lanes hold nothing in that row from now on.
  void forget(uint32_t row, uint32_t mask, const Origin& from = {}) {
    rows.defined()[row / kRowBytes] &= ~mask;
    if (unknown == nullptr && from.kind == Origin::Kind::nothing && !from.decided) return;
    UnknownBits::Row& bits = unknown_bits().row(row);
    bits.partial &= ~mask;
    for (; mask != 0; mask &= mask - 1) bits.origins[static_cast<size_t>(__builtin_ctz(mask))] = from;
  }
  UnknownBits& unknown_bits() {
    if (unknown == nullptr) unknown = std::make_unique<UnknownBits>(rows.count());
    return *unknown;
  }
};

// Back edges, divergent branches and calls that a split may take before others get their turn.
inline constexpr uint32_t kQuantum = 1 << 16;
// The same where it reads what others may write: it may only be waiting for them.
inline constexpr uint32_t kPollQuantum = 1 << 6;

// Lanes that execute together.
struct Split {
  std::shared_ptr<Activation> activation;
  uint32_t pc = 0;
  uint32_t mask = 0;
  const run::WaitKind* wait = nullptr;  // why it waits; nullptr: it can run
  uint32_t barrier = 0;                 // which, while it waits at one of the CTA's
  uint32_t members = 0;                 // while it waits at a warp's
  uint32_t passed_by = 0;       // lanes whose guard let them pass the aligned barrier by at which it waits
  uint64_t mbarrier = 0;        // shared::cluster address, and 1, of the one that try_wait has not passed yet
  uint64_t mbarrier_phase = 0;  // that was under way when it came there
  uint32_t mbarrier_parity = 0;  // awaited
  uint32_t budget = kQuantum;    // what is left of its turn
  uint64_t turn = 0;             // when it last used up its quantum: the longest ago goes first
  // As it was at one time: registers, and how many changes the launch had seen. The same again proves that it
  // spins.
  std::shared_ptr<const std::vector<std::byte>> seen_state;
  uint64_t seen_changes = 0;
  uint32_t looks = 0;         // how often it is yet to be compared with that
  bool polls_global = false;  // has read global memory since
  uint64_t polled_at = 0;     // where it last read what others may write meanwhile; 0: nowhere

  // To be called when it reads global memory; `strongly`: what others may write meanwhile.
  void polls(bool strongly) {
    polls_global = true;
    if (strongly && budget > kPollQuantum) budget = kPollQuantum;
  }
  bool times_out = false;       // its try_wait gives up this time
  uint32_t told_at = kNotTold;  // the pc at which an observer was told of its coming, while it is there
  static constexpr uint32_t kNotTold = UINT32_MAX;
};

// A warp's waits on one mbarrier that are over.
struct WaitsPassed {
  uint64_t count = 0;
  uint32_t parity = 0;  // the last one's
  int ptx_line = 0;
};

// So many of something, made when one is first asked for: most warps and CTAs never do, and many are short.
template <class T, size_t kMany>
class MadeWhenAsked {
 public:
  T& operator[](size_t which) {
    if (all_ == nullptr) all_ = std::make_unique<std::array<T, kMany>>();
    return (*all_)[which];
  }
  // nullptr: none was.
  const T* find(size_t which) const { return all_ == nullptr ? nullptr : &(*all_)[which]; }

 private:
  std::unique_ptr<std::array<T, kMany>> all_;
};
template <class T>
using OfLanes = MadeWhenAsked<T, kLanes>;

struct Warp {
  int index = 0;        // in its CTA
  uint32_t exists = 0;  // lanes that are threads of the CTA
  uint32_t exited = 0;
  bool producer = false;                                  // has issued asynchronous operations
  std::map<uint64_t, WaitsPassed> waits_passed;           // by mbarrier's shared::cluster address
  std::vector<std::pair<uint64_t, int>> register_counts;  // of setmaxnreg, in order, with the PTX line
  std::vector<Split> splits;
  uint64_t time_reads = 0;                   // of %clock and its like
  OfLanes<uint64_t> cluster_waits;           // the arrivals it has waited for
  OfLanes<uint64_t> cluster_arrivals;        // phases of the cluster's barrier it arrived at
  OfLanes<AsyncGroups> copies, bulk_copies;  // of cp.async and cp.async.bulk
  TensorLoads tensor_loads;
  OfLanes<std::vector<std::byte>> local;        // each lane's stack
  OfLanes<std::vector<uint8_t>> local_defined;  // as Region::defined

  uint32_t live() const { return exists & ~exited; }
  // Whether a lane has arrived at that phase of the cluster's barrier.
  bool has_arrived(int lane, uint64_t phase) const {
    const uint64_t* const arrivals = cluster_arrivals.find(static_cast<size_t>(lane));
    return arrivals != nullptr && *arrivals > phase;
  }
  bool can_run() const {
    return std::any_of(splits.begin(), splits.end(), [](const Split& s) { return s.wait == nullptr; });
  }
};

// A named barrier of a CTA (bar.sync a, b).
struct CtaBarrier {
  uint32_t expected = 0;    // threads; 0: every thread still running
  bool reduces = false;     // bar.red is under way
  bool some_ended = false;  // threads of a warp that has come, though the barrier is aligned
  uint32_t arrived = 0;
  std::array<uint32_t, 32> lanes{};  // by warp: lanes that arrived while others of the warp have not
  uint32_t count_true = 0;           // of bar.red's predicates
  uint32_t count_voted = 0;
};

}  // namespace bitwell::machine
