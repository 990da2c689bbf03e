// Asynchronous instructions on the GPU: its memory is the simulator's in every byte, whatever the schedule.
#include "verify/probe/async.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

#include "../kernel.h"
#include "gpu.h"

namespace bitwell::device {
namespace {

// Launches of a family; BITWELL_ASYNC_LAUNCHES asks for others.
uint64_t launches_wanted() {
  const char* text = std::getenv("BITWELL_ASYNC_LAUNCHES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1000;
}

// Of each recorded launch; a family has kAsyncRecorded.
constexpr size_t kKeptWords = 8;

// The first bytes that differ, or nothing.
std::string compare(const launch::Launch& gpu, const launch::Launch& simulator) {
  for (size_t b = 0; b < gpu.buffers.size(); ++b) {
    const auto& x = gpu.buffers[b].bytes;
    const auto& y = simulator.buffers[b].bytes;
    if (!gpu.buffers[b].output || x == y) continue;
    const size_t at =
        static_cast<size_t>(std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin()) / 8 * 8;
    size_t count = 0;
    for (size_t i = 0; i < x.size(); ++i) count += x[i] != y[i] ? 1 : 0;
    const auto word = [&](const std::vector<std::byte>& v) {
      uint64_t w = 0;
      std::memcpy(&w, &v[at], std::min<size_t>(8, v.size() - at));
      char text[20];
      std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(w));
      return std::string(text);
    };
    return std::to_string(count) + " bytes of '" + gpu.buffers[b].name + "' differ, at " +
           std::to_string(at) + " GPU " + word(x) + ", simulator " + word(y);
  }
  return "";
}

TEST(Async, SimulatorAndGpuAgreeOnEveryByte) {
  BITWELL_NEEDS_GPU(device);
  Recording recording;
  const char* first_text =
      std::getenv("BITWELL_ASYNC_FIRST");  // go on after a launch that a GPU did not survive
  const uint64_t first = first_text != nullptr ? std::strtoull(first_text, nullptr, 10) : 0;
  const char* only = std::getenv("BITWELL_ASYNC_ONLY");  // a part of the families' names
  for (const probe::AsyncFamily& family : probe::async_families()) {
    if (only != nullptr && family.name.find(only) == std::string::npos) continue;
    const uint64_t count = launches_wanted();
    std::vector<probe::AsyncCase> on_gpu(count);
    std::vector<launch::Launch> simulated(count);
    std::vector<std::string> fault(count);
    std::atomic<uint64_t> next = 0;
    {
      std::vector<std::jthread> pool;
      for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
        pool.emplace_back([&] {
          for (uint64_t i = next++; i < count; i = next++) {
            on_gpu[i] = family.draw(i + 1);
            simulated[i] = on_gpu[i].launch;
            run::Options options;
            options.schedule = {run::kPolicies[i % run::kPolicies.size()].policy, i};
            try {
              test::run_ptx(on_gpu[i].ptx, simulated[i], options);
            } catch (const std::exception& e) {
              fault[i] = e.what();
            }
          }
        });
    }
    std::map<std::string, std::shared_ptr<Device::Module>> modules;
    uint64_t wrong = 0;
    for (uint64_t i = first; i < count; ++i) {
      auto& loaded = modules[on_gpu[i].ptx];
      if (loaded == nullptr) loaded = device->load(on_gpu[i].ptx);
      try {
        device->run(*loaded, on_gpu[i].launch);
      } catch (const std::exception& e) {
        FAIL() << family.name << ", seed " << i + 1 << " (" << on_gpu[i].description << "): " << e.what();
      }
      if (modules.size() > 64) modules.clear();
      if (i < probe::kAsyncRecorded)
        recording.add(family.name + ", " + std::to_string(i + 1), on_gpu[i].launch, kKeptWords);
      const std::string difference = fault[i].empty() ? compare(on_gpu[i].launch, simulated[i]) : fault[i];
      if (difference.empty()) continue;
      if (++wrong <= 3)
        ADD_FAILURE() << family.name << ", seed " << i + 1 << " (" << on_gpu[i].description
                      << "): " << difference;
    }
    std::printf("%-36s %6llu launches, %llu differ\n", family.name.c_str(),
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(wrong));
    std::fflush(stdout);
  }
  if (only == nullptr) recording.write(*device, "async");
}

}  // namespace
}  // namespace bitwell::device
