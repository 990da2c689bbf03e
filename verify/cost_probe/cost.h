// What one thing costs on a device, in cycles: a loop over it in PTX, whose passes a GPU times by the
// multiprocessor's own clock, or the model of time by its own.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/tensor/tensor_map.h"
#include "verify/launch/launch.h"

namespace bitwell::cost_probe {

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
  // What it tells is not the time of a pass: it reads the clock in the body, and t_to says how long that was.
  bool tells_another = false;
  // It is of DRAM: what a pass costs hangs on when and where it is. So many passes settle that.
  uint32_t settles = 0;
};

// Text with `n` copies, `#` in each standing for its number.
std::string repeat(int n, const std::string& text);

// The kernel: entry "probe", for sm_90a. Its first buffer gets the clock at the begin and the end of each
// warp of the first CTA, 8 bytes each.
std::string text_of(const Probe& probe);
// Its launch, without a module.
launch::Launch launch_of(const Probe& probe, uint32_t passes);

inline constexpr uint32_t kPasses = 64;  // that settle what a pass costs on a GPU
// Cycles of one pass through the body: what so many more passes cost more. NaN: whoever times cannot tell.
using Cycles = std::function<double(const Probe&, uint32_t passes)>;

struct Row {
  std::string what, with;  // "wgmma bf16 SS", "m64n128k16, 4 in flight"
  double value;
  std::string unit;  // "cycles", "us", "GB/s"
};
using Rows = std::vector<Row>;

Rows instructions(const Cycles& cycles);  // of one warp, and of a full multiprocessor
Rows memory(const Cycles& cycles);        // latencies, shared memory's conflicts, atomics, fences
Rows barriers(const Cycles& cycles);      // of a CTA, a cluster, mbarriers
Rows tensor(const Cycles& cycles);        // mma.sync, wgmma
Rows copies(const Cycles& cycles);        // bulk and tensor copies

}  // namespace bitwell::cost_probe
