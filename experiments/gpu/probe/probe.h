// Probes of a GPU at hand.
#pragma once
#include "verify/cost_probe/cost.h"
#include "verify/device/driver.h"

namespace bitwell::gpu {

using cost_probe::Rows;

// cost_probe::Cycles of a GPU, from the first warp's start to the last one's end, the least of five runs.
// Throws what Device does.
double cycles(device::Device& device, const cost_probe::Probe& probe, uint32_t passes);

Rows probe_grids(device::Device& device);       // launches, and the bandwidth of all multiprocessors
Rows probe_clocks(device::Device& device);      // what busy tensor cores leave of the clock
Rows probe_turns(device::Device& device);       // between a CTA and the next in its place
Rows probe_beside(device::Device& device);      // a load while copies keep L2 busy
Rows probe_latencies(device::Device& device);   // of loads from DRAM, one by one
Rows probe_neighbours(device::Device& device);  // what multiprocessors read together

}  // namespace bitwell::gpu
