// A host program that uses of the runtime what programs use, and looks at its own results. PROGRAM [CASE].
#include <cooperative_groups.h>
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

__device__ int counter = 5;
__constant__ int table[4];

__global__ void add(const int* x, int* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] += x[i] + table[i % 4];
}
// One too far.
__global__ void overrun(int* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) y[i] = i;
}
__global__ void asserts(int most) { assert(static_cast<int>(threadIdx.x) < most); }
// An object of the device's heap that outlives the launch, as it does on a device.
__device__ int* kept;
__global__ void keep() {
  kept = static_cast<int*>(malloc(sizeof(int)));
  *kept = 7;
}
__global__ void fetch(int* out) { *out = *kept; }
__global__ void count() { atomicAdd(&counter, 1); }
// A structure with pointers in it, as CUTLASS passes them.
struct Inner {
  const int* from;
  int* to;
};
__global__ void copy(const __grid_constant__ Inner arguments) {
  arguments.to[threadIdx.x] = arguments.from[threadIdx.x];
}
__global__ void reverse(int* data, int n) {
  extern __shared__ int room[];
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) room[i] = data[i];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    data[i] = room[n - 1 - i];
}
// Each CTA's number in its cluster, and how many it has.
__global__ void ranks(int* out) {
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<int>(10 * cluster.num_blocks() + cluster.block_rank());
}
// The sum of all CTAs' parts, which each reads behind a barrier of the grid.
__global__ void together(int* parts, int* sums) {
  if (threadIdx.x == 0) parts[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  cg::this_grid().sync();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
  sums[blockIdx.x] = sum;
}
// Every warp but the first reads what the first writes, behind no barrier.
__global__ void races(int* out) {
  __shared__ int first;
  if (threadIdx.x == 0) first = static_cast<int>(out[0]);
  if (threadIdx.x >= 32) out[threadIdx.x] = first;
}
__global__ void decides(const int* x, int* y) {
  if (x[threadIdx.x] != 0) y[threadIdx.x] = 1;
}
// A vector of which one word was never set, as padding behind a row is stored.
__global__ void pads(int* y) {
  asm volatile("{ .reg .b32 unset; st.global.v2.b32 [%0], {%1, unset}; }" ::"l"(y), "r"(7) : "memory");
}
__global__ void says() { printf("thread %d says so\n", static_cast<int>(threadIdx.x)); }
// A box of a tensor, to shared memory and out.
__global__ void box(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int tile[8 * 8];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(bar) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(at),
        "l"(&map), "r"(8), "r"(4), "r"(bar)
        : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}

namespace {

int failures = 0;

void held(bool is, const char* what) {
  if (is) return;
  std::printf("WRONG: %s\n", what);
  ++failures;
}
void well(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s (%s)\n", what, cudaGetErrorString(error), cudaGetErrorName(error));
  ++failures;
}

template <class T>
T* allocated(size_t count) {
  T* out = nullptr;
  well(cudaMalloc(&out, count * sizeof(T)), "cudaMalloc");
  return out;
}

void streams() {
  cudaStream_t stream;
  cudaEvent_t from, to;
  well(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  well(cudaEventCreate(&from), "event");
  well(cudaEventCreate(&to), "event");
  std::vector<int> x(100), y(100);
  for (int i = 0; i < 100; ++i) x[i] = i * i;
  const int four[4] = {1, 2, 3, 4};
  well(cudaMemcpyToSymbol(table, four, sizeof four), "to symbol");
  int* const dx = allocated<int>(100);
  int* const dy = allocated<int>(100);
  well(cudaMemcpyAsync(dx, x.data(), 400, cudaMemcpyHostToDevice, stream), "copy");
  well(cudaMemsetAsync(dy, 1, 400, stream), "memset");
  well(cudaEventRecord(from, stream), "record");
  add<<<4, 32, 0, stream>>>(dx, dy, 100);
  add<<<4, 32, 0, stream>>>(dx, dy, 100);
  well(cudaEventRecord(to, stream), "record");
  well(cudaMemcpyAsync(y.data(), dy, 400, cudaMemcpyDeviceToHost, stream), "copy");
  well(cudaStreamSynchronize(stream), "synchronize");
  float passed = -1;
  well(cudaEventElapsedTime(&passed, from, to), "elapsed");
  held(passed > 0, "time passes");
  for (int i = 0; i < 100; ++i) held(y[i] == 0x01010101 + 2 * (i * i + i % 4 + 1), "add");
  well(cudaFree(dx), "free");
  well(cudaFree(dy), "free");
  well(cudaStreamDestroy(stream), "destroy");
}

void symbols() {
  int value = 0;
  count<<<1, 32>>>();
  well(cudaMemcpyFromSymbol(&value, counter, sizeof value), "from symbol");
  held(value == 5 + 32, "a variable keeps its initial value and what was added");
  value = 100;
  well(cudaMemcpyToSymbol(counter, &value, sizeof value), "to symbol");
  count<<<2, 32>>>();
  well(cudaMemcpyFromSymbol(&value, counter, sizeof value), "from symbol");
  held(value == 164, "a variable has what the host wrote");
}

void structures() {
  int* managed = nullptr;
  well(cudaMallocManaged(&managed, 64 * sizeof(int)), "managed");
  int* const to = allocated<int>(32);
  for (int i = 0; i < 64; ++i) managed[i] = 7 * i;
  copy<<<1, 32>>>({managed + 8, to});
  copy<<<1, 32>>>({to, managed});
  well(cudaDeviceSynchronize(), "synchronize");
  for (int i = 0; i < 32; ++i) held(managed[i] == 7 * (i + 8), "pointers in a structure, managed memory");
}

void shared() {
  constexpr int n = 20000;  // 80,000 bytes: more than a kernel may have unasked
  std::vector<int> data(n);
  for (int i = 0; i < n; ++i) data[i] = i;
  int* const d = allocated<int>(n);
  well(cudaMemcpy(d, data.data(), n * 4, cudaMemcpyHostToDevice), "copy");
  reverse<<<1, 128, n * 4>>>(d, n);
  held(cudaGetLastError() == cudaErrorInvalidValue, "so much dynamic shared memory is refused");
  well(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4), "attribute");
  reverse<<<1, 128, n * 4>>>(d, n);
  well(cudaMemcpy(data.data(), d, n * 4, cudaMemcpyDeviceToHost), "copy");
  for (int i = 0; i < n; ++i) held(data[i] == n - 1 - i, "reverse");
}

// Of 16 CTAs, in clusters of `size`.
cudaError_t in_clusters(unsigned size, int* out, int* potential) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(size == 17 ? 17 : 16);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t error = cudaLaunchKernelEx(&config, ranks, out);
  cudaGetLastError();
  int active = 0;
  held((cudaOccupancyMaxActiveClusters(&active, ranks, &config) == cudaSuccess) == (error == cudaSuccess),
       "clusters at once");
  config.numAttrs = 0;
  well(cudaOccupancyMaxPotentialClusterSize(potential, ranks, &config), "potential");
  cudaGetLastError();
  return error;
}

void clusters() {
  int* const out = allocated<int>(17);
  int potential = 0;
  for (const bool allowed : {false, true}) {
    if (allowed)
      well(cudaFuncSetAttribute(ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "attribute");
    cudaFuncAttributes attributes;
    well(cudaFuncGetAttributes(&attributes, ranks), "attributes");
    held(attributes.nonPortableClusterSizeAllowed == (allowed ? 1 : 0), "the attribute");
    for (const unsigned size : {1u, 2u, 4u, 16u, 17u}) {
      const cudaError_t error = in_clusters(size, out, &potential);
      held(potential == (allowed ? 16 : 8), "the largest cluster");
      held(error == (size <= (allowed ? 16 : 8) ? cudaSuccess : cudaErrorInvalidClusterSize),
           "a cluster's size");
      if (error != cudaSuccess) continue;
      int have[16];
      well(cudaMemcpy(have, out, sizeof have, cudaMemcpyDeviceToHost), "copy");
      for (unsigned i = 0; i < 16; ++i)
        held(have[i] == static_cast<int>(10 * size + i % size), "ranks in a cluster");
    }
  }
}

void cooperative() {
  int* parts = allocated<int>(8);
  int* sums = allocated<int>(8);
  void* arguments[] = {&parts, &sums};
  well(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(together), dim3(8), dim3(32), arguments, 0,
                                   nullptr),
       "cooperative");
  int have[8];
  well(cudaMemcpy(have, sums, sizeof have, cudaMemcpyDeviceToHost), "copy");
  for (const int sum : have) held(sum == 36, "a grid's sum");
}

void maps() {
  std::vector<int> data(16 * 16), have(64);
  for (int i = 0; i < 256; ++i) data[i] = 3 * i;
  int* const d = allocated<int>(256);
  int* const out = allocated<int>(64);
  well(cudaMemcpy(d, data.data(), 1024, cudaMemcpyHostToDevice), "copy");
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  well(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
       "entry point");
  held(result == cudaDriverEntryPointSuccess && found != nullptr, "cuTensorMapEncodeTiled is there");
  if (found == nullptr) return;
  CUtensorMap map;
  const cuuint64_t dims[2] = {16, 16}, strides[1] = {64};
  const cuuint32_t sizes[2] = {8, 8}, steps[2] = {1, 1};
  held(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
           &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, dims, strides, sizes, steps,
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS,
       "a tensor map");
  box<<<1, 64>>>(map, out);
  well(cudaMemcpy(have.data(), out, 256, cudaMemcpyDeviceToHost), "copy");
  for (int i = 0; i < 64; ++i) held(have[i] == 3 * (16 * (4 + i / 8) + 8 + i % 8), "a box of a tensor");
}

// Code of the CuTe DSL finds the runtime's functions under other names, in the library that the environment
// names.
void names() {
  const char* const path = std::getenv("CUTE_DSL_LIBS");
  held(path != nullptr, "the CuTe DSL's library is named");
  if (path == nullptr) return;
  void* const library = dlopen(path, RTLD_NOW);
  held(library != nullptr &&
           dlsym(library, "_cudaLaunchKernelEx") == dlsym(RTLD_DEFAULT, "cudaLaunchKernelExC"),
       "_cudaLaunchKernelEx");
  held(library != nullptr &&
           dlsym(library, "_cudaLibraryLoadData") == dlsym(RTLD_DEFAULT, "cudaLibraryLoadData"),
       "_cudaLibraryLoadData");
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  held(cudaGetDriverEntryPointByVersion("cuNothing", &found, 12000, cudaEnableDefault, &result) ==
               cudaErrorSymbolNotFound &&
           result == cudaDriverEntryPointSymbolNotFound && found == nullptr,
       "what the driver has not is not found");
}

// Captured while streams fork and join, launched twice.
void graph() {
  cudaStream_t stream;
  cudaGraph_t made;
  cudaGraphExec_t exec;
  well(cudaStreamCreate(&stream), "stream");
  int* const x = allocated<int>(100);
  int* const y = allocated<int>(100);
  well(cudaMemset(x, 0, 400), "memset");
  well(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin");
  well(cudaMemsetAsync(y, 0, 400, stream), "memset");
  add<<<4, 32, 0, stream>>>(x, y, 100);
  add<<<4, 32, 0, stream>>>(y, x, 100);
  well(cudaStreamEndCapture(stream, &made), "end");
  const int four[4] = {1, 2, 3, 4};
  well(cudaMemcpyToSymbol(table, four, sizeof four), "to symbol");
  well(cudaGraphInstantiate(&exec, made, 0), "instantiate");
  int have = -1;
  for (int i = 1; i <= 2; ++i) {
    well(cudaGraphLaunch(exec, stream), "launch");
    well(cudaStreamSynchronize(stream), "synchronize");
    well(cudaMemcpy(&have, x + 3, sizeof have, cudaMemcpyDeviceToHost), "copy");
    held(have == (i == 1 ? 8 : 24), "what a graph computes");
  }
}

// Each is an error that CUDA documents.
void misuse() {
  const auto told = [](const char* what, cudaError_t error) {
    std::printf("%s: %s\n", what, cudaGetErrorName(error));
  };
  int* const p = allocated<int>(100);
  int own[4] = {};
  well(cudaFree(p), "free");
  told("free again", cudaFree(p));
  told("a copy of freed memory", cudaMemcpy(own, p, 16, cudaMemcpyDeviceToHost));
  told("free of a variable", cudaFree(own));
  int* const q = allocated<int>(4);
  told("a copy past the end", cudaMemcpy(own, q + 2, 16, cudaMemcpyDeviceToHost));
  told("a variable of the host", cudaMemcpyToSymbol(own, own, 4));
  told("too many threads", (count<<<1, 2000>>>(), cudaGetLastError()));
  std::fflush(stdout);
  if (const pid_t child = fork(); child == 0) {
    int* r = nullptr;
    told("in a child", cudaMalloc(&r, 4));
    std::fflush(stdout);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
}

// What programs ask to see whether it works.
void probes() {
  const auto told = [](const char* what, cudaError_t error) {
    std::printf("%s: %s\n", what, cudaGetErrorName(error));
  };
  void *address = nullptr, *much = nullptr;
  told("more shared memory than there is",
       cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  told("more memory than there is", cudaMalloc(&much, size_t{1} << 45));
  told("a variable of the host", cudaGetSymbolAddress(&address, &failures));
  cudaGetLastError();
  count<<<1, 1>>>();
  well(cudaGetLastError(), "launch");
}

void device() {
  int count = 0, clusters = 0;
  well(cudaGetDeviceCount(&count), "count");
  cudaDeviceProp prop;
  well(cudaGetDeviceProperties(&prop, 0), "properties");
  well(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0), "attribute");
  std::printf("device: %s, %d.%d, %d SMs, %zu bytes of shared memory\n", prop.name, prop.major, prop.minor,
              prop.multiProcessorCount, prop.sharedMemPerBlockOptin);
  held(count == 1 && clusters == 1, "the device");
}

}  // namespace

int main(int words, char** word) {
  const char* const which = words > 1 ? word[1] : "";
  if (std::strcmp(which, "overrun") == 0) {
    int* const y = allocated<int>(100);
    overrun<<<4, 32>>>(y, 100);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("after the overrun: %s\n", cudaGetErrorName(error));
    return error == cudaErrorIllegalAddress ? 3 : 0;
  }
  if (std::strcmp(which, "assert") == 0) {
    asserts<<<1, 32>>>(30);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("after the assertion: %s, %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    return error == cudaErrorAssert ? 0 : 3;
  }
  if (std::strcmp(which, "heap") == 0) {
    int kept_value = 0;
    int* const out = allocated<int>(1);
    keep<<<1, 1>>>();
    fetch<<<1, 1>>>(out);
    well(cudaMemcpy(&kept_value, out, sizeof kept_value, cudaMemcpyDeviceToHost), "copy");
    std::printf("what the heap keeps: %d\n", kept_value);
    return failures;
  }
  if (std::strcmp(which, "graph") == 0) {
    graph();
    std::printf("a graph: %d failures\n", failures);
    return failures;
  }
  if (std::strcmp(which, "blind") == 0) {  // to what its launches come to, until it waits
    count<<<1, 32>>>();
    count<<<1, 32>>>();
    std::printf("it waits: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("and again: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  if (std::strcmp(which, "races") == 0) {
    int* const out = allocated<int>(64);
    well(cudaMemset(out, 0, 256), "memset");
    for (int i = 0; i < 3; ++i) races<<<1, 64>>>(out);
    well(cudaDeviceSynchronize(), "synchronize");
    return failures;
  }
  if (std::strcmp(which, "nvml") == 0) {  // what NVML calls the device, and CUDA
    void* const nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    const auto ask = [&](const char* name) { return nvml == nullptr ? nullptr : dlsym(nvml, name); };
    void* device = nullptr;
    char uuid[96] = "";
    int major = 0, minor = 0;
    reinterpret_cast<int (*)(unsigned, void**)>(ask("nvmlDeviceGetHandleByIndex_v2"))(0, &device);
    reinterpret_cast<int (*)(void*, char*, unsigned)>(ask("nvmlDeviceGetUUID"))(device, uuid, sizeof uuid);
    reinterpret_cast<int (*)(void*, int*, int*)>(ask("nvmlDeviceGetCudaComputeCapability"))(device, &major,
                                                                                            &minor);
    cudaDeviceProp prop;
    well(cudaGetDeviceProperties(&prop, 0), "properties");
    held(prop.major == major && prop.minor == minor, "the architecture is the same");
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
      char two[4];
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(prop.uuid.bytes[i]));
      text += std::string(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + two;
    }
    held(text == uuid, "the number is the same");
    std::printf("%d.%d, %s\n", major, minor, uuid);
    return failures;
  }
  if (std::strcmp(which, "unwritten") == 0) {  // the second half of what decides
    int* const x = allocated<int>(64);
    int* const y = allocated<int>(64);
    well(cudaMemset(x, 0, 128), "memset");
    decides<<<1, 64>>>(x, y);
    return 0;
  }
  if (std::strcmp(which, "padding") == 0) {  // and a second argument: a kernel looks at it
    int first = 0;
    int* const y = allocated<int>(2);
    pads<<<1, 1>>>(y);
    well(cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost), "copy");
    held(first == 7, "what was set");
    if (words > 2) decides<<<1, 2>>>(y, y);
    return failures;
  }
  if (std::strcmp(which, "neighbours") == 0) {  // a kernel that ends between two arrays of the host's
    alignas(256) static int own[64];
    well(cudaHostRegister(own + 4, 64, 0), "register");
    well(cudaHostRegister(own + 24, 64, 0), "register");
    overrun<<<1, 32>>>(own + 4, 16);
    return 0;
  }
  if (std::strcmp(which, "reset") == 0) {
    unsigned flags = 0;
    well(cudaSetDeviceFlags(cudaDeviceScheduleYield), "flags");
    well(cudaGetDeviceFlags(&flags), "flags");
    held((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield, "a flag is given back");
    symbols();
    int* const gone = allocated<int>(4);
    well(cudaDeviceReset(), "reset");
    held(cudaFree(gone) == cudaErrorInvalidValue, "memory is gone");
    cudaGetLastError();
    symbols();  // variables have their first values again
    return failures;
  }
  if (std::strcmp(which, "array") == 0) {
    const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t array;
    for (int i = 0; i < 2; ++i)
      std::printf("an array: %s\n", cudaGetErrorName(cudaMallocArray(&array, &format, 8, 8)));
    return 1;
  }
  if (std::strcmp(which, "misuse") == 0) {
    misuse();
    return failures;
  }
  if (std::strcmp(which, "probes") == 0) {
    probes();
    return failures;
  }
  if (std::strcmp(which, "time") == 0) {  // of a launch that does next to nothing, in microseconds
    cudaFuncAttributes attributes;
    well(cudaFuncGetAttributes(&attributes, count), "attributes");
    count<<<1, 1>>>();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) count<<<1, 1>>>();
    const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
    std::printf("%.0f us a launch\n", passed.count() / 1000);
    return 0;
  }
  if (std::strcmp(which, "touch") == 0) {  // argument: MiB of device memory
    const size_t bytes = std::strtoull(word[2], nullptr, 10) << 20;
    well(cudaMemset(allocated<char>(bytes), 1, bytes), "memset");
    symbols();
    return failures;
  }
  if (std::strcmp(which, "by the driver") == 0) {  // alone, whatever the runtime says
    std::printf("the runtime: %s\n", cudaGetErrorName(cudaFree(nullptr)));
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    const auto call = [&](const char* name) { return reinterpret_cast<int (*)(...)>(dlsym(driver, name)); };
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction nothing = nullptr;
    int bad =
        call("cuInit")(0) + call("cuDevicePrimaryCtxRetain")(&context, 0) + call("cuCtxSetCurrent")(context);
    bad += call("cuModuleLoadData")(
        &module, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n");
    bad += call("cuModuleGetFunction")(&nothing, module, "nothing");
    bad += call("cuLaunchKernel")(nothing, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
    std::printf("the driver: %d\n", bad + call("cuCtxSynchronize")());
    return bad;
  }
  if (std::strcmp(which, "short") == 0) {
    symbols();
    return failures;
  }
  if (std::strcmp(which, "wrong") == 0) {  // of its own accord
    says<<<1, 2>>>();
    well(cudaDeviceSynchronize(), "synchronize");
    held(false, "as it was asked to be");
    return failures;
  }
  device();
  streams();
  symbols();
  structures();
  shared();
  clusters();
  cooperative();
  maps();
  names();
  std::printf(failures == 0 ? "all held\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
