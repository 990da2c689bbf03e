/* Tensor maps for bitwell's simulator, made by functions with the arguments of cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col (CUDA driver API, "Tensor Map Object Management"), so that the code of a host
 * program that makes maps can make them for the simulator: no GPU and no CUDA are needed.
 *
 * Where <cuda.h> is included before this header, the types are its own, and a function here fits wherever the
 * driver's does: #define cuTensorMapEncodeTiled bitwell_tensor_map_encode_tiled. Without it they are defined
 * here, with the same values.
 *
 * The 128 bytes are those that an H200's driver writes (580.159.04). Of types and swizzles that only
 * Blackwell has they are bitwell's own, and no GPU takes them. LAUNCH.json takes a file of them, or of a
 * driver's:
 * {"tensor_map": "x", "encoded": "x.map"}. */
#ifndef BITWELL_TENSOR_MAP_H
#define BITWELL_TENSOR_MAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef CUDA_VERSION
typedef CUresult bitwell_result;
typedef CUtensorMap bitwell_tensor_map;
typedef CUtensorMapDataType bitwell_tensor_map_data_type;
typedef CUtensorMapInterleave bitwell_tensor_map_interleave;
typedef CUtensorMapSwizzle bitwell_tensor_map_swizzle;
typedef CUtensorMapL2promotion bitwell_tensor_map_l2_promotion;
typedef CUtensorMapFloatOOBfill bitwell_tensor_map_oob_fill;
#else
typedef enum {
  BITWELL_SUCCESS = 0,
  BITWELL_ERROR_INVALID_VALUE = 1,
  BITWELL_ERROR_NOT_SUPPORTED = 801 /* legal, but not modelled */
} bitwell_result;

typedef struct {
#if defined(__cplusplus)
  alignas(64)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
  _Alignas(64)
#endif
      uint64_t opaque[16];
} bitwell_tensor_map;

typedef enum {
  BITWELL_TENSOR_MAP_DATA_TYPE_UINT8,
  BITWELL_TENSOR_MAP_DATA_TYPE_UINT16,
  BITWELL_TENSOR_MAP_DATA_TYPE_UINT32,
  BITWELL_TENSOR_MAP_DATA_TYPE_INT32,
  BITWELL_TENSOR_MAP_DATA_TYPE_UINT64,
  BITWELL_TENSOR_MAP_DATA_TYPE_INT64,
  BITWELL_TENSOR_MAP_DATA_TYPE_FLOAT16,
  BITWELL_TENSOR_MAP_DATA_TYPE_FLOAT32,
  BITWELL_TENSOR_MAP_DATA_TYPE_FLOAT64,
  BITWELL_TENSOR_MAP_DATA_TYPE_BFLOAT16,
  BITWELL_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
  BITWELL_TENSOR_MAP_DATA_TYPE_TFLOAT32,
  BITWELL_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
  BITWELL_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
  BITWELL_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
  BITWELL_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
} bitwell_tensor_map_data_type;

typedef enum {
  BITWELL_TENSOR_MAP_INTERLEAVE_NONE,
  BITWELL_TENSOR_MAP_INTERLEAVE_16B,
  BITWELL_TENSOR_MAP_INTERLEAVE_32B
} bitwell_tensor_map_interleave;

typedef enum {
  BITWELL_TENSOR_MAP_SWIZZLE_NONE,
  BITWELL_TENSOR_MAP_SWIZZLE_32B,
  BITWELL_TENSOR_MAP_SWIZZLE_64B,
  BITWELL_TENSOR_MAP_SWIZZLE_128B,
  BITWELL_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
  BITWELL_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
  BITWELL_TENSOR_MAP_SWIZZLE_128B_ATOM_64B
} bitwell_tensor_map_swizzle;

typedef enum {
  BITWELL_TENSOR_MAP_L2_PROMOTION_NONE,
  BITWELL_TENSOR_MAP_L2_PROMOTION_L2_64B,
  BITWELL_TENSOR_MAP_L2_PROMOTION_L2_128B,
  BITWELL_TENSOR_MAP_L2_PROMOTION_L2_256B
} bitwell_tensor_map_l2_promotion;

typedef enum {
  BITWELL_TENSOR_MAP_OOB_FILL_NONE,
  BITWELL_TENSOR_MAP_OOB_FILL_NAN_REQUEST_ZERO_FMA
} bitwell_tensor_map_oob_fill;
#endif

/* The map of boxes of a tensor, as cuTensorMapEncodeTiled takes them. Sizes in elements, globalStrides in
 * bytes, of dimension 1 and up; the innermost dimension first. Success writes *tensorMap. What the driver
 * refuses is INVALID_VALUE, im2col of types of 4 and 6 bits is NOT_SUPPORTED; *tensorMap then stays as it
 * was. Copies by a map with interleaved elements are not simulated: the copy says so. */
bitwell_result bitwell_tensor_map_encode_tiled(
    bitwell_tensor_map* tensorMap, bitwell_tensor_map_data_type tensorDataType, uint32_t tensorRank,
    void* globalAddress, const uint64_t* globalDim, const uint64_t* globalStrides, const uint32_t* boxDim,
    const uint32_t* elementStrides, bitwell_tensor_map_interleave interleave,
    bitwell_tensor_map_swizzle swizzle, bitwell_tensor_map_l2_promotion l2Promotion,
    bitwell_tensor_map_oob_fill oobFill);

/* The corners are of W, H and D, as far as the tensor has them: the innermost first, as in globalDim (CUTLASS
 * passes them so). */
bitwell_result bitwell_tensor_map_encode_im2col(
    bitwell_tensor_map* tensorMap, bitwell_tensor_map_data_type tensorDataType, uint32_t tensorRank,
    void* globalAddress, const uint64_t* globalDim, const uint64_t* globalStrides,
    const int* pixelBoxLowerCorner, const int* pixelBoxUpperCorner, uint32_t channelsPerPixel,
    uint32_t pixelsPerColumn, const uint32_t* elementStrides, bitwell_tensor_map_interleave interleave,
    bitwell_tensor_map_swizzle swizzle, bitwell_tensor_map_l2_promotion l2Promotion,
    bitwell_tensor_map_oob_fill oobFill);

/* What was wrong with this thread's last call of one of them: argument, value and limit. "" after success.
 * Valid until its next call. */
const char* bitwell_tensor_map_message(void);

#ifdef __cplusplus
}
#endif

#endif
