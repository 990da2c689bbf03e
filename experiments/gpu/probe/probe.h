// What one thing costs on a GPU, in cycles: a loop over it in PTX, timed by the multiprocessor's own clock.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/machine/tensor/tensor_map.h"
#include "verify/device/driver.h"

namespace bitwell::gpu {

// The parts of such a kernel. They can use: t_sh, the address of its shared memory; t_tid; t_in, the address
// of the buffer; t_zero, a 0 that the compiler does not know; t_lead, true in thread 0; t_warp_lead, in lane
// 0 of each warp; the parameter `map`.
struct Probe {
  std::string declare{};  // registers
  std::string before{};   // once, by every thread; a barrier follows
  std::string body{};     // what is timed
  std::string after{};    // what keeps the compiler from dropping it
  uint32_t warps = 1;
  uint32_t ctas = 1;  // one cluster
  uint32_t shared = 1024;
  uint64_t buffer = 4096;                   // bytes, all of them 0
  std::optional<machine::TensorMap> map{};  // over the buffer
};

// Text with `n` copies, `#` in each standing for its number.
std::string repeat(int n, const std::string& text);

// Cycles of one pass through the body: what `passes` more passes cost more, from the first warp's start to
// the last one's end in the first CTA, the least of five runs. Throws what Device does.
double cycles(device::Device& device, const Probe& probe, uint32_t passes = 64);

struct Row {
  std::string what, with;  // "wgmma bf16 SS", "m64n128k16, 4 in flight"
  double value;
  std::string unit;  // "cycles", "us", "GB/s"
};
using Rows = std::vector<Row>;

Rows probe_instructions(device::Device& device);  // of one warp, and of a full multiprocessor
Rows probe_memory(device::Device& device);        // latencies, shared memory's conflicts, atomics, fences
Rows probe_barriers(device::Device& device);      // of a CTA, a cluster, mbarriers
Rows probe_tensor(device::Device& device);        // mma.sync, wgmma
Rows probe_copies(device::Device& device);        // bulk and tensor copies
Rows probe_grids(device::Device& device);         // launches, and the bandwidth of all multiprocessors
Rows probe_clocks(device::Device& device);        // what busy tensor cores leave of the clock
Rows probe_beside(device::Device& device);        // a load while copies keep L2 busy

}  // namespace bitwell::gpu
