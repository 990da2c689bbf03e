// The GPU as a subject: the CUDA driver API, loaded at run time, so that one binary serves machines with and
// without.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "verify/launch/launch.h"

namespace bitwell::device {

class Resident;

// A GPU and a context on it.
class Device {
 public:
  // The first GPU, or nullptr with the reason in `why`.
  static std::unique_ptr<Device> open(std::string& why);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const;    // "NVIDIA H200"
  const std::string& driver() const;  // "580.159.04 (CUDA 13.0)"
  int compute_capability() const;     // 90
  int multiprocessors() const;        // 132
  bool hung() const;                  // a launch ran beyond its limit; the process can only end by _Exit
  bool usable() const;                // takes launches: after a hang or an illegal access it does no more

  // Compiles PTX text with the driver's ptxas. Throws InputError with its log.
  class Module;
  // `optimisation`: ptxas' level, 0 to 4; with 0 the machine code does what stands there, one by one.
  static constexpr unsigned kDriversOwn = 4;
  std::shared_ptr<Module> load(const std::string& ptx, unsigned optimisation = kDriversOwn);

  // Runs the launch, without what follows it; its buffers and variables then hold what the kernel left.
  // Buffers not defined start as 0xFF bytes. Names are full ones (use_full_names). Throws machine::Fault with
  // the driver's error name, or where the kernel still runs after `limit` (none: for ever); the context is
  // then unusable. InputError for a buffer with an address of its own.
  void run(Module& module, launch::Launch& launch, std::optional<std::chrono::milliseconds> limit = {});
  // The same with what follows it, in order on one stream: launches with CUDA's attributes programmatic
  // stream serialization and cooperative where they have them, copies and fills. InputError for PTX that the
  // driver refuses.
  void run_list(launch::Launch& launch, std::optional<std::chrono::milliseconds> limit = {});

  // Until all work in a stream (nullptr: the default one) has ended, or failed. Throws machine::Fault with
  // `what` where it still runs after `limit`; hung() then.
  void wait(void* stream, std::chrono::milliseconds limit, const std::string& what) const;

  struct Impl;  // for the files of this folder
  const Impl& impl() const { return *impl_; }

 private:
  explicit Device(std::unique_ptr<Impl> impl);
  void run_steps(const Resident& resident, const Module& module, launch::Launch& launch,
                 const std::vector<launch::Step>& then, std::optional<std::chrono::milliseconds> limit) const;
  std::unique_ptr<Impl> impl_;
};

// Whether a GPU of that compute capability runs PTX for the target: "sm_90" on all later ones too, "sm_100f"
// on those of its family, "sm_90a" on that one alone.
bool runs_target(int compute_capability, std::string_view target);

// Bytes of a GPU's memory.
class DeviceMemory {
 public:
  // Throws machine::Fault if there are too few.
  DeviceMemory(const Device& device, size_t bytes, const std::string& name);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  uint64_t address() const { return address_; }
  size_t bytes() const { return bytes_; }
  std::vector<std::byte> read() const;

 private:
  const Device* device_;
  size_t bytes_;
  uint64_t address_ = 0;
};

}  // namespace bitwell::device
