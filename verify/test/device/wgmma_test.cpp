// Matrix descriptors on the GPU: simulator and GPU read the same bytes for random ones.

#include "verify/probe/wgmma.h"

#include "../kernel.h"
#include "gpu.h"

namespace bitwell::device {
namespace {

TEST(Wgmma, SimulatorAndGpuAgreeOnEveryDescriptor) {
  BITWELL_NEEDS_GPU(device);
  Recording recording;
  size_t descriptors = 0;
  for (const probe::WgmmaVariant& v : probe::wgmma_variants()) {
    const std::string text = probe::wgmma_module(v);
    const auto loaded = device->load(text);
    const test::Module module = test::module_of(text);
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      launch::Launch on_gpu = probe::wgmma_launch(v, probe::kWgmmaRecorded, seed);
      launch::Launch simulated = on_gpu;
      device->run(*loaded, on_gpu);
      test::run_ptx(module, simulated);
      descriptors += 2 * probe::kWgmmaRecorded;
      const auto& got = on_gpu.buffers.back().bytes;
      const auto& expected = simulated.buffers.back().bytes;
      if (seed == 1) recording.add(v.name, on_gpu);
      if (got == expected) continue;
      size_t wrong = 0;
      std::string where;
      const size_t each = got.size() / probe::kWgmmaRecorded;
      for (size_t c = 0; c < probe::kWgmmaRecorded; ++c)
        if (!std::equal(got.begin() + static_cast<std::ptrdiff_t>(c * each),
                        got.begin() + static_cast<std::ptrdiff_t>((c + 1) * each),
                        expected.begin() + static_cast<std::ptrdiff_t>(c * each)))
          where += ++wrong <= 12 ? " " + std::to_string(c) : "";
      ADD_FAILURE() << v.name << ", seed " << seed << ": " << wrong << " of " << probe::kWgmmaRecorded
                    << " CTAs differ:" << where;
    }
  }
  std::printf("%zu matrix descriptors compared with %s (driver %s)\n", descriptors, device->name().c_str(),
              device->driver().c_str());
  recording.write(*device, "wgmma");
}

}  // namespace
}  // namespace bitwell::device
