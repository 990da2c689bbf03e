// The report when nothing can run.
#include "model/isa/cluster.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Split;
using machine::Wait;
using machine::Warp;

namespace {

uint32_t arrived(const machine::CtaBarrier& barrier) {
  uint32_t threads = barrier.arrived;
  for (const uint32_t lanes : barrier.lanes) threads += static_cast<uint32_t>(__builtin_popcount(lanes));
  return threads;
}

std::string reason(const Cta& cta, const Split& s) {
  switch (s.wait) {
    case Wait::cta_barrier: {
      const machine::CtaBarrier& b = cta.barriers[s.barrier];
      return " on barrier " + std::to_string(s.barrier) + ": " + std::to_string(arrived(b)) +
             " threads arrived of " + (b.expected == 0 ? "all" : std::to_string(b.expected));
    }
    case Wait::cluster_barrier: return " for the other threads of the cluster";
    case Wait::operations: return " for asynchronous operations that it has committed";
    default: return " for the other threads that its member mask names";
  }
}

}  // namespace

void Cluster::report_deadlock() {
  std::string text = "deadlock: nothing can run";
  int shown = 0;
  machine::Place first;
  for (const auto& cta : ctas)
    for (const Warp& w : cta->warps)
      for (const Split& s : w.splits) {
        const Function& f = grid.program.functions[static_cast<size_t>(s.activation->function)];
        const Line& line = f.lines[static_cast<size_t>(cta->op_at(s).line)];
        if (shown == 0) first = cta->place(w, s, -1);
        if (++shown > 8) continue;
        text += "\n  ";
        if (ctas.size() > 1) text += "CTA rank " + std::to_string(cta->rank) + ", ";
        text += "warp " + std::to_string(w.index) + ", " + std::to_string(__builtin_popcount(s.mask)) +
                " of " + std::to_string(__builtin_popcount(w.live())) + " threads, waits at PTX line " +
                std::to_string(line.ptx) + " '" + line.text + "'" + reason(*cta, s);
      }
  if (shown > 8) text += "\n  and " + std::to_string(shown - 8) + " more";
  for (const auto& agent : agents_) text += "\n  under way: " + agent->describe();
  throw Fault(first, text);
}

}  // namespace bitwell::isa
