// States and limits of the machine that launches seldom come to: zeros that were written, barriers of a CTA
// that is not the first, many names of what was freed, the last tensor map that is one.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/machine/beside.h"
#include "model/machine/claim/claims.h"
#include "model/machine/cuda_line.h"
#include "model/machine/failure.h"
#include "model/machine/mbarrier.h"
#include "model/machine/tensor/column_mask.h"
#include "model/machine/tensor/descriptor_fields.h"
#include "model/machine/tensor/instruction_descriptor.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::machine {
namespace {

template <class Do>
std::string said_by(Do what) {
  try {
    what();
  } catch (const InputError& e) {
    return e.what();
  } catch (const Unsupported& e) {
    return "unsupported: " + std::string(e.what());
  }
  return "";
}

// Of a run that does not count: what was written before is written again, whatever it was.
TEST(SeldomState, ZerosThatWereWrittenComeBackAsWritten) {
  for (const uint64_t size : {uint64_t{100}, kClaimPage, kClaimPage + 63, kClaimPage + 64, kClaimPage + 65}) {
    Memory memory;
    Region& region = memory.allocate("x", size);
    region.put(region.base(), std::vector<std::byte>(50));
    Before before(memory);
    std::vector<std::unique_ptr<Claims>> all;
    all.push_back(std::make_unique<Claims>(before));
    all[0]->write(region, region.base(), size);
    region.put(region.base(), std::vector<std::byte>(size, std::byte{9}));
    Claims::put_back(all, before);
    for (uint64_t i = 0; i < size; ++i) {
      ASSERT_EQ(region.raw_bytes()[i], std::byte{0}) << size << " " << i;
      ASSERT_EQ(region.is_defined(i, 1), i < 50) << size << " " << i;
    }
  }
}

// Shared memory of rank 3 starts at 3 << 24.
TEST(SeldomState, AnMbarrierOfALaterCtaTakesItsEightBytes) {
  const uint64_t base = uint64_t{3} << 24;
  Region shared("shared", base, 64, false);
  Mbarriers barriers(shared);
  barriers.init(base + 16, 2, Place{});
  for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(shared.is_defined(i, 1), i >= 16 && i < 24) << i;
  EXPECT_FALSE(barriers.arrive(base + 16, 1, {}));
  EXPECT_TRUE(barriers.arrive(base + 16, 1, {}));
  EXPECT_TRUE(barriers.phase_over(base + 16, 0));
  for (const auto& [at, length, meets] : {std::tuple{uint64_t{8}, uint64_t{8}, false},
                                          {8, 9, true},
                                          {23, 1, true},
                                          {24, 8, false},
                                          {16, 8, true},
                                          {0, 64, true},
                                          {0, 16, false}})
    EXPECT_EQ(barriers.overlapping(base + at, length) != nullptr, meets) << at << " " << length;
  shared.mark_defined(0, 64);
  barriers.inval(base + 16);
  for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(shared.is_defined(i, 1), i < 16 || i >= 24) << i;
  EXPECT_EQ(barriers.overlapping(base, 64), nullptr);
}

TEST(SeldomState, CountsOfArrivalsAreRefusedBeforeTheBarrierIsAsked) {
  Region shared("shared", 0, 64, false);
  Mbarriers barriers(shared);
  barriers.init(0, 2, Place{});
  for (const auto& [count, says] :
       {std::pair{uint64_t{0}, "an arrival with count 0, it must be 1 to 1048575"},
        {uint64_t{1} << 20, "an arrival with count 1048576, it must be 1 to 1048575"},
        {(uint64_t{1} << 20) - 1, "over-arrival: 1048575 more"},
        {uint64_t{3}, "over-arrival: 3 more"}}) {
    std::string said;
    try {
      barriers.arrive(0, count, {});
    } catch (const Fault& e) {
      said = e.what();
    }
    EXPECT_NE(said.find(says), std::string::npos) << said;
  }
}

// A buffer that the device has freed is named with the place that did so.
TEST(SeldomState, WhatAKernelFreedIsNamedByItsLine) {
  Memory memory;
  const uint64_t at = memory.allocate("heap", 32).base();
  memory.retire(at, "PTX line 7");
  EXPECT_EQ(memory.describe(at + 3), "3 bytes into 'heap, which was freed at PTX line 7' of 32 bytes");
  EXPECT_EQ(memory.find(at, 1), nullptr);
}

TEST(SeldomState, TheNamesOf4096FreedBuffersAreKept) {
  Memory memory;
  std::vector<uint64_t> bases;
  const auto freed = [&](size_t i) {
    return memory.describe(bases[i] + 1).find("'" + std::to_string(i) + ", which was freed'") !=
           std::string::npos;
  };
  for (size_t i = 0; i < 4098; ++i) bases.push_back(memory.allocate(std::to_string(i), 4).base());
  for (size_t i = 0; i < 4096; ++i) memory.free(bases[i]);
  EXPECT_TRUE(freed(0));
  memory.free(bases[4096]);
  EXPECT_FALSE(freed(0));
  EXPECT_TRUE(freed(1));
  memory.free(bases[4097]);
  EXPECT_FALSE(freed(1));
  EXPECT_TRUE(freed(2));
  EXPECT_TRUE(freed(4097));
}

// In whatever order objects are told, and of two at one place the last.
TEST(SeldomState, TheNearestObjectIsNamedInAnyOrder) {
  std::vector<Named> objects{{"a", 1000, 8}, {"b", 2000, 8}, {"c", 3000, 8}, {"d", 4000, 8}};
  std::sort(objects.begin(), objects.end(), [](const Named& x, const Named& y) { return x.name < y.name; });
  do {
    EXPECT_EQ(beside(objects, 2500, ""), "500 bytes into 'b' of 8 bytes, 500 bytes before 'c' of 8 bytes");
    EXPECT_EQ(nearest(objects, 1200), "a");
    EXPECT_EQ(nearest(objects, 2700), "c");
  } while (std::next_permutation(objects.begin(), objects.end(),
                                 [](const Named& x, const Named& y) { return x.name < y.name; }));
}

// A number ends where its text does.
TEST(SeldomState, WhatStandsBehindAFieldsNumberIsRefused) {
  const auto fields = matrix_descriptor_fields(DescriptorForm::tcgen05);
  const DescriptorField& start = descriptor_field(fields, "start");
  EXPECT_EQ(start.set(0, "32"), 2u);
  EXPECT_EQ(start.set(0, "0x20"), 2u);
  for (const char* text : {"32 ", "32x", "0x20g", "0x", "", "-32", "24", "262144"})
    EXPECT_NE(said_by([&] { start.set(0, text); }).find("got '" + std::string(text) + "'"), std::string::npos)
        << text;
}

// PTX ISA 9.0, "Shared memory descriptor" of tcgen05 and "Matrix descriptor format" of wgmma.
TEST(SeldomState, FieldsOfMatrixDescriptorsAreWhereTheTablesSay) {
  using Bits = std::pair<int, int>;
  for (const auto& [form, name, bits] : std::vector<std::tuple<DescriptorForm, const char*, Bits>>{
           {DescriptorForm::tcgen05, "start", {0, 13}},
           {DescriptorForm::tcgen05, "leading", {16, 29}},
           {DescriptorForm::tcgen05, "stride", {32, 45}},
           {DescriptorForm::tcgen05, "constant", {46, 48}},
           {DescriptorForm::tcgen05, "base_offset", {49, 51}},
           {DescriptorForm::tcgen05, "leading_mode", {52, 52}},
           {DescriptorForm::tcgen05, "swizzle", {61, 63}},
           {DescriptorForm::wgmma, "start", {0, 13}},
           {DescriptorForm::wgmma, "leading", {16, 29}},
           {DescriptorForm::wgmma, "stride", {32, 45}},
           {DescriptorForm::wgmma, "base_offset", {49, 51}},
           {DescriptorForm::wgmma, "swizzle", {62, 63}}}) {
    const auto fields = matrix_descriptor_fields(form);
    const DescriptorField& field = descriptor_field(fields, name);
    EXPECT_EQ(Bits(field.first, field.last), bits) << name;
  }
}

// PTX ISA 9.0, tables of tcgen05's instruction descriptor.
TEST(SeldomState, FieldsOfInstructionDescriptorsAreWhereTheTablesSay) {
  struct Row {
    const char* name;
    int first, last;
    bool scaled, plain;  // of kinds with and without scales
    uint64_t unit = 1;   // of what it counts
  };
  for (const Row& r : {Row{"sparsity_selector", 0, 1, true, true}, Row{"sparse", 2, 2, true, true},
                       Row{"saturate", 3, 3, false, true}, Row{"d_type", 4, 5, false, true},
                       Row{"b_scale_id", 4, 5, true, false}, Row{"a_type", 7, 9, true, true},
                       Row{"b_type", 10, 12, true, true}, Row{"negate_a", 13, 13, true, true},
                       Row{"negate_b", 14, 14, true, true}, Row{"a_major", 15, 15, true, true},
                       Row{"b_major", 16, 16, true, true}, Row{"n", 17, 22, true, true, 8},
                       Row{"scale_type", 23, 23, true, false}, Row{"m", 24, 28, true, true, 16},
                       Row{"a_scale_id", 29, 30, true, false}})
    for (const auto& [kind, scaled] : {std::pair{MmaKind::f16, false},
                                       {MmaKind::tf32, false},
                                       {MmaKind::f8f6f4, false},
                                       {MmaKind::mxf8f6f4, true}}) {
      if (!(scaled ? r.scaled : r.plain)) continue;
      const auto fields = instruction_descriptor_fields(kind);
      const DescriptorField& field = descriptor_field(fields, r.name);
      EXPECT_EQ(field.first, r.first) << r.name;
      EXPECT_EQ(field.last, r.last) << r.name;
      EXPECT_EQ(field.set(0, std::to_string(r.unit)), uint64_t{1} << r.first) << r.name;
    }
}

template <class Do>
std::string fault_of(Do what) {
  try {
    what();
  } catch (const Fault& e) {
    return e.what();
  }
  return "";
}

TEST(SeldomState, ShapesAreRefusedByTheirBits) {
  const auto shape = [](MmaKind kind, int ctas, uint32_t m, uint32_t n, uint32_t more) {
    return fault_of(
        [&] { decode_instruction_descriptor(kind, ctas, (m / 16) << 24 | (n / 8) << 17 | more); });
  };
  constexpr uint32_t f32 = 1 << 4, transposed_b = 1 << 16;
  const std::string of = "the instruction descriptor of kind::";
  EXPECT_EQ(shape(MmaKind::f16, 2, 128, 16, f32), "");
  EXPECT_EQ(
      shape(MmaKind::f16, 2, 128, 8, f32),
      of + "f16 has 1 in bits 17 to 22 (N >> 3): N must be a multiple of 16 up to 256 with cta_group::2");
  EXPECT_EQ(shape(MmaKind::f16, 2, 48, 16, f32),
            of + "f16 has 3 in bits 24 to 28 (M >> 4): M must be 128 or 256 with cta_group::2");
  EXPECT_EQ(shape(MmaKind::f8f6f4, 1, 128, 16, f32 | transposed_b), "");
  EXPECT_EQ(shape(MmaKind::f8f6f4, 1, 128, 8, f32 | transposed_b),
            of + "f8f6f4 has 1 in bits 17 to 22 (N >> 3): N must be a multiple of 16 where B of 8 bits is "
                 "transposed "
                 "with cta_group::1");
}

TEST(SeldomState, ColumnsAreShiftedNoFurtherThanTheShapeAllows) {
  for (const auto& [m, most, last] :
       {std::tuple{32u, 32u, 16u}, {32u, 8u, 8u}, {64u, 32u, 32u}, {128u, 32u, 32u}, {128u, 16u, 16u}}) {
    const auto shifted = [&, m = m, most = most](uint64_t by) {
      return fault_of([&] { decode_column_mask(by << 56, m, 128, most); });
    };
    EXPECT_EQ(shifted(last), "") << m;
    EXPECT_NE(shifted(last + 1).find(std::to_string(last + 1) +
                                     " in bits 56 to 61 (column shift): it must be at most " +
                                     std::to_string(last)),
              std::string::npos)
        << shifted(last + 1);
  }
  // What is reserved is zero, on both sides of the fields.
  for (const int bit : {36, 37, 38, 62, 63})
    EXPECT_NE(fault_of([&] {
                decode_column_mask(uint64_t{1} << bit, 64, 128, 32);
              }).find(bit < 40 ? "in bits 36 to 38 (reserved)" : "in bits 62 to 63 (reserved)"),
              std::string::npos)
        << bit;
}

TensorMap box_of_bytes(uint32_t columns, uint32_t rows, uint32_t slices) {
  TensorMap m;
  m.type = TensorType::u8;
  m.rank = 3;
  m.address = 1 << 20;
  m.dims = {256, 256, 256, 1, 1};
  m.strides = {0, 256, 65536, 0, 0};
  m.box = {columns, rows, slices, 1, 1};
  return m;
}

TEST(SeldomState, TheLargestBoxAndTheFurthestPixels) {
  EXPECT_EQ(said_by([] { check(box_of_bytes(256, 227, 4)); }), "");
  EXPECT_EQ(said_by([] { check(box_of_bytes(256, 114, 8)); }),
            "tensor map: boxDim in bytes is 233472, it must be at most 232448");
  for (const auto& [rank, bound] : {std::pair{3u, 1 << 15}, {4u, 1 << 7}, {5u, 1 << 4}})
    for (const bool upper : {false, true})
      for (const int32_t corner : {-bound - 1, -bound, bound - 1, bound}) {
        TensorMap m = box_of_bytes(16, 1, 1);
        m.rank = rank;
        m.dims = {256, 1 << 20, 1 << 20, 1 << 20, 2};
        m.strides = {0, 256, 256, 256, 256};
        m.im2col.channels = 16;
        m.im2col.pixels = 4;
        const size_t d = rank - 3;
        (upper ? m.im2col.upper : m.im2col.lower)[d] = corner;
        const std::string name = std::string(upper ? "pixelBoxUpperCorner[" : "pixelBoxLowerCorner[") +
                                 std::to_string(d) + "] is " + std::to_string(corner);
        const std::string said = said_by([&] { check(m); });
        const bool taken = corner >= -bound && corner < bound;
        EXPECT_EQ(said.find(name) == std::string::npos, taken) << rank << " " << said;
        EXPECT_EQ(said.empty(), taken) << said;
      }
}

// The bytes of a map with some bits set otherwise.
std::string decoded(TensorMapBytes bytes, MapBits field, uint64_t value) {
  const TensorMapBits& bits = kTensorMapBits[static_cast<size_t>(field)].bits;
  for (uint32_t i = 0; i < bits.width; ++i) {
    const auto bit = static_cast<std::byte>(1 << (bits.first + i) % 8);
    std::byte& at = bytes[(bits.first + i) / 8];
    at = (value >> i & 1) != 0 ? at | bit : at & ~bit;
  }
  return said_by([&] { decode_tensor_map(bytes); });
}

TEST(SeldomState, TypesThatNoBytesHave) {
  // tf32 has the bits of f32 and one more; 11 and 12 are its numbers for tensormap.replace.
  for (const uint64_t type : {11u, 12u})
    EXPECT_EQ(decoded(encode(box_of_bytes(16, 1, 1)), MapBits::type, type),
              "tensor map: the type's bits are " + std::to_string(type) + ", which no driver writes");
  EXPECT_EQ(decoded(encode(box_of_bytes(16, 1, 1)), MapBits::type, 10), "");
  // One of tf32 may become the other.
  TensorMap m = box_of_bytes(16, 1, 1);
  for (const auto& [from, to, number] : {std::tuple{TensorType::tf32, TensorType::tf32_ftz, 12u},
                                         {TensorType::tf32_ftz, TensorType::tf32, 11u},
                                         {TensorType::tf32, TensorType::tf32, 11u}}) {
    m.type = from;
    TensorMapBytes bytes = encode(m);
    EXPECT_EQ(said_by([&, n = number] { replace(bytes, TensorMapField::elemtype, 0, n); }), "") << number;
    EXPECT_EQ(decode_tensor_map(bytes).type, to) << number;
  }
}

// In maps as the CuTe DSL makes them for sm_100a, bit 65 set, types below 11 have the numbers that they have
// elsewhere, and of the others the one of 4 bits alone is known.
TEST(SeldomState, TypesOfMapsForSm100AreReplaced) {
  for (const auto& [number, says] :
       {std::pair{6u, ""}, {10u, ""}, {11u, "unsupported"}, {13u, ""}, {14u, "unsupported"}}) {
    TensorMapBytes bytes = encode(box_of_bytes(16, 1, 1));
    bytes[8] |= std::byte{2};
    const std::string said = said_by([&, n = number] { replace(bytes, TensorMapField::elemtype, 0, n); });
    EXPECT_EQ(said.substr(0, 11), says) << number;
    if (!said.empty()) continue;
    const TensorType want = number == 6    ? TensorType::f16
                            : number == 10 ? TensorType::bf16
                                           : TensorType::u4x16_align8b;
    EXPECT_EQ(decode_tensor_map(bytes).type, want) << number;
  }
}

TEST(SeldomState, AnAtomThatNoSwizzleHas) {
  TensorMap one = box_of_bytes(16, 1, 1), other = one;
  one.swizzle = TensorSwizzle::b128_atom_32b;
  other.swizzle = TensorSwizzle::b128_atom_64b;
  TensorMapBytes bytes = encode(one);
  const TensorMapBytes also = encode(other);
  const auto atom =
      static_cast<size_t>(std::mismatch(bytes.begin(), bytes.end(), also.begin()).first - bytes.begin());
  ASSERT_GE(atom, kMapBytesRead);  // a mark of ours, which no device reads
  for (const auto& [value, says] : {std::pair{3, ""}, {4, "tensor map: swizzle is 7, it must be 0 to 6"}}) {
    bytes[atom] = static_cast<std::byte>(value);
    EXPECT_EQ(said_by([&] { decode_tensor_map(bytes); }), says) << value;
  }
}

// Of a line that was inlined five places are named, or of more the first three and the last.
TEST(SeldomState, OfALongChainOfCallsTheEndsAreNamed) {
  const std::vector<std::string> words{"a:1",
                                       "a:1, from a:2",
                                       "a:1, from a:2, from a:3",
                                       "a:1, from a:2, from a:3, from a:4",
                                       "a:1, from a:2, from a:3, from a:4, from a:5",
                                       "a:1, from a:2, from a:3, from 2 more, from a:6",
                                       "a:1, from a:2, from a:3, from 3 more, from a:7"};
  for (size_t n = 1; n <= words.size(); ++n) {
    std::vector<CudaLine::At> chain;
    for (size_t i = 1; i <= n; ++i) chain.push_back({i % 2 != 0 ? "there/a" : "a", static_cast<int>(i)});
    EXPECT_EQ(words_of(cuda_place(chain)), words[n - 1]);
  }
}

// A swizzle that takes the place of one with an atom of its own leaves nothing of it.
TEST(SeldomState, ReplacedSwizzlesLoseTheirAtom) {
  for (const auto& [mode, becomes] : {std::pair{0u, TensorSwizzle::none},
                                      {1u, TensorSwizzle::b32},
                                      {2u, TensorSwizzle::b64},
                                      {3u, TensorSwizzle::b128_atom_64b}}) {
    TensorMap m = box_of_bytes(16, 1, 1);
    m.swizzle = TensorSwizzle::b128_atom_64b;
    TensorMapBytes bytes = encode(m);
    replace(bytes, TensorMapField::swizzle_mode, 0, mode);
    EXPECT_EQ(decode_tensor_map(bytes).swizzle, becomes) << mode;
    // And comes not back with the next one.
    replace(bytes, TensorMapField::swizzle_mode, 0, 3);
    EXPECT_EQ(decode_tensor_map(bytes).swizzle, mode == 3 ? becomes : TensorSwizzle::b128) << mode;
  }
}

}  // namespace
}  // namespace bitwell::machine
