// One CTA at work: its warps, memories and barriers.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/isa/launch.h"
#include "model/isa/program.h"
#include "model/isa/warpgroup.h"
#include "model/machine/failure.h"
#include "model/machine/mbarrier.h"
#include "model/machine/memory.h"
#include "model/machine/warp.h"

namespace bitwell::isa {

class Cluster;

// What all CTAs of a launch share.
struct Grid {
  const Program& program;
  Shape shape;
  Options options;
  machine::GlobalMemory& global;
  machine::Region constants;   // .const variables
  machine::Region parameters;  // the entry's parameter block
  uint64_t ended = 0;          // CTAs
  std::optional<std::array<uint32_t, 3>>
      next{};  // the first CTA that starts only when the cluster under way has ended
};

class Cta {
 public:
  Cta(Cluster& cluster, std::array<uint32_t, 3> index, uint32_t rank);

  Cluster& cluster;
  Grid& grid;
  std::array<uint32_t, 3> index;
  uint32_t rank;  // in the cluster
  std::vector<machine::Warp> warps;
  machine::Region shared;
  machine::Mbarriers mbarriers{shared};
  std::array<machine::CtaBarrier, 16> barriers;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups;  // as far as used
  uint64_t lane_instructions = 0;
  uint64_t warp_instructions = 0;
  machine::Region* last_global = nullptr;  // the region that the last global access hit

  // Runs splits of the warp until all of them wait, each has had its turn, or the schedule wants to choose
  // again. Returns whether any ran.
  bool run_warp(machine::Warp& warp);
  // Whether registers, place and memory are as they were when this was last asked of the split, so that
  // whatever it does it does again and again; if not, they are remembered.
  bool repeats(machine::Split& split, uint32_t pc);
  // Lets `count` warps from `first` look again at what they waited for.
  void wake_operations(int first, int count);
  // Whether a thread is left.
  bool alive() const;

  std::shared_ptr<machine::Activation> activate(int function, machine::Warp& warp, uint32_t mask,
                                                std::shared_ptr<machine::Activation> caller);
  // Frees every split that waits at barrier `number` if enough threads have arrived.
  void try_release(uint32_t number);
  // Frees the splits of a warp that wait at bar.warp.sync with every member there.
  static void try_release_warp(machine::Warp& warp);
  std::array<uint32_t, 3> thread_index(const machine::Warp& warp, int lane) const;
  const Op& op_at(const machine::Split& split) const;
  const Line& line(const machine::Split& split) const;
  machine::Place place(const machine::Warp& warp, const machine::Split& split, int lane) const;

 private:
  template <bool Checked>
  void run_split(machine::Warp& warp, size_t split, uint32_t limit);
  size_t choose(const machine::Warp& warp) const;
  void merge(machine::Warp& warp);
  uint64_t special(Special s, const machine::Warp& warp, int lane,
                   const machine::Activation& activation) const;
  uint64_t clock_ = 0;
};

// What an effect may touch.
class Context {
 public:
  Context(Cta& cta_, machine::Warp& warp_, size_t split_index_, bool checked_)
      : cta(cta_), warp(warp_), split_index(split_index_), checked(checked_) {}

  Cta& cta;
  machine::Warp& warp;
  size_t split_index;
  bool checked;

  machine::Split& split() { return warp.splits[split_index]; }
  machine::Activation& activation() { return *split().activation; }
  std::byte* rows() { return activation().rows.data(); }
  uint32_t* defined() { return activation().rows.defined(); }
  template <class T>
  T* row(uint32_t offset) {
    return reinterpret_cast<T*>(rows() + offset);
  }
  uint32_t& defined_at(uint32_t offset) { return defined()[offset / machine::kRowBytes]; }
  void set_defined(uint32_t offset, uint32_t mask) { defined_at(offset) |= mask; }
  // The lanes of `mask` hold a value where `known` says so, and nothing elsewhere.
  void set_known(uint32_t offset, uint32_t mask, uint32_t known) {
    defined_at(offset) |= known & mask;
    if ((mask & ~known) != 0) activation().forget(offset, mask & ~known);
  }

  // Faults if a lane of `mask` holds nothing in the row.
  void require_defined(uint32_t offset, uint32_t mask, const char* what) {
    const uint32_t missing = checked ? mask & ~defined_at(offset) : 0;
    if (missing != 0) report_missing(offset, __builtin_ctz(missing), what);
  }
  [[noreturn]] void report_missing(uint32_t row, int lane, const char* what);  // definedness.cpp
};

// The lanes of `mask` as a split of their own; the others, if any, go on after the op.
machine::Split& take_lanes(Context& context, uint32_t mask);

}  // namespace bitwell::isa
