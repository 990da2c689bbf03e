#include "bitwell/tensor_map.h"

#include <cstring>
#include <string>

#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace {

using bitwell::machine::InputError;
using bitwell::machine::Unsupported;

thread_local std::string message;

// What `f` throws as a result and a message.
template <class F>
bitwell_result answer(F f) noexcept {
  try {
    message.clear();
    f();
    return BITWELL_SUCCESS;
  } catch (const Unsupported& e) {
    message = e.what();
    return BITWELL_ERROR_NOT_SUPPORTED;
  } catch (const std::exception& e) {
    message = e.what();
    return BITWELL_ERROR_INVALID_VALUE;
  }
}

void present(const void* pointer, const char* name) {
  if (pointer == nullptr) throw InputError(std::string("tensor map: ") + name + " is NULL");
}

void at_most(uint64_t value, const char* name, uint64_t most) {
  if (value > most)
    throw InputError(std::string("tensor map: ") + name + " is " + std::to_string(value) +
                     ", it must be 0 to " + std::to_string(most));
}

}  // namespace

namespace {

using bitwell::machine::TensorMap;

// What the maps of tiles and of im2col are given alike.
struct Common {
  bitwell_tensor_map_data_type type;
  uint32_t rank;
  void* address;
  const uint64_t* dims;
  const uint64_t* strides;
  const uint32_t* element_strides;
  bitwell_tensor_map_interleave interleave;
  bitwell_tensor_map_swizzle swizzle;
  bitwell_tensor_map_l2_promotion l2_promotion;
  bitwell_tensor_map_oob_fill oob_fill;
};

TensorMap common_map(const bitwell_tensor_map* map, const Common& c) {
  using namespace bitwell::machine;
  present(map, "tensorMap");
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0)
    throw InputError("tensor map: tensorMap is at " + std::to_string(reinterpret_cast<uintptr_t>(map)) +
                     ", it must be a multiple of 64");
  at_most(c.type, "tensorDataType", kTensorTypes.size() - 1);
  at_most(c.interleave, "interleave", BITWELL_TENSOR_MAP_INTERLEAVE_32B);
  at_most(c.swizzle, "swizzle", kTensorSwizzles.size() - 1);
  at_most(c.l2_promotion, "l2Promotion", BITWELL_TENSOR_MAP_L2_PROMOTION_L2_256B);
  at_most(c.oob_fill, "oobFill", BITWELL_TENSOR_MAP_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  if (c.rank < 1 || c.rank > 5)
    throw InputError("tensor map: tensorRank is " + std::to_string(c.rank) + ", it must be 1 to 5");
  present(c.dims, "globalDim");
  if (c.rank > 1) present(c.strides, "globalStrides");
  present(c.element_strides, "elementStrides");
  TensorMap out;
  out.type = static_cast<TensorType>(c.type);
  out.rank = c.rank;
  out.address = reinterpret_cast<uintptr_t>(c.address);
  for (uint32_t d = 0; d < c.rank; ++d) {
    out.dims[d] = c.dims[d];
    out.element_strides[d] = c.element_strides[d];
    if (d > 0) out.strides[d] = c.strides[d - 1];
  }
  out.swizzle = static_cast<TensorSwizzle>(c.swizzle);
  out.interleave = static_cast<TensorInterleave>(c.interleave);
  out.promotion = static_cast<L2Promotion>(c.l2_promotion);
  out.fill_nan = c.oob_fill == BITWELL_TENSOR_MAP_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  return out;
}

void store(bitwell_tensor_map* map, const TensorMap& out) {
  check(out);
  const bitwell::machine::TensorMapBytes bytes = encode(out);
  static_assert(sizeof bytes == sizeof *map);
  std::memcpy(map, bytes.data(), sizeof bytes);
}

}  // namespace

bitwell_result bitwell_tensor_map_encode_tiled(
    bitwell_tensor_map* map, bitwell_tensor_map_data_type type, uint32_t rank, void* address,
    const uint64_t* dims, const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
    bitwell_tensor_map_interleave interleave, bitwell_tensor_map_swizzle swizzle,
    bitwell_tensor_map_l2_promotion l2_promotion, bitwell_tensor_map_oob_fill oob_fill) {
  return answer([&] {
    TensorMap out = common_map(map, {type, rank, address, dims, strides, element_strides, interleave, swizzle,
                                     l2_promotion, oob_fill});
    present(box, "boxDim");
    for (uint32_t d = 0; d < rank; ++d) out.box[d] = box[d];
    store(map, out);
  });
}

bitwell_result bitwell_tensor_map_encode_im2col(
    bitwell_tensor_map* map, bitwell_tensor_map_data_type type, uint32_t rank, void* address,
    const uint64_t* dims, const uint64_t* strides, const int* lower, const int* upper, uint32_t channels,
    uint32_t pixels, const uint32_t* element_strides, bitwell_tensor_map_interleave interleave,
    bitwell_tensor_map_swizzle swizzle, bitwell_tensor_map_l2_promotion l2_promotion,
    bitwell_tensor_map_oob_fill oob_fill) {
  return answer([&] {
    TensorMap out = common_map(map, {type, rank, address, dims, strides, element_strides, interleave, swizzle,
                                     l2_promotion, oob_fill});
    present(lower, "pixelBoxLowerCorner");
    present(upper, "pixelBoxUpperCorner");
    if (channels == 0) throw InputError("tensor map: channelsPerPixel is 0, it must be 1 to 256");
    out.im2col.channels = channels;
    out.im2col.pixels = pixels;
    // Of W, H and D, as far as the tensor has them.
    const uint32_t space = rank < 3 ? 0 : rank - 2;
    for (uint32_t d = 0; d < space; ++d) {
      out.im2col.lower[d] = lower[d];
      out.im2col.upper[d] = upper[d];
    }
    store(map, out);
  });
}

const char* bitwell_tensor_map_message(void) { return message.c_str(); }
