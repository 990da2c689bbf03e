// A process's launches on a GPU, kept with the memory that they begin with.
#pragma once
#include <cuda.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "verify/driver/core/asked.h"
#include "verify/driver/core/filter.h"
#include "verify/driver/core/recorder.h"
#include "verify/driver/record/code.h"
#include "verify/driver/record/stopwatch.h"

namespace bitwell::driver {

// What the program allocated.
struct Held {
  std::string name;
  uint64_t bytes = 0;
  bool host = false;              // the host reaches it at this address too
  const void* context = nullptr;  // of CUDA's, current when it was
};

// A launch as the program asks for it.
struct GpuLaunch {
  CUfunction kernel = nullptr;
  run::Shape shape{};
  CUstream stream = nullptr;
  void **parameters = nullptr, **extra = nullptr;
};

class Keeper {
 public:
  Keeper();
  void add(uint64_t address, uint64_t bytes, bool host, const char* kind);
  void remove(uint64_t address);
  void remove_range(uint64_t address, uint64_t bytes);
  void remove_of(const void* context);
  Code& code() { return code_; }
  std::recursive_mutex& mutex() { return mutex_; }

  // Keeps a launch that is about to begin, where it is one that is meant; and says what became of it on the
  // GPU. Neither throws; nothing that the program can see changes, but that the launch is alone on the GPU.
  // `launch` puts it into a stream, to be timed.
  struct Begun {
    nlohmann::ordered_json told;
    uint64_t number = 0;
    std::string folder;
    std::vector<uint64_t> buffers;
  };
  std::optional<Begun> begin(const GpuLaunch& asked, const Stopwatch::Launch& launch);
  void end(Begun& begun, CUresult launched);
  // Launches that are not kept, said once a reason.
  void pass_over(const std::string& why);

 private:
  struct Memory;
  void keep(const GpuLaunch& asked, Begun& begun, const Stopwatch::Launch& again);
  void keep_after(const Begun& begun);
  CUresult stream(CUstream& out);
  void restore(const Memory& before);
  void time(const Stopwatch::Launch& launch, const Memory& before, const std::string& folder);
  std::string read(uint64_t address, std::span<std::byte> to, bool host);
  std::vector<std::vector<std::byte>> arguments(const GpuLaunch& asked, const Found& kernel);
  void take_variables(const Found& kernel, Memory& memory, std::vector<std::vector<std::byte>>& arguments,
                      std::string& lacks);

  Asked asked_;
  std::recursive_mutex mutex_;
  isa::Context context_;
  Code code_;
  Recorder recorder_;
  Stopwatch stopwatch_;
  Choice choice_;
  std::map<uint64_t, Held> blocks_;
  std::map<const void*, CUstream> streams_;  // ours, by CUDA context
  std::map<std::string, bool> said_;
  uint64_t launches_ = 0, count_ = 0;
};

Keeper& keeper();

}  // namespace bitwell::driver
