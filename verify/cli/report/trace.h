// The events of a run as a trace that chrome://tracing and Perfetto open: CTAs are processes, warps are
// threads, operations under way have rows of their own by kind (tcgen05.mma, tcgen05.commit,
// cp.async.bulk.tensor, ...) from their issue to their end, the end of an mbarrier's phase is a mark. Time is
// logical: one microsecond a warp instruction of the cluster, for all its CTAs; or a model's. Then each kind
// of operation has a counter, too: how many of it a CTA has under way.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/event.h"
#include "model/timing/launches.h"

namespace bitwell::cli {

// What an instruction is called beside others of its kind: without where and how, "cp.async.bulk.tensor".
std::string operation_kind(const std::string& instruction);

class Trace {
 public:
  explicit Trace(const isa::Program& program);
  // To be handed to a question. Keeps the first events and counts the others.
  machine::Observer observer();
  // What time it is, in microseconds, when one is told; before any is. Without it, it is what they say.
  using Now = std::function<timing::Launches::Instant()>;
  void tell_time_by(Now now) { now_ = std::move(now); }
  // The trace as JSON (the "Trace Event Format").
  std::string text() const;
  size_t events() const { return events_.size(); }
  uint64_t left_out() const { return left_out_; }

 private:
  std::map<int, isa::Line> lines_;  // by PTX line
  Now now_;
  std::vector<machine::Event> events_;
  std::vector<timing::Launches::Instant> times_;  // of each, or none
  uint64_t left_out_ = 0;
};

}  // namespace bitwell::cli
