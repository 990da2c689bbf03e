#include "verify/cost_probe/neighbours.h"

#include <chrono>
#include <cstring>
#include <numeric>

#include "experiments/gpu/probe/probe.h"

namespace bitwell::gpu {

Rows probe_neighbours(device::Device& device) {
  constexpr uint32_t kTurns = 240;
  const auto ctas = static_cast<uint32_t>(device.multiprocessors());
  const auto module = device.load(cost_probe::reading_text());
  return cost_probe::neighbours(ctas, [&](const cost_probe::Reading& what) {
    launch::Launch launch = cost_probe::reading(what, ctas, kTurns);
    device.run(*module, launch, std::chrono::seconds(20));
    std::vector<uint64_t> all(ctas);
    std::memcpy(all.data(), launch.buffers[0].bytes.data(), 8 * all.size());
    return static_cast<double>(std::accumulate(all.begin(), all.end(), uint64_t{0})) / kTurns / ctas;
  });
}

}  // namespace bitwell::gpu
