#include "verify/device/compare.h"

#include <fmt/format.h>

#include <mutex>

#include "verify/device/resident.h"
#include "verify/suite/parallel.h"

namespace bitwell::device {
namespace {

// The modules of launches, for both; the device's are compiled when a launch needs them for the first time.
class Compiled {
 public:
  Compiled(Device& device, std::chrono::milliseconds limit) : device_(device), limit_(limit) {}

  void simulate_chain(suite::Chain& chain, const run::Options& options) {
    suite::simulate(chain, std::ref(modules_), options, true);
  }

  // One launch at a time; false where the device is unusable before all have run.
  bool run_on_gpu(suite::Chain& chain) {
    for (size_t i = 0; i < chain.launches.size(); ++i) {
      launch::Launch& l = chain.launches[i];
      for (const suite::Chain::Link& link : chain.links)
        if (link.to == i)
          l.buffers[link.to_buffer].bytes = chain.launches[link.from].buffers[link.from_buffer].bytes;
      const std::shared_ptr<const isa::Module> module = modules_(l);
      const std::scoped_lock lock(gpu_);
      if (!usable_) return false;
      try {
        device_.run(*on_device_(module), l, limit_);
      } catch (const machine::Fault&) {
        usable_ = device_.usable();
        throw;
      }
    }
    return true;
  }

  bool usable() const { return usable_; }

 private:
  Device& device_;
  const std::chrono::milliseconds limit_;
  launch::Modules modules_;
  std::mutex gpu_;
  bool usable_ = true;  // with it, and so are those on the device
  OnDeviceModules on_device_{device_};
};

void compare_outputs(const suite::Chain& simulated, const suite::Chain& on_gpu, ComparedCase& out) {
  for (size_t l = 0; l < simulated.launches.size(); ++l)
    for (size_t b = 0; b < simulated.launches[l].buffers.size(); ++b) {
      const launch::Buffer& here = simulated.launches[l].buffers[b];
      const launch::Buffer& there = on_gpu.launches[l].buffers[b];
      if (!here.output) continue;
      out.bytes += here.bytes.size();
      for (size_t i = 0; i < here.bytes.size(); ++i) {
        if (i < there.bytes.size() && here.bytes[i] == there.bytes[i]) continue;
        if (out.differing++ == 0)
          out.difference = fmt::format("byte {} of '{}' is 0x{:02x} here, 0x{:02x} on the GPU", i, here.name,
                                       static_cast<unsigned>(here.bytes[i]),
                                       i < there.bytes.size() ? static_cast<unsigned>(there.bytes[i]) : 0U);
      }
    }
}

}  // namespace

DeviceComparison compare_on_device(Device& device, const suite::Build& build,
                                   const std::vector<suite::PlannedCase>& cases,
                                   const std::function<run::Schedule(size_t)>& schedule,
                                   std::chrono::milliseconds limit) {
  DeviceComparison out;
  out.cases.resize(cases.size());
  Compiled compiled(device, limit);
  suite::each_in_parallel(cases.size(), 0, [&](size_t i) {
    ComparedCase& c = out.cases[i];
    try {
      const suite::DrawnCase drawn = cases[i].draw();
      suite::Chain simulated = drawn.chain(build);
      suite::Chain on_gpu = simulated;
      run::Options options;
      options.schedule = schedule(i);
      compiled.simulate_chain(simulated, options);
      c.ran = compiled.run_on_gpu(on_gpu);
      if (!c.ran) return;
      compare_outputs(simulated, on_gpu, c);
      c.result = std::move(on_gpu.launches.back().buffers[drawn.result].bytes);
    } catch (const std::exception& e) {
      c.difference = e.what();
    }
  });
  out.usable = compiled.usable();
  return out;
}

}  // namespace bitwell::device
