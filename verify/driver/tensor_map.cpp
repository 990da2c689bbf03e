#include "bitwell/tensor_map.h"

#include <cstring>
#include <string>

#include "model/machine/failure.h"
#include "model/machine/tensor_map.h"

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

bitwell_result bitwell_tensor_map_encode_tiled(
    bitwell_tensor_map* map, bitwell_tensor_map_data_type type, uint32_t rank, void* address,
    const uint64_t* dims, const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
    bitwell_tensor_map_interleave interleave, bitwell_tensor_map_swizzle swizzle,
    bitwell_tensor_map_l2_promotion l2_promotion, bitwell_tensor_map_oob_fill oob_fill) {
  return answer([&] {
    using namespace bitwell::machine;
    present(map, "tensorMap");
    if (reinterpret_cast<uintptr_t>(map) % 64 != 0)
      throw InputError("tensor map: tensorMap is at " + std::to_string(reinterpret_cast<uintptr_t>(map)) +
                       ", it must be a multiple of 64");
    at_most(type, "tensorDataType", kTensorTypes.size() - 1);
    at_most(interleave, "interleave", BITWELL_TENSOR_MAP_INTERLEAVE_32B);
    at_most(swizzle, "swizzle", kTensorSwizzles.size() - 1);
    at_most(l2_promotion, "l2Promotion", BITWELL_TENSOR_MAP_L2_PROMOTION_L2_256B);
    at_most(oob_fill, "oobFill", BITWELL_TENSOR_MAP_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    if (rank < 1 || rank > 5)
      throw InputError("tensor map: tensorRank is " + std::to_string(rank) + ", it must be 1 to 5");
    present(dims, "globalDim");
    if (rank > 1) present(strides, "globalStrides");
    present(box, "boxDim");
    present(element_strides, "elementStrides");
    TensorMap out;
    out.type = static_cast<TensorType>(type);
    out.rank = rank;
    out.address = reinterpret_cast<uintptr_t>(address);
    for (uint32_t d = 0; d < rank; ++d) {
      out.dims[d] = dims[d];
      out.box[d] = box[d];
      out.element_strides[d] = element_strides[d];
      if (d > 0) out.strides[d] = strides[d - 1];
    }
    out.swizzle = static_cast<TensorSwizzle>(swizzle);
    out.fill_nan = oob_fill == BITWELL_TENSOR_MAP_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    check(out);
    if (interleave != BITWELL_TENSOR_MAP_INTERLEAVE_NONE)
      throw Unsupported("tensor maps with interleave " + std::to_string(interleave));
    const TensorMapBytes bytes = encode(out);
    static_assert(sizeof bytes == sizeof *map);
    std::memcpy(map, bytes.data(), sizeof bytes);
  });
}

bitwell_result bitwell_tensor_map_encode_im2col(bitwell_tensor_map*, bitwell_tensor_map_data_type, uint32_t,
                                                void*, const uint64_t*, const uint64_t*, const int*,
                                                const int*, uint32_t, uint32_t, const uint32_t*,
                                                bitwell_tensor_map_interleave, bitwell_tensor_map_swizzle,
                                                bitwell_tensor_map_l2_promotion,
                                                bitwell_tensor_map_oob_fill) {
  return answer([] { throw Unsupported("im2col tensor maps (cuTensorMapEncodeIm2col)"); });
}

const char* bitwell_tensor_map_message(void) { return message.c_str(); }
