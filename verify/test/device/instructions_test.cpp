// Every arithmetic and conversion instruction of the table, simulator against GPU, bit for bit.
#include <cstring>

#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/probe/recorded.h"

namespace bitwell::verify {
namespace {

constexpr size_t kModule = 256;  // probes a module: the driver compiles them together

uint64_t word(const std::vector<std::byte>& bytes, size_t i) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + 8 * i, 8);
  return v;
}

std::string inputs_of(const Launch& launch, size_t tuple, size_t tuples) {
  std::string out;
  for (size_t n = 0; n + 1 < launch.buffers.size(); ++n) {
    const size_t width = launch.buffers[n].bytes.size() / tuples;
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
  Tuples words{device->name(), device->driver(), {}};
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
      Launch on_gpu = recorded_launch(p);
      Launch simulated = on_gpu;
      device->run(*loaded, on_gpu);
      simulate(isa::compile(module, p.entry), simulated, {}, true);
      const auto& expected = on_gpu.buffers.back().bytes;
      const auto& got = simulated.buffers.back().bytes;
      size_t wrong = 0;
      size_t shown = 0;
      const size_t results = p.results.size();
      const size_t tuples = expected.size() / 8 / results;
      for (size_t i = 0; i < tuples * results; ++i) {
        if (word(expected, i) == word(got, i)) continue;
        ++wrong;
        if (++shown <= 3)
          ADD_FAILURE() << p.instruction << " " << inputs_of(on_gpu, i / results, tuples) << "result "
                        << i % results << std::hex << " => " << word(got, i) << " expected (GPU) "
                        << word(expected, i);
      }
      if (wrong > 3) ADD_FAILURE() << p.instruction << ": " << wrong << " mismatches of " << tuples * results;
      compared += tuples * results;
      digests[p.instruction] = digest_of(on_gpu);
      words.of[p.instruction] = kept_tuples(p, on_gpu);
    }
  }
  std::printf("%zu instructions, %llu results compared with %s (driver %s)\n", all.size(),
              static_cast<unsigned long long>(compared), device->name().c_str(), device->driver().c_str());
  record(*device, "instructions.json", digests);
  if (const char* folder = std::getenv("BITWELL_CAPTURES"); folder != nullptr)
    write_tuples(std::string(folder) + "/instructions.tuples.xz", words);
}

}  // namespace
}  // namespace bitwell::verify
