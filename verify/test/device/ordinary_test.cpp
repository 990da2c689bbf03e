// nvcc's ordinary PTX, default and -G: whatever the kernels leave in memory, simulator against GPU.
#include "../kernel.h"
#include "gpu.h"
#include "verify/suite/same.h"

namespace bitwell::device {
namespace {

TEST(OrdinaryOnGpu, MemoryIsTheSame) {
  BITWELL_NEEDS_GPU(device);
  for (const char* name : {"ordinary", "ordinary_debug"}) {
    const std::string text = launch::read_file(capture::share_folder("test") + "/" + name + ".ptx");
    const test::Module module = test::module_of(text);
    const auto loaded = device->load(text);
    for (const char* entry : {"each_control", "each_choose", "each_calls", "each_local", "each_integers",
                              "each_floats", "indirect", "block_sum", "collectives", "atomics"}) {
      launch::Launch on_gpu;
      on_gpu.entry = entry;
      on_gpu.shape.grid = {64, 1, 1};
      on_gpu.shape.block = {256, 1, 1};
      on_gpu.shape.dynamic_shared = 1024;
      on_gpu.add_buffer({"out", std::vector<std::byte>(8 * 64 * 256), false, false, true});
      if (std::string(entry) == "atomics")
        on_gpu.add_buffer({"counters", std::vector<std::byte>(24), true, false, true});
      launch::Launch simulated = on_gpu;
      device->run(*loaded, on_gpu);
      test::run_ptx(module, simulated);
      for (size_t b = 0; b < on_gpu.buffers.size(); ++b)
        EXPECT_TRUE(suite::same_bits(on_gpu.buffers[b].bytes, simulated.buffers[b].bytes))
            << name << ", " << entry << ", buffer " << b;
    }
  }
}

}  // namespace
}  // namespace bitwell::device
