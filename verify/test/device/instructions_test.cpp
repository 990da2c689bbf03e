// Every arithmetic and conversion instruction of the table, simulator against GPU, bit for bit.
#include <cstring>

#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/capture/digest.h"
#include "verify/probe/instruction.h"

namespace bitwell::verify {
namespace {

constexpr uint32_t kTuples = 65536;
constexpr size_t kModule = 256;  // probes a module: the driver compiles them together

uint64_t word(const std::vector<std::byte>& bytes, size_t i) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + 8 * i, 8);
  return v;
}

std::string inputs_of(const Launch& launch, size_t tuple) {
  std::string out;
  for (size_t n = 0; n + 1 < launch.buffers.size(); ++n) {
    const size_t width = launch.buffers[n].bytes.size() / kTuples;
    uint64_t v = 0;
    std::memcpy(&v, launch.buffers[n].bytes.data() + width * tuple, width);
    char text[24];
    std::snprintf(text, sizeof text, "%0*llx ", static_cast<int>(2 * width),
                  static_cast<unsigned long long>(v));
    out += text;
  }
  return out;
}

TEST(Instructions, SimulatorAndGpuAgreeOnEveryBit) {
  BITWELL_NEEDS_GPU(device);
  std::map<std::string, std::string> digests;
  const std::vector<Probe> all = probes("sm_90a");
  uint64_t compared = 0;
  for (size_t first = 0; first < all.size(); first += kModule) {
    const std::vector<Probe> some(
        all.begin() + static_cast<std::ptrdiff_t>(first),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(first + kModule, all.size())));
    const std::string text = probe_module(some, "sm_90a");
    const ptx::Module module = ptx::parse(text);
    const auto loaded = device->load(text);
    for (const Probe& p : some) {
      Launch on_gpu = probe_launch(p, kTuples, 7);
      Launch simulated = on_gpu;
      device->run(*loaded, on_gpu);
      simulate(isa::compile(module, p.entry), simulated, {}, true);
      const auto& expected = on_gpu.buffers.back().bytes;
      const auto& got = simulated.buffers.back().bytes;
      size_t wrong = 0;
      size_t shown = 0;
      const size_t results = p.results.size();
      for (size_t i = 0; i < kTuples * results; ++i) {
        if (word(expected, i) == word(got, i)) continue;
        ++wrong;
        if (++shown <= 3)
          ADD_FAILURE() << p.instruction << " " << inputs_of(on_gpu, i / results) << "result " << i % results
                        << std::hex << " => " << word(got, i) << " expected (GPU) " << word(expected, i);
      }
      if (wrong > 3)
        ADD_FAILURE() << p.instruction << ": " << wrong << " mismatches of " << kTuples * results;
      compared += kTuples * results;
      Digest digest;
      digest.add(expected);
      digests[p.instruction] = digest.hex();
    }
  }
  std::printf("%zu instructions, %llu results compared with %s (driver %s)\n", all.size(),
              static_cast<unsigned long long>(compared), device->name().c_str(), device->driver().c_str());
  record(*device, "instructions.json", digests);
}

}  // namespace
}  // namespace bitwell::verify
