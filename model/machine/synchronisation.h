// What puts the acts of one thread or operation before those of another (PTX ISA 9.0, 8 and 9.7.13), for
// those who watch.
#pragma once
#include <array>
#include <cstdint>

#include "model/machine/order.h"
#include "model/machine/tensor/tensor_order.h"

namespace bitwell::machine {

// State spaces that a proxy fence is for.
inline constexpr uint64_t kFencesShared = 1, kFencesGlobal = 2;

// How those who issued an operation learn of its end.
enum class Ending : uint8_t {
  none,        // it is nothing but an arrival at an mbarrier, for operations issued before
  copy_group,  // cp.async.wait_group, or cp.async.mbarrier.arrive
  bulk_group,  // cp.async.bulk.wait_group
  mbarrier,    // a wait at the mbarrier that it completes on
  warpgroup,   // wgmma.wait_group
  commit       // a wait at the mbarrier of a tcgen05.commit
};

// Told when it takes effect: what is told before it has happened before.
struct Synchronisation {
  enum class Kind : uint8_t {  // `which`, of the lanes that do it
    fence,                     // the state spaces, of a proxy fence; an acquiring one's tensor map
    mbarrier_init_fence,       //
    warp_met,                  // 0: the lanes met at bar.warp.sync; 1: at match.sync, which orders no memory
    cta_arrived,               // the barrier's number, at bar and barrier
    cta_passed,                // the barrier's number, which all who arrived reached
    cta_over,                  // the barrier's number: nobody has arrived at it now; no lanes
    cluster_arrived,           // the phase of barrier.cluster, counted from 1
    cluster_passed,            // the last phase that is waited for
    mbarrier_passed,           // shared::cluster address: a test or a wait saw a phase over
    mbarrier_over,             // shared::cluster address: a phase ended; no lanes
    issued,                    // an operation's number
    finished,                  // an operation's number; no lanes
    copies_committed,          // cp.async.commit_group
    copies_waited,             // cp.async.wait_group: groups that may be left; kEvery: wait_all
    bulk_committed,            // cp.async.bulk.commit_group
    bulk_waited,               // cp.async.bulk.wait_group: groups that may be left
    bulk_read,                 // the same with .read
    mma_issued,                // wgmma.mma_async, counted by its warp from 0
    mma_started,               // the same, about to read its operands: of the warpgroup of `warp`; no lanes
    mma_committed,             // wgmma.commit_group
    mma_waited,                // wgmma.wait_group: groups that may be left
    tensor_loads_waited,       // tcgen05.wait::ld
    tensor_loads_used,  // so many of the warp's tcgen05.ld, from the first on, have been read or waited for
    tensor_stores_waited,  // tcgen05.wait::st
    tensor_fence_before,   // tcgen05.fence::before_thread_sync
    tensor_fence_after,    // tcgen05.fence::after_thread_sync
    grids_waited,          // griddepcontrol.wait
    columns,               // of tensor memory: 0, they are asked for, 1, given back, or 2, waited for still
    exited,                //
    emptied,               // shared::cluster address: an operation is to write there; no lanes
    cluster_ended,         // no lanes
    dependents_let,        // griddepcontrol.launch_dependents, each time
  };
  static constexpr uint64_t kEvery = UINT64_MAX;

  Kind kind;
  Order order;                  // that the instruction states
  std::array<uint32_t, 3> cta;  // of the lanes
  int warp;
  uint32_t lanes;  // one bit each
  uint64_t which;
  uint64_t time;
  int ptx_line;
  Ending ending = Ending::none;  // of what was issued
  TensorOrder tensor{};          // likewise, where it ends with a commit
  // Of cta_arrived: the threads that the barrier waits for, 0: all that still run. Of emptied: bytes. Of
  // columns: 1, for a pair of CTAs. Of cta_passed, to who wants pieces: the warps whose lanes these are, one
  // bit each, where they come out at one instruction; `warp` is the first.
  uint32_t amount = 0;
};

}  // namespace bitwell::machine
