#include "experiments/gpu/probe/probe.h"

#include <algorithm>
#include <cstring>

namespace bitwell::gpu {
namespace {

double run_once(device::Device& device, device::Device::Module& module, const cost_probe::Probe& p,
                uint32_t passes) {
  launch::Launch launch = cost_probe::launch_of(p, passes);
  device.run(module, launch, std::chrono::seconds(20));
  uint64_t first = UINT64_MAX, last = 0;
  for (uint32_t w = 0; w < p.warps; ++w) {
    std::array<uint64_t, 2> clock{};
    std::memcpy(clock.data(), &launch.buffers.front().bytes[16 * w], 16);
    first = std::min(first, clock[0]);
    last = std::max(last, clock[1]);
  }
  return static_cast<double>(last - first);
}

}  // namespace

double cycles(device::Device& device, const cost_probe::Probe& probe, uint32_t passes) {
  const auto module = device.load(cost_probe::text_of(probe));
  double few = 0, many = 0;
  for (int i = 0; i < 5; ++i) {
    const double a = run_once(device, *module, probe, passes),
                 b = run_once(device, *module, probe, 2 * passes);
    few = i == 0 ? a : std::min(few, a);
    many = i == 0 ? b : std::min(many, b);
  }
  return (many - few) / passes;
}

}  // namespace bitwell::gpu
