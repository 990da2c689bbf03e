// The names for one default stream a thread: NULL is CU_STREAM_PER_THREAD there, and CU_STREAM_LEGACY
// elsewhere.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {
namespace {

#define BY_THREAD(f) (*find<decltype(f)>(NAME(f) "_ptsz"))

// So many nodes are captured by what `f` asks of the thread's stream.
template <class F>
size_t captured(F f) {
  CUgraph g = nullptr;
  well(BY_THREAD(cuStreamBeginCapture)(nullptr, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  well(CU(cuStreamIsCapturing)(CU_STREAM_PER_THREAD, &status), "status");
  held(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "the thread's stream is captured");
  f();
  well(BY_THREAD(cuStreamEndCapture)(nullptr, &g), "end");
  size_t count = 0;
  if (g == nullptr) return 0;
  well(CU(cuGraphGetNodes)(g, nullptr, &count), "nodes");
  well(CU(cuGraphDestroy)(g), "destroy");
  return count;
}

}  // namespace

void by_thread(const Device& d) {
  section = "names for the thread's stream";
  unsigned long long id = 1, legacy = 2, own = 3;
  well(CU(cuStreamGetId)(nullptr, &legacy), "the legacy stream's number");
  well(CU(cuStreamGetId)(CU_STREAM_PER_THREAD, &own), "the thread's");
  held(legacy != own, "are two");
  well(BY_THREAD(cuStreamGetId)(nullptr, &id), "NULL's");
  held(id == own, "is the thread's", std::to_string(id));
  well(BY_THREAD(cuStreamGetId)(CU_STREAM_LEGACY, &id), "the legacy one by name");
  held(id == legacy, "is the legacy one", std::to_string(id));
  gives(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        CU(cuStreamBeginCapture)(nullptr, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "NULL is not captured else");

  const CUdeviceptr p = allocated(256);
  const CUfunction count = function(d, "count");
  size_t nodes = captured([&] { well(BY_THREAD(cuMemsetD32Async)(p, 1, 1, nullptr), "a fill"); });
  held(nodes == 1, "is captured", std::to_string(nodes));
  nodes = captured([&] {
    well(BY_THREAD(cuLaunchKernel)(count, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), "a launch");
  });
  held(nodes == 1, "is captured", std::to_string(nodes));
  nodes = captured([&] {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    well(BY_THREAD(cuLaunchKernelEx)(&config, count, nullptr, nullptr), "a launch by its description");
    held(config.hStream == nullptr, "which is as it was");
  });
  held(nodes == 1, "is captured", std::to_string(nodes));

  section = "cuGetProcAddress for the thread's stream";
  const auto number_by = [&](cuuint64_t flags) {
    void* f = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    unsigned long long out = 0;
    well(CU(cuGetProcAddress)("cuStreamGetId", &f, 13000, flags, &found), "it is found");
    if (f != nullptr) well(reinterpret_cast<decltype(&cuStreamGetId)>(f)(nullptr, &out), "and called");
    return out;
  };
  held(number_by(CU_GET_PROC_ADDRESS_DEFAULT) == legacy, "by default the legacy one");
  held(number_by(CU_GET_PROC_ADDRESS_LEGACY_STREAM) == legacy, "by its flag");
  held(number_by(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) == own, "by its flag the thread's");
  well(CU(cuMemFree)(p), "free");
}

}  // namespace conformance
