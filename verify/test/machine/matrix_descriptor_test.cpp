// Matrix descriptors: every field, every reserved bit, and where the canonical layouts put an element.
#include "model/machine/tensor/matrix_descriptor.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

using enum DescriptorForm;
using layout::SharedSwizzle;

template <class Failure>
std::string refusal(DescriptorForm form, uint64_t bits) {
  try {
    decode_matrix_descriptor(form, bits);
  } catch (const Failure& f) {
    return f.what();
  } catch (const std::exception& e) {
    return std::string("another failure: ") + e.what();
  }
  return "";
}

constexpr uint64_t kOne = uint64_t{1} << 46;  // what tcgen05 wants in bits 46 to 48

TEST(MatrixDescriptor, EveryFieldIsWhereTheManualSays) {
  // The descriptor of an NVFP4 operand that CUTLASS makes: 128-byte swizzle, 1024 bytes to the next 8 rows.
  const MatrixDescriptor d = decode_matrix_descriptor(tcgen05, 0x4000404000010000 | 0x2345);
  EXPECT_EQ(d.start, 0x23450u);
  EXPECT_EQ(d.leading, 16u);
  EXPECT_EQ(d.stride, 1024u);
  EXPECT_EQ(d.swizzle, SharedSwizzle::b128);
  EXPECT_EQ(d.base_offset, 0u);
  // Of scale factors: no swizzle, 128 bytes to the next 8 rows.
  const MatrixDescriptor s = decode_matrix_descriptor(tcgen05, 0x0000400800010000);
  EXPECT_EQ(s.stride, 128u);
  EXPECT_EQ(s.swizzle, SharedSwizzle::none);
  for (const DescriptorForm form : {wgmma, tcgen05}) {
    const uint64_t full = (form == tcgen05 ? kOne : 0) | 0x3FFF | uint64_t{0x3FFF} << 16 |
                          uint64_t{0x3FFF} << 32 | uint64_t{7} << 49;
    const MatrixDescriptor most = decode_matrix_descriptor(form, full);
    EXPECT_EQ(most.start, 0x3FFF0u);
    EXPECT_EQ(most.leading, 0x3FFF0u);
    EXPECT_EQ(most.stride, 0x3FFF0u);
    EXPECT_EQ(most.base_offset, 7u);
  }
}

TEST(MatrixDescriptor, SwizzlesAreTheForms) {
  const SharedSwizzle two_bits[4] = {SharedSwizzle::none, SharedSwizzle::b128, SharedSwizzle::b64,
                                     SharedSwizzle::b32};
  for (uint64_t s = 0; s < 4; ++s)
    EXPECT_EQ(decode_matrix_descriptor(wgmma, s << 62).swizzle, two_bits[s]) << s;
  const std::pair<uint64_t, SharedSwizzle> three_bits[] = {{0, SharedSwizzle::none},
                                                           {1, SharedSwizzle::b128_atom_32b},
                                                           {2, SharedSwizzle::b128},
                                                           {4, SharedSwizzle::b64},
                                                           {6, SharedSwizzle::b32}};
  for (const auto& [bits, swizzle] : three_bits)
    EXPECT_EQ(decode_matrix_descriptor(tcgen05, kOne | bits << 61).swizzle, swizzle) << bits;
  for (const uint64_t bits : {3, 5, 7})
    EXPECT_EQ(refusal<Fault>(tcgen05, kOne | bits << 61),
              "a matrix descriptor has " + std::to_string(bits) +
                  " in bits 61 to 63, which is no swizzle of tcgen05");
}

TEST(MatrixDescriptor, EveryOtherBitIsRefusedByName) {
  const std::set<int> used_by_both{14, 15, 30, 31, 53, 54, 55, 56, 57, 58, 59, 60};
  for (const int bit : used_by_both)
    for (const DescriptorForm form : {wgmma, tcgen05})
      EXPECT_EQ(refusal<Unsupported>(form, (form == tcgen05 ? kOne : 0) | uint64_t{1} << bit),
                "bit " + std::to_string(bit) + " of a matrix descriptor, which is reserved");
  for (const int bit : {46, 47, 48, 52, 61})
    EXPECT_EQ(refusal<Unsupported>(wgmma, uint64_t{1} << bit),
              "bit " + std::to_string(bit) + " of a matrix descriptor, which is reserved");
  EXPECT_EQ(refusal<Unsupported>(tcgen05, kOne | uint64_t{1} << 52),
            "bit 52 of a matrix descriptor: its leading dimension given as an address");
  for (uint64_t constant = 0; constant < 8; ++constant)
    EXPECT_EQ(refusal<Fault>(tcgen05, constant << 46),
              constant == 1 ? ""
                            : "a matrix descriptor has " + std::to_string(constant) +
                                  " in bits 46 to 48 (constant), tcgen05 wants 1 there");
}

// The canonical layouts of the manual's tables in units of 16 bytes, spelled out again.
TEST(MatrixDescriptor, ChunksOfTheCanonicalLayouts) {
  const MatrixDescriptor none{0, 0x1000, 0x200, SharedSwizzle::none, 0};
  EXPECT_EQ(chunk_of(none, false, 32, 9, 32), 0x1000u + 0x200 + 16);  // K-major: LBO along K, SBO along rows
  EXPECT_EQ(chunk_of(none, true, 8, 8, 9), 0x200u + 0x1000 + 16);     // MN-major: SBO along rows, LBO along k
  const MatrixDescriptor wide{0, 0x1000, 0x400, SharedSwizzle::b128, 0};
  EXPECT_EQ(chunk_of(wide, false, 32, 8, 32), 0x400u + 16);                // row 8: the pattern starts again
  EXPECT_EQ(chunk_of(wide, false, 32, 3, 32), 3u * 128 + ((1 ^ 3) * 16));  // chunk 1 of row 3
  EXPECT_EQ(chunk_of(wide, true, 8, 64 + 8, 9), 0x1000u + 0x400 + 128 + ((1 ^ 1) * 16));
  // 32-byte atoms: four lines of k an atom, pairs of chunks stay together.
  const MatrixDescriptor atoms{0, 0x1000, 0x200, SharedSwizzle::b128_atom_32b, 0};
  EXPECT_EQ(chunk_of(atoms, true, 4, 4, 0), 16u);
  EXPECT_EQ(chunk_of(atoms, true, 4, 4, 1), 128u + 32 + 16);
  EXPECT_EQ(chunk_of(atoms, true, 4, 0, 4), 0x200u);
  // The pattern counts from the base offset.
  MatrixDescriptor shifted = wide;
  shifted.start = 128;
  EXPECT_EQ(chunk_of(shifted, false, 32, 0, 0), 128u + 16);
  shifted.base_offset = 1;
  EXPECT_EQ(chunk_of(shifted, false, 32, 0, 0), 128u);
  // Addresses wrap at 2^18.
  shifted.start = (1u << 18) - 1024;
  shifted.base_offset = 0;
  EXPECT_EQ(chunk_of(shifted, false, 32, 8, 0), 0u);
}

}  // namespace
}  // namespace bitwell::machine
