// Tensor maps, which the model encodes as the driver does.
// CUDA's header first: behind it bitwell's takes its types.
// clang-format off
#include <cuda.h>

#include "bitwell/tensor_map.h"
// clang-format on

#include <cstring>

#include "verify/driver/core/state.h"

using namespace bitwell::driver;

namespace {

CUresult told(const char* name, CUresult result) {
  if (result != CUDA_SUCCESS) say(std::string(name) + ": " + bitwell_tensor_map_message());
  return result;
}
const uint64_t* ours(const cuuint64_t* numbers) { return reinterpret_cast<const uint64_t*>(numbers); }

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                CUtensorMapFloatOOBfill fill) {
  return told("cuTensorMapEncodeTiled",
              bitwell_tensor_map_encode_tiled(map, type, rank, address, ours(dims), ours(strides), box,
                                              element_strides, interleave, swizzle, l2, fill));
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* dims, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                 CUtensorMapFloatOOBfill fill) {
  return told(
      "cuTensorMapEncodeIm2col",
      bitwell_tensor_map_encode_im2col(map, type, rank, address, ours(dims), ours(strides), lower, upper,
                                       channels, pixels, element_strides, interleave, swizzle, l2, fill));
}
// The address is the first of its words.
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  if (map == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(map, &address, sizeof address);
  return CUDA_SUCCESS;
}

}  // extern "C"
