// Functions by their names for one default stream a thread: NULL, for a stream, is the calling thread's own.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace bitwell::driver {

// The runtime's streams are the driver's.
inline CUstream by_thread(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

// A copy of what describes a launch, which lasts as long as the call.
template <class Config, auto Stream>
struct ConfigByThread {
  Config copy{};
  const Config* given;
  explicit ConfigByThread(const Config* config) : given(config) {
    if (config == nullptr || config->*Stream != nullptr) return;
    copy = *config;
    copy.*Stream = CU_STREAM_PER_THREAD;
    given = &copy;
  }
  operator const Config*() const { return given; }
};
inline ConfigByThread<CUlaunchConfig, &CUlaunchConfig::hStream> by_thread(const CUlaunchConfig* config) {
  return ConfigByThread<CUlaunchConfig, &CUlaunchConfig::hStream>(config);
}
inline ConfigByThread<cudaLaunchConfig_t, &cudaLaunchConfig_t::stream> by_thread(
    const cudaLaunchConfig_t* config) {
  return ConfigByThread<cudaLaunchConfig_t, &cudaLaunchConfig_t::stream>(config);
}
template <class T>
T by_thread(T other) {
  return other;
}

template <auto Function, class = decltype(Function)>
struct ByThread;
template <auto Function, class Result, class... Arguments>
struct ByThread<Function, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) { return Function(by_thread(arguments)...); }
};

}  // namespace bitwell::driver
