// What the effect of an instruction acts on and through: the warp that executes it, and the machine around
// it.
#pragma once
#include "model/run/cluster.h"

namespace bitwell::run {

// What an effect may touch.
class Context {
 public:
  Context(Cta& cta_, machine::Warp& warp_, size_t split_index_, bool checked_)
      : cta(cta_), warp(warp_), split_index(split_index_), checked(checked_) {}

  Cta& cta;
  machine::Warp& warp;
  size_t split_index;
  bool checked;
  // Lanes that came to a branch whose guard they do not know, and have not gone on (watch/unsure.h).
  uint32_t unsure = 0;

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
    if ((mask & ~known) == 0) return;
    overwritten(offset, mask & ~known);
    activation().forget(offset, mask & ~known);
  }

  // Of what a lane does that devices take, and the manual does not promise.
  void note(int lane, const std::string& text) { cta.cluster.note(cta.place(warp, split(), lane), text); }

  // Faults if a lane of `mask` holds nothing in the row.
  void require_defined(uint32_t offset, uint32_t mask, const char* what) {
    const uint32_t missing = checked ? mask & ~defined_at(offset) : 0;
    if (missing != 0) [[unlikely]]
      lacks(offset, missing, what);
  }
  // Faults where there is nobody to follow what the lane lacks (follow.h); else that is told.
  void report_missing(uint32_t row, int lane, const char* what, const std::string& more = {});

  // "PTX line 12 (load.cuh:7, from gemm.cu:30)", of any function of the program.
  std::string line_text(int ptx_line) const;

  // The lanes of `mask` read a register, and wait for the tcgen05.ld that brings it, if one does.
  void take_loaded(uint32_t offset, uint32_t mask);
  // All that the warp's tcgen05.ld are still to bring is there.
  void loads_waited();
  // The lanes of it that hold a value, after that.
  uint32_t known_at(uint32_t offset, uint32_t mask) {
    if ((mask & ~defined_at(offset)) != 0) [[unlikely]]
      take_loaded(offset, mask & ~defined_at(offset));
    return defined_at(offset);
  }
  // What a tcgen05.ld was to bring to the lanes of `mask` is not what the register gets.
  void overwritten(uint32_t offset, uint32_t mask);
  // Who wants to know what a value comes to that counts as never written, or nullptr.
  Follow* follow() const { return cta.grid.options.follow; }

  // The value of a row that all lanes share. Faults, naming `what`, where a lane holds nothing or another
  // one.
  template <class T>
  T uniform(uint32_t offset, const char* what) {
    require_defined(offset, ~0u, what);
    const T* lanes = row<T>(offset);
    for (int i = 1; i < machine::kLanes; ++i)
      if (lanes[i] != lanes[0])
        throw machine::Fault(std::string(what) + " differs between threads of a warp", i);
    return lanes[0];
  }

 private:
  void lacks(uint32_t offset, uint32_t lanes, const char* what);
};

// The lanes of `mask` as a split of their own; the others, if any, go on after the op.
machine::Split& take_lanes(Context& context, uint32_t mask);

// For .aligned instructions: whether all threads of the warp are here. If not, the split waits for them;
// Fault if they cannot come: a guard that differs between threads, or a warp that is not full.
bool whole_warp(Context& context, uint32_t mask);
// The same for .aligned barriers of the cluster: all threads of the warp that still run.
bool all_here(Context& context, uint32_t mask);

}  // namespace bitwell::run
