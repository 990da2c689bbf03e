// Launches, their attributes and errors, and what kernels print.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {

void launches(const Device& d) {
  section = "launches";
  const CUfunction scale = function(d, "scale");
  const CUdeviceptr x = allocated(400), y = allocated(400);
  std::vector<unsigned> numbers(100), have(100);
  for (unsigned i = 0; i < 100; ++i) numbers[i] = i * i;
  well(CU(cuMemcpyHtoD)(x, numbers.data(), 400), "input");
  unsigned n = 100;
  void* parameters[] = {const_cast<CUdeviceptr*>(&x), const_cast<CUdeviceptr*>(&y), &n};
  const auto launch = [&](unsigned g, unsigned b, void** p, void** extra) {
    return CU(cuLaunchKernel)(scale, g, 1, 1, b, 1, 1, 0, nullptr, p, extra);
  };
  well(launch(4, 32, parameters, nullptr), "parameters one by one");
  well(CU(cuMemcpyDtoH)(have.data(), y, 400), "output");
  held(have[99] == 2 * 99 * 99 && have[1] == 2, "what it computes");
  void* in_place[] = {const_cast<CUdeviceptr*>(&y), const_cast<CUdeviceptr*>(&y), &n};
  well(launch(4, 32, in_place, nullptr), "over what it reads");
  well(CU(cuMemcpyDtoH)(have.data(), y, 400), "output");
  held(have[99] == 4 * 99 * 99 && have[1] == 4, "what it computes, once");
  CUdeviceptr counter = 0;
  size_t counter_bytes = 0;
  well(CU(cuModuleGetGlobal)(&counter, &counter_bytes, d.module, "counter"), "a variable");
  const unsigned before = word(counter);
  well(CU(cuLaunchKernel)(function(d, "count"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), "counting");
  held(word(counter) == before + 1, "one up");
  struct {
    CUdeviceptr x, y;
    unsigned n;
  } packed{x, y, 50};
  size_t size = 20;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  well(CU(cuMemsetD8)(y, 0, 400), "clear");
  well(launch(4, 32, nullptr, extra), "parameters in a buffer");
  well(CU(cuMemcpyDtoH)(have.data(), y, 400), "output");
  held(have[49] == 2 * 49 * 49 && have[50] == 0, "n is the buffer's");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 32, parameters, extra), "both ways at once");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 32, nullptr, nullptr), "neither");
  gives(CUDA_ERROR_INVALID_VALUE, launch(0, 32, parameters, nullptr), "no CTA");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 0, parameters, nullptr), "no thread");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 2048, parameters, nullptr), "2048 threads");
  gives(CUDA_ERROR_INVALID_HANDLE,
        CU(cuLaunchKernel)(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "no kernel");
  void* one[] = {const_cast<CUdeviceptr*>(&y)};
  gives_either(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
               CU(cuLaunchKernel)(function(d, "limited"), 1, 1, 1, 128, 1, 1, 0, nullptr, one, nullptr),
               "more threads than .maxntid");

  // A structure with two pointers and a hole, and a byte behind it.
  struct {
    CUdeviceptr from;
    unsigned add;
    CUdeviceptr to;
  } s{x, 1000, y};
  unsigned char tail = 200;
  const unsigned seven = 7;
  well(CU(cuMemcpyHtoD)(x, &seven, 4), "input");
  void* two[] = {&s, &tail};
  well(CU(cuLaunchKernel)(function(d, "structure"), 1, 1, 1, 1, 1, 1, 0, nullptr, two, nullptr),
       "a structure");
  held(word(y) == 1207, "all of it arrives");

  const CUfunction room = function(d, "last_of_room");
  unsigned bytes = 40000;
  void* three[] = {const_cast<CUdeviceptr*>(&y), &bytes};
  well(CU(cuLaunchKernel)(room, 1, 1, 1, 1, 1, 1, bytes, nullptr, three, nullptr), "dynamic shared memory");
  held(word(y) == bytes, "its last word");
  bytes = 60000;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuLaunchKernel)(room, 1, 1, 1, 1, 1, 1, bytes, nullptr, three, nullptr),
        "more than 48 KiB unasked");
  well(CU(cuFuncSetAttribute)(room, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000), "asked");
  well(CU(cuLaunchKernel)(room, 1, 1, 1, 1, 1, 1, bytes, nullptr, three, nullptr), "and granted");
  held(word(y) == bytes, "its last word");

  section = "launch attributes";
  CUlaunchAttribute a[2] = {};
  CUlaunchConfig c{};
  c.gridDimX = 4, c.gridDimY = c.gridDimZ = 1, c.blockDimX = 32, c.blockDimY = c.blockDimZ = 1;
  c.attrs = a;
  n = 100;
  well(CU(cuMemcpyHtoD)(x, numbers.data(), 400), "input");
  const auto extended = [&](unsigned count) {
    c.numAttrs = count;
    return CU(cuLaunchKernelEx)(&c, scale, parameters, nullptr);
  };
  well(extended(0), "none");
  a[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  a[0].value.programmaticStreamSerializationAllowed = 1;
  a[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  a[1].value.priority = 0;
  well(extended(2), "serialization and priority");
  a[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  a[0].value.cooperative = 1;
  well(extended(1), "cooperative");
  c.gridDimX = 1 << 20;
  gives(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, extended(1), "a cooperative grid that is not resident");
  c.gridDimX = 4;
  int clusters = 0;
  CU(cuDeviceGetAttribute)(&clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, d.device);
  if (clusters != 0) {
    // The module is for sm_80, whose kernels take clusters too where the launch says so.
    a[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a[0].value.clusterDim.x = 2, a[0].value.clusterDim.y = a[0].value.clusterDim.z = 1;
    well(extended(1), "clusters of 2");
    a[0].value.clusterDim.x = 3;
    gives_either(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_CLUSTER_SIZE, extended(1),
                 "clusters of 3 in a grid of 4");
    c.gridDimX = 16;
    a[0].value.clusterDim.x = 16;
    gives(CUDA_ERROR_INVALID_CLUSTER_SIZE, extended(1), "clusters of 16");
    c.gridDimX = 4;
  }
  well(CU(cuCtxSynchronize)(), "nothing is amiss");
  well(CU(cuMemFree)(x), "free");
  well(CU(cuMemFree)(y), "free");
}

void printing(const Device& d) {
  section = "printf";
  std::fflush(stdout);
  char path[] = "/tmp/driver-conformance-XXXXXX";
  const int file = mkstemp(path), kept = dup(1);
  dup2(file, 1);
  well(CU(cuLaunchKernel)(function(d, "says"), 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, nullptr), "launch");
  well(CU(cuCtxSynchronize)(), "synchronize");
  std::fflush(stdout);
  dup2(kept, 1);
  char text[200] = "";
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  held(size > 0 && std::strstr(text, "thread 0 says so\n") != nullptr &&
           std::strstr(text, "thread 1 says so\n") != nullptr,
       "what kernels print is on stdout", text);
  unlink(path);
  close(file);
  close(kept);
}

}  // namespace conformance
