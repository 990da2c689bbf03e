#include "model/machine/tensor/matrix_descriptor.h"

#include <algorithm>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

using layout::SharedSwizzle;

constexpr uint64_t bits_of(int first, int last) { return ((uint64_t{2} << (last - first)) - 1) << first; }

constexpr uint64_t kCommon = bits_of(0, 13) | bits_of(16, 29) | bits_of(32, 45) | bits_of(49, 51);
constexpr uint64_t kWgmma = kCommon | bits_of(62, 63);
constexpr uint64_t kTcgen05 = kCommon | bits_of(46, 48) | bits_of(52, 52) | bits_of(61, 63);

constexpr uint32_t kAddressMask = (1u << 18) - 1;

SharedSwizzle tcgen05_swizzle(uint64_t bits) {
  switch (bits >> 61) {
    case 0: return SharedSwizzle::none;
    case 1: return SharedSwizzle::b128_atom_32b;
    case 2: return SharedSwizzle::b128;
    case 4: return SharedSwizzle::b64;
    case 6: return SharedSwizzle::b32;
    default:
      throw Fault("a matrix descriptor has " + std::to_string(bits >> 61) +
                  " in bits 61 to 63, which is no swizzle of tcgen05");
  }
}

}  // namespace

MatrixDescriptor decode_matrix_descriptor(DescriptorForm form, uint64_t bits) {
  const bool wgmma = form == DescriptorForm::wgmma;
  if (const uint64_t set = bits & ~(wgmma ? kWgmma : kTcgen05); set != 0)
    throw Unsupported("bit " + std::to_string(__builtin_ctzll(set)) +
                      " of a matrix descriptor, which is reserved");
  const auto field = [&](int at) { return static_cast<uint32_t>(bits >> at & 0x3FFF) << 4; };
  MatrixDescriptor d{field(0), field(16), field(32), SharedSwizzle::none,
                     static_cast<uint32_t>(bits >> 49 & 7)};
  if (wgmma) {
    constexpr SharedSwizzle swizzles[4] = {SharedSwizzle::none, SharedSwizzle::b128, SharedSwizzle::b64,
                                           SharedSwizzle::b32};
    d.swizzle = swizzles[bits >> 62];
    return d;
  }
  if (const uint64_t constant = bits >> 46 & 7; constant != 1)
    throw Fault("a matrix descriptor has " + std::to_string(constant) +
                " in bits 46 to 48 (constant), tcgen05 wants 1 there");
  if ((bits >> 52 & 1) != 0)
    throw Unsupported("bit 52 of a matrix descriptor: its leading dimension given as an address");
  d.swizzle = tcgen05_swizzle(bits);
  return d;
}

uint32_t chunk_of(const MatrixDescriptor& d, bool mn_major, uint32_t each, uint32_t row, uint32_t k) {
  const layout::SharedSwizzleRow& swizzle = layout::row_of(d.swizzle);
  const uint32_t span = std::max(swizzle.span, 16u);
  const uint32_t chunks = span / 16;  // of 16 bytes in a row of the swizzle's atom
  uint32_t at = d.start;
  if (mn_major) {
    const uint32_t group = row / each;
    const uint32_t lines = swizzle.atom == 16 ? 8 : 4;  // of one k each, in an atom
    if (chunks == 1)
      at += k % 8 * 16 + group * d.stride + k / 8 * d.leading;
    else
      at += group % chunks * 16 + group / chunks * d.leading + k % lines * span + k / lines * d.stride;
  } else {
    const uint32_t chunk = k / each;
    at += row % 8 * span + row / 8 * d.stride + (chunks == 1 ? chunk * d.leading : chunk * 16);
  }
  at &= kAddressMask;
  // Address bits 7 and up, counted from the base offset (H200), choose which bytes of the row the pattern
  // exchanges.
  const uint64_t counted = at - (uint64_t{d.base_offset} << 7);
  return at ^ static_cast<uint32_t>(layout::swizzled(d.swizzle, counted) ^ counted);
}

}  // namespace bitwell::machine
