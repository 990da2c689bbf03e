// Tensor loads and stores in im2col mode on the GPU: what it leaves is what the simulator leaves.
#include "../isa/copy/im2col_launch.h"
#include "../kernel.h"
#include "gpu.h"

namespace bitwell::device {
namespace {

TEST(Im2col, TheGpuLoadsWhatTheSimulatorLoads) {
  BITWELL_NEEDS_GPU(device);
  for (const isa::Window& window : isa::windows()) {
    const auto places = isa::places_of(window);
    for (const size_t first : {0u, 1u, 5u, 17u})
      for (const int64_t channel : {0, 8, 16})
        for (const auto& offsets : {std::array{0, 0}, {2, 0}, {1, 2}}) {
          const auto& [w, h, n] = places[first];
          auto [text, simulated] = isa::im2col_launch(isa::map_of(window), {channel, w, h, n}, offsets);
          launch::Launch on_gpu = simulated;
          test::run_ptx(text, simulated);
          device->run(*device->load(text), on_gpu);
          EXPECT_EQ(on_gpu.buffers[0].bytes, simulated.buffers[0].bytes)
              << "window from " << window.lower[0] << ", " << window.lower[1] << " in steps of "
              << window.step << ", from place " << first << ", channel " << channel << ", offsets "
              << offsets[0] << ", " << offsets[1];
        }
  }
}

TEST(Im2col, TheGpuStoresWhatTheSimulatorStores) {
  BITWELL_NEEDS_GPU(device);
  for (const isa::Window& window : isa::inner_windows()) {
    const auto places = isa::places_of(window);
    for (const size_t first : {0u, 1u, 5u})
      for (const int64_t channel : {0, 8, 16}) {
        const auto& [w, h, n] = places[first];
        auto [text, simulated] = isa::im2col_store_launch(isa::map_of(window), {channel, w, h, n});
        launch::Launch on_gpu = simulated;
        test::run_ptx(text, simulated);
        device->run(*device->load(text), on_gpu);
        EXPECT_EQ(on_gpu.buffers[0].bytes, simulated.buffers[0].bytes)
            << "window from " << window.lower[0] << ", " << window.lower[1] << " in steps of " << window.step
            << ", from place " << first << ", channel " << channel;
      }
  }
}

}  // namespace
}  // namespace bitwell::device
