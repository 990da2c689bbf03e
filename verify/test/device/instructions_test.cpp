// Every arithmetic and conversion instruction of the table, simulator against GPU, bit for bit.
#include <atomic>
#include <cstring>
#include <mutex>

#include "../kernel.h"
#include "gpu.h"
#include "verify/probe/recorded.h"
#include "verify/suite/parallel.h"

namespace bitwell::device {
namespace {

constexpr size_t kModule = 256;  // probes a module: the driver compiles them together

uint64_t word(const std::vector<std::byte>& bytes, size_t i) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + 8 * i, 8);
  return v;
}

std::string inputs_of(const launch::Launch& launch, size_t tuple, size_t tuples) {
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

// Says where the simulator's results are not the GPU's: the first three, and how many there are. Gives the
// results compared.
uint64_t compare(const probe::Probe& p, const launch::Launch& on_gpu, const launch::Launch& simulated) {
  const auto& expected = on_gpu.buffers.back().bytes;
  const auto& got = simulated.buffers.back().bytes;
  const size_t all = expected.size() / 8;
  const size_t results = p.results.size();
  size_t wrong = 0;
  for (size_t i = 0; i < all; ++i) {
    if (word(expected, i) == word(got, i)) continue;
    if (++wrong <= 3)
      ADD_FAILURE() << p.instruction << " " << inputs_of(on_gpu, i / results, all / results) << "result "
                    << i % results << std::hex << " => " << word(got, i) << " expected (GPU) "
                    << word(expected, i);
  }
  if (wrong > 3) ADD_FAILURE() << p.instruction << ": " << wrong << " mismatches of " << all;
  return all;
}

TEST(Instructions, SimulatorAndGpuAgreeOnEveryBit) {
  BITWELL_NEEDS_GPU(device);
  std::map<std::string, std::string> digests;
  capture::Tuples words{device->name(), device->driver(), {}};
  const std::vector<probe::Probe> all = probe::probes("sm_90a");
  std::mutex mutex;  // of the device and of what is recorded
  std::atomic<uint64_t> compared = 0;
  for (size_t first = 0; first < all.size(); first += kModule) {
    const std::vector<probe::Probe> some(
        all.begin() + static_cast<std::ptrdiff_t>(first),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(first + kModule, all.size())));
    const std::string text = probe::probe_module(some, "sm_90a");
    const test::Module module = test::module_of(text);
    const auto loaded = device->load(text);
    suite::each_in_parallel(some.size(), 0, [&](size_t i) {
      const probe::Probe& p = some[i];
      launch::Launch on_gpu = probe::recorded_launch(p);
      launch::Launch simulated = on_gpu;
      {
        const std::scoped_lock lock(mutex);
        device->run(*loaded, on_gpu);
        digests[p.instruction] = probe::digest_of(on_gpu);
        words.of[p.instruction] = probe::kept_tuples(p, on_gpu);
      }
      test::run_ptx(module, simulated);
      compared += compare(p, on_gpu, simulated);
    });
  }
  std::printf("%zu instructions, %llu results compared with %s (driver %s)\n", all.size(),
              static_cast<unsigned long long>(compared.load()), device->name().c_str(),
              device->driver().c_str());
  record(*device, "instructions.json", digests);
  if (const char* folder = std::getenv("BITWELL_CAPTURES"); folder != nullptr)
    capture::write_tuples(std::string(folder) + "/instructions.tuples.xz", words);
}

}  // namespace
}  // namespace bitwell::device
