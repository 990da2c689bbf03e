// The GPU that the device tests need, or a skip that says what is missing.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>

#include "verify/capture/captures.h"
#include "verify/capture/digest.h"
#include "verify/device/driver.h"
#include "verify/probe/recorded.h"

namespace bitwell::device {

// One device for the whole program.
inline Device* gpu(std::string& why) {
  static std::string reason;
  static const std::unique_ptr<Device> device = Device::open(reason);
  why = reason;
  if (device != nullptr && device->compute_capability() != 90) {
    why = "the GPU is " + device->name() + ", these tests need compute capability 9.0";
    return nullptr;
  }
  return device.get();
}

// Where a device run writes captures: $BITWELL_CAPTURES, or nowhere. Only device runs write digests.
inline void record(const Device& device, const std::string& file,
                   const std::map<std::string, std::string>& digests) {
  const char* folder = std::getenv("BITWELL_CAPTURES");
  if (folder == nullptr) return;
  capture::write_capture(std::string(folder) + "/" + file, {device.name(), device.driver(), "13.0", digests});
}

// What launches left on the GPU, by name: digests, and words that stay raw.
struct Recording {
  std::map<std::string, std::string> digests;
  std::map<std::string, std::vector<capture::Tuple>> words;

  void add(const std::string& name, const launch::Launch& on_gpu, size_t count = probe::kKeptTuples) {
    const std::vector<std::byte> outputs = probe::outputs_of(on_gpu);
    capture::Digest digest;
    digest.add(outputs);
    digests[name] = digest.hex();
    words[name] = probe::kept_words(outputs, count);
  }
  // FAMILY.json and FAMILY.tuples.xz.
  void write(const Device& device, const std::string& family) const {
    record(device, family + ".json", digests);
    if (const char* folder = std::getenv("BITWELL_CAPTURES"); folder != nullptr)
      capture::write_tuples(std::string(folder) + "/" + family + ".tuples.xz",
                            {device.name(), device.driver(), words});
  }
};

#define BITWELL_NEEDS_GPU(device)         \
  std::string why_no_gpu;                 \
  Device* const device = gpu(why_no_gpu); \
  if (device == nullptr) GTEST_SKIP() << why_no_gpu

}  // namespace bitwell::device
