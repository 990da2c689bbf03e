// What programs need of the driver itself, most of them through cudaGetDriverEntryPointByVersion. Arguments
// and results as in cuda.h, whose types are left out: CUresult and the enumerations are ints.
#include <cstring>

#include "verify/driver/bitwell/tensor_map.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

int told(const char* name, bitwell_result result) {
  if (result != BITWELL_SUCCESS) say(std::string(name) + ": " + bitwell_tensor_map_message());
  return result;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* out) { return cudaDriverGetVersion(out); }
int cuDeviceGetCount(int* out) { return cudaGetDeviceCount(out); }
int cuDeviceGet(int* out, int device) {
  *out = 0;
  return device == 0 ? 0 : cudaErrorInvalidDevice;
}
int cuDeviceGetAttribute(int* out, int which, int device) {
  return cudaDeviceGetAttribute(out, static_cast<cudaDeviceAttr>(which), device);
}
int cuDeviceGetName(char* out, int length, int) {
  return call("cuDeviceGetName", [&](Session& s) {
    std::snprintf(out, static_cast<size_t>(length), "%s (bitwell)", std::string(s.device().name).c_str());
    return cudaSuccess;
  });
}
int cuGetErrorString(int error, const char** out) {
  *out = cudaGetErrorString(static_cast<cudaError_t>(error));
  return 0;
}
int cuGetErrorName(int error, const char** out) {
  *out = cudaGetErrorName(static_cast<cudaError_t>(error));
  return 0;
}
int cuCtxGetCurrent(void** out) {
  static int context;
  *out = &context;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuDevicePrimaryCtxRetain(void** out, int) { return cuCtxGetCurrent(out); }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSynchronize() { return cudaDeviceSynchronize(); }
int cuMemAlloc_v2(void** out, size_t bytes) { return cudaMalloc(out, bytes); }
int cuMemFree_v2(void* pointer) { return cudaFree(pointer); }
int cuMemcpyHtoD_v2(void* to, const void* from, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}
int cuMemcpyDtoH_v2(void* to, const void* from, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
int cuMemsetD8_v2(void* to, unsigned char value, size_t bytes) { return cudaMemset(to, value, bytes); }

int cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags, int* found) {
  cudaDriverEntryPointQueryResult result{};
  const int error =
      cudaGetDriverEntryPointByVersion(name, out, static_cast<unsigned>(version), flags, &result);
  if (found != nullptr) *found = result;
  return error;
}
int cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
// A program that asks for these has the CUDA runtime linked in, which wants more of a driver than CUDA
// documents.
int cuGetExportTable(const void**, const void*) {
  session().missing("the CUDA runtime that is linked into the program: link it with nvcc -cudart shared");
  return cudaErrorNotSupported;
}

// The CuTe DSL asks for one: bytes of static shared memory, to which it adds the dynamic. Its kernels have
// none.
int cuKernelGetAttribute(int* out, int which, void*, int) {
  constexpr int static_shared = 1;  // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
  return call("cuKernelGetAttribute", [&](Session& s) {
    if (which != static_shared) return not_supported(s, "kernel attribute " + std::to_string(which));
    *out = 0;
    return cudaSuccess;
  });
}

int cuTensorMapEncodeTiled(bitwell_tensor_map* map, int type, uint32_t rank, void* address,
                           const uint64_t* dims, const uint64_t* strides, const uint32_t* box,
                           const uint32_t* element_strides, int interleave, int swizzle, int l2, int fill) {
  return told("cuTensorMapEncodeTiled",
              bitwell_tensor_map_encode_tiled(map, static_cast<bitwell_tensor_map_data_type>(type), rank,
                                              address, dims, strides, box, element_strides,
                                              static_cast<bitwell_tensor_map_interleave>(interleave),
                                              static_cast<bitwell_tensor_map_swizzle>(swizzle),
                                              static_cast<bitwell_tensor_map_l2_promotion>(l2),
                                              static_cast<bitwell_tensor_map_oob_fill>(fill)));
}
int cuTensorMapEncodeIm2col(bitwell_tensor_map* map, int type, uint32_t rank, void* address,
                            const uint64_t* dims, const uint64_t* strides, const int* lower, const int* upper,
                            uint32_t channels, uint32_t pixels, const uint32_t* element_strides,
                            int interleave, int swizzle, int l2, int fill) {
  return told(
      "cuTensorMapEncodeIm2col",
      bitwell_tensor_map_encode_im2col(
          map, static_cast<bitwell_tensor_map_data_type>(type), rank, address, dims, strides, lower, upper,
          channels, pixels, element_strides, static_cast<bitwell_tensor_map_interleave>(interleave),
          static_cast<bitwell_tensor_map_swizzle>(swizzle), static_cast<bitwell_tensor_map_l2_promotion>(l2),
          static_cast<bitwell_tensor_map_oob_fill>(fill)));
}
// The address is the first of its words.
int cuTensorMapReplaceAddress(bitwell_tensor_map* map, void* address) {
  std::memcpy(map, &address, sizeof address);
  return 0;
}

}  // extern "C"
