// An asynchronous operation under way: something that takes turns with the warps.
#pragma once
#include <cstdint>
#include <string>

#include "model/machine/failure.h"
#include "model/machine/synchronisation.h"

namespace bitwell::machine {

// What operations have done.
struct Work {
  uint64_t bytes = 0;     // moved: of each that is read, once
  uint64_t products = 0;  // of numbers, in products of matrices
};

// What the next step of one that is ready is to do, for who gives it a time.
struct Task {
  enum class Kind : uint8_t {
    other,
    load,             // a bulk copy to shared memory
    store,            // one to global memory, or a reduction there
    lanes,            // a few bytes of each lane
    multiply,         // of a warpgroup
    tensor_multiply,  // in tensor memory
    tensor_copy,      // to tensor memory, or within it
    commit            // arrives when those two are done
  } kind = Kind::other;
  uint64_t bytes = 0;        // that move
  uint64_t sectors = 0;      // of 32 bytes of global memory, in which they lie
  uint64_t global = 0;       // where the first of them are in global memory; 0: nowhere
  uint64_t last = 0;         // and the last, of lanes
  bool tensor_map = false;   // says where the others are
  uint32_t ranks = 0;        // of the CTAs that get them, a bit each; 0: the issuer's
  uint32_t m = 0, n = 0;     // of a product; m of tcgen05
  uint32_t ctas = 1;         // that multiply together
  bool a_elsewhere = false;  // than in shared memory: in registers or tensor memory
  uint64_t lines =
      0;  // of at most 128 bytes, in which they are fetched or stored: a box's row has one or more
};

class Agent {
 public:
  virtual ~Agent() = default;
  // Whether it can go on now. One that waits for others (a warpgroup's MMA for its last warp) says no.
  virtual bool ready() const { return true; }
  // Does the next piece; returns true when nothing is left to do. Throws Fault, not placed.
  virtual bool step() = 0;
  virtual Task task() const { return {}; }
  // Whether it is still to write some of these bytes of shared memory, which hold nothing until then.
  virtual bool fills(uint64_t, uint64_t) const { return false; }  // shared::cluster address, length
  // The mbarrier that it completes on where it fills that address: shared::cluster address, and 1; 0: none.
  virtual uint64_t completes_on(uint64_t) const { return 0; }
  // For reports: "cp.async.bulk of 4096 bytes, 1024 arrived".
  virtual std::string describe() const = 0;
  // Whether it carries several operations, each of which it tells of itself (Cluster::tell).
  virtual bool tells_of_each() const { return false; }

  Ending ending = Ending::none;
  IssuePlace place;    // of the instruction that issued it
  uint32_t lanes = 0;  // that issued it, where several have, each the same; 0: the one of `place`
  int issuer = 0;      // the warp that issued it
  uint64_t id = 0;     // in the order of issue
  Work work;           // so far
};

}  // namespace bitwell::machine
