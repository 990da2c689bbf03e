// The events of a run as a trace that chrome://tracing and Perfetto open: CTAs are processes, warps are
// threads, operations under way have rows of their own, the end of an mbarrier's phase is a mark. Time is
// logical: one microsecond a warp instruction of the cluster.
#pragma once
#include <string>
#include <vector>

#include "model/run/launch.h"

namespace bitwell::cli {

class Trace {
 public:
  // To be handed to isa::Options. Keeps the first events and counts the others.
  machine::Observer observer();
  // The trace as JSON (the "Trace Event Format").
  std::string text() const;
  size_t events() const { return events_.size(); }
  uint64_t left_out() const { return left_out_; }

 private:
  std::vector<machine::Event> events_;
  uint64_t left_out_ = 0;
};

}  // namespace bitwell::cli
