// Random programs, simulator against GPU, every byte that they leave.
#include <atomic>
#include <chrono>
#include <mutex>

#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/program/program.h"
#include "verify/suite/parallel.h"

namespace bitwell::verify {
namespace {

constexpr size_t kModule = 50;  // programs a module: the driver compiles them together
constexpr std::chrono::seconds kLimit{20};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The first byte that differs, or a fault on either; empty: none.
std::string difference(const Launch& simulated, const Launch& on_gpu) {
  for (size_t b = 0; b < simulated.buffers.size(); ++b) {
    const auto& here = simulated.buffers[b].bytes;
    const auto& there = on_gpu.buffers[b].bytes;
    for (size_t i = 0; i < here.size(); ++i)
      if (here[i] != there[i]) {
        char text[160];
        std::snprintf(text, sizeof text,
                      "byte %zu of '%s' (thread %zu, byte %zu of its own): %02x here, %02x on the GPU", i,
                      simulated.buffers[b].name.c_str(), i / 144, i % 144, static_cast<unsigned>(here[i]),
                      static_cast<unsigned>(there[i]));
        return text;
      }
  }
  return "";
}

class Programs {
 public:
  explicit Programs(Device& device) : device_(device) {}

  // How each of them differs.
  std::vector<std::string> compare(std::span<const RandomProgram> programs) {
    const std::string text = module_of(programs);
    const auto loaded = device_.load(text);
    const ptx::Module module = ptx::parse(text);
    std::vector<std::string> out;
    for (const RandomProgram& p : programs) {
      Launch simulated = launch_of(p);
      Launch on_gpu = simulated;
      try {
        simulate(isa::compile(module, entry_of(p)), simulated, {}, true);
        const std::scoped_lock lock(gpu_);
        if (device_.hung()) return out;
        device_.run(*loaded, on_gpu, kLimit);
        for (const Buffer& b : on_gpu.buffers)
          if (b.output) bytes_ += b.bytes.size();
        out.push_back(difference(simulated, on_gpu));
      } catch (const std::exception& e) {
        out.emplace_back(e.what());
      }
    }
    return out;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  Device& device_;
  std::mutex gpu_;
  std::atomic<uint64_t> bytes_ = 0;
};

TEST(ProgramsOnGpu, EveryByteIsTheSame) {
  BITWELL_NEEDS_GPU(device);
  const uint64_t wanted = number_from("BITWELL_PROGRAMS", 500), first = number_from("BITWELL_SEED", 0);
  Programs on(*device);
  std::mutex mutex;
  std::vector<std::pair<RandomProgram, std::string>> wrong;
  const auto start = std::chrono::steady_clock::now();
  each_in_parallel((wanted + kModule - 1) / kModule, 0, [&](size_t batch) {
    std::vector<RandomProgram> programs;
    for (uint64_t n = batch * kModule; n < std::min<uint64_t>(wanted, (batch + 1) * kModule); ++n)
      programs.push_back(draw_program(first + n));
    const std::vector<std::string> differ = on.compare(programs);
    const std::scoped_lock lock(mutex);
    for (size_t i = 0; i < differ.size(); ++i)
      if (!differ[i].empty()) wrong.emplace_back(programs[i], differ[i]);
  });
  std::printf("%llu programs, %llu bytes, %zu programs differ, %.0f s\n",
              static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(on.bytes()),
              wrong.size(), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  for (size_t i = 0; i < std::min<size_t>(wrong.size(), number_from("BITWELL_SHRINK", 3)) && !device->hung();
       ++i) {
    std::string last = wrong[i].second;
    const RandomProgram small = shrunk(
        wrong[i].first,
        [&](const RandomProgram& p) {
          const std::vector<std::string> differ =
              device->hung() ? std::vector<std::string>{} : on.compare({&p, 1});
          if (differ.empty() || differ[0].empty()) return false;
          last = differ[0];
          return true;
        },
        300);
    ADD_FAILURE() << "seed " << small.seed << ", grid " << small.grid << ", block " << small.block << ", "
                  << statements(small) << " statements: " << last << "\n"
                  << module_of({&small, 1});
  }
  for (const auto& [program, how] : wrong)
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(program.seed), how.c_str());
  EXPECT_TRUE(wrong.empty());
  EXPECT_FALSE(device->hung());
}

}  // namespace
}  // namespace bitwell::verify
