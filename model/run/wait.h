// Why splits wait. The family of an instruction gives it, as a row; the engine asks only what ends it.
#pragma once
#include <string>

#include "model/machine/warp.h"

namespace bitwell::run {

class Cluster;
class Cta;
struct Grid;

// A split that waits when nothing can go on.
struct Waiter {
  const Cta* cta;
  const machine::Warp* warp;
  const machine::Split* split;
};

struct WaitKind {
  // What follows "waits at PTX line 12 'bar.sync'" where nothing can go on: " on barrier 0: 12 threads
  // arrived of 64".
  std::string (*why)(Cluster& cluster, const Waiter& waiter);
  // It looks again whenever an operation of its CTA has gone on (Cta::wake_operations).
  bool looks_again = false;
  // It looks at memory again and again, asleep or in a loop: others may write there (Split::polls_global),
  // and it may be an mbarrier (Split::mbarrier).
  bool polls = false;
  // It gives up when nothing can go on, as it does on a device after a while.
  bool gives_up = false;
  // Of one for what no thread of the cluster does: whether that has come. Asked before each choice of a turn.
  bool (*over)(const Grid& grid) = nullptr;
};

// Of the engine's own: at an instruction that more lanes of the warp must reach; in a loop that cannot end
// unless something changes; for operations that the warp has committed.
extern const WaitKind kMeets, kSpins, kForOperations;
// At barriers of a CTA, a warp, a cluster, which those who arrive there end (barriers.cpp).
extern const WaitKind kAtCtaBarrier, kAtWarpBarrier, kAtClusterBarrier;

// What WaitKind::why says of one that polls an mbarrier or global memory, whichever it does; of one for other
// threads of its warp.
std::string polled_memory(Cluster& cluster, const Waiter& waiter);
std::string others_of_warp(Cluster& cluster, const Waiter& waiter);

}  // namespace bitwell::run
