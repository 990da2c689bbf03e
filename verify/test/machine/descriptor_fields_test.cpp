// The named fields of descriptors and the decoders, written apart, agree.
#include "model/machine/tensor/descriptor_fields.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "model/machine/failure.h"
#include "model/machine/tensor/column_mask.h"

namespace bitwell::machine {
namespace {

using Fields = std::vector<DescriptorField>;

constexpr MmaKind kKinds[] = {MmaKind::f16,      MmaKind::tf32, MmaKind::f8f6f4,  MmaKind::i8,
                              MmaKind::mxf8f6f4, MmaKind::mxf4, MmaKind::mxf4nvf4};

void every_bit_once(const Fields& fields, int bits) {
  int at = 0;
  for (const DescriptorField& f : fields) {
    EXPECT_EQ(f.first, at) << f.name;
    EXPECT_GE(f.last, f.first) << f.name;
    at = f.last + 1;
  }
  EXPECT_EQ(at, bits);
}

TEST(DescriptorFields, EveryBitIsInOneField) {
  for (const MmaKind kind : kKinds) every_bit_once(instruction_descriptor_fields(kind), 32);
  for (const DescriptorForm form : {DescriptorForm::wgmma, DescriptorForm::tcgen05})
    every_bit_once(matrix_descriptor_fields(form), 64);
  every_bit_once(column_mask_fields(), 64);
}

// A word of `fields` with these values, of the decoders' names.
uint64_t word_of(const Fields& fields, std::initializer_list<std::pair<const char*, std::string>> values) {
  uint64_t word = blank_descriptor(fields);
  for (const auto& [name, value] : values) word = descriptor_field(fields, name).set(word, value);
  return word;
}

RC_GTEST_PROP(DescriptorFields, AMatrixIsDecodedAsItWasWritten, ()) {
  const auto form = *rc::gen::element(DescriptorForm::wgmma, DescriptorForm::tcgen05);
  const Fields fields = matrix_descriptor_fields(form);
  const auto bytes = [] { return *rc::gen::inRange(0u, 1u << 14) * 16; };
  const uint32_t start = bytes(), leading = bytes(), stride = bytes(), base = *rc::gen::inRange(0u, 8u);
  const auto names = descriptor_field(fields, "swizzle").names;
  const std::string swizzle = names[*rc::gen::inRange<size_t>(0, names.size())].second;
  const uint64_t word = word_of(fields, {{"start", std::to_string(start)},
                                         {"leading", std::to_string(leading)},
                                         {"stride", std::to_string(stride)},
                                         {"base_offset", std::to_string(base)},
                                         {"swizzle", swizzle}});
  const MatrixDescriptor d = decode_matrix_descriptor(form, word);
  RC_ASSERT(d.start == start);
  RC_ASSERT(d.leading == leading);
  RC_ASSERT(d.stride == stride);
  RC_ASSERT(d.base_offset == base);
  RC_ASSERT(layout::row_of(d.swizzle).name == swizzle);
  for (const DescriptorField& f : fields)
    if (f.reserved)
      for (int bit = f.first; bit <= f.last; ++bit)
        RC_ASSERT_THROWS_AS(decode_matrix_descriptor(form, word | uint64_t{1} << bit), Unsupported);
}

RC_GTEST_PROP(DescriptorFields, AnInstructionIsDecodedAsItWasWritten, ()) {
  const MmaKind kind = *rc::gen::element(MmaKind::f16, MmaKind::tf32, MmaKind::f8f6f4, MmaKind::mxf8f6f4,
                                         MmaKind::mxf4, MmaKind::mxf4nvf4);
  const Fields fields = instruction_descriptor_fields(kind);
  const auto type = [&](const char* field) {
    const auto names = descriptor_field(fields, field).names;
    return names[*rc::gen::inRange<size_t>(0, names.size())].second;
  };
  const std::string a = type("a_type"), b = kind == MmaKind::f16 ? a : type("b_type");
  const uint32_t n = 8 * *rc::gen::inRange(1u, 33u);
  const bool negate_a = *rc::gen::arbitrary<bool>(), negate_b = *rc::gen::arbitrary<bool>();
  const bool a_mn = kind == MmaKind::f16 && *rc::gen::arbitrary<bool>();
  const bool b_mn = kind == MmaKind::f16 && *rc::gen::arbitrary<bool>();
  const auto flag = [](bool v) -> std::string { return v ? "yes" : "no"; };
  const auto major = [](bool v) -> std::string { return v ? "mn" : "k"; };
  uint64_t word = word_of(fields, {{"m", "128"},
                                   {"n", std::to_string(n)},
                                   {"a_type", a},
                                   {"b_type", b},
                                   {"negate_a", flag(negate_a)},
                                   {"negate_b", flag(negate_b)},
                                   {"a_major", major(a_mn)},
                                   {"b_major", major(b_mn)}});
  std::string scale, d_type;
  uint32_t a_id = 0, b_id = 0;
  if (block_scaled(kind)) {
    scale = type("scale_type");
    const uint32_t step = kind == MmaKind::mxf8f6f4 ? 1 : 2;
    a_id = *rc::gen::inRange(0u, 4u / step) * step;
    b_id = *rc::gen::inRange(0u, 4u / step) * step;
    word = descriptor_field(fields, "scale_type").set(word, scale);
    word = descriptor_field(fields, "a_scale_id").set(word, std::to_string(a_id));
    word = descriptor_field(fields, "b_scale_id").set(word, std::to_string(b_id));
  } else {
    d_type = a == "bf16" ? "f32" : type("d_type");
    word = descriptor_field(fields, "d_type").set(word, d_type);
  }
  const InstructionDescriptor d = decode_instruction_descriptor(kind, 1, static_cast<uint32_t>(word));
  RC_ASSERT(d.m == 128u);
  RC_ASSERT(d.n == n);
  RC_ASSERT(d.a->name == a);
  RC_ASSERT(d.b->name == b);
  RC_ASSERT(d.negate_a == negate_a);
  RC_ASSERT(d.negate_b == negate_b);
  RC_ASSERT(d.transpose_a == a_mn);
  RC_ASSERT(d.transpose_b == b_mn);
  RC_ASSERT(d.a_scale_id == a_id);
  RC_ASSERT(d.b_scale_id == b_id);
  if (d.scale != nullptr)
    RC_ASSERT(d.scale->name == scale);
  else
    RC_ASSERT(d.d->name == d_type);
  for (const DescriptorField& f : fields)
    if (f.reserved)
      for (int bit = f.first; bit <= f.last; ++bit)
        RC_ASSERT_THROWS_AS(
            decode_instruction_descriptor(kind, 1, static_cast<uint32_t>(word | uint64_t{1} << bit)), Fault);
}

RC_GTEST_PROP(DescriptorFields, IntegersAndWeightsThatStayAreDecodedAsTheyWereWritten, ()) {
  const Fields fields = instruction_descriptor_fields(MmaKind::i8);
  const bool a = *rc::gen::arbitrary<bool>(), b = *rc::gen::arbitrary<bool>();
  const bool saturate = *rc::gen::arbitrary<bool>(), stationary = *rc::gen::arbitrary<bool>();
  const uint32_t m = stationary ? *rc::gen::element(32u, 64u, 128u) : *rc::gen::element(64u, 128u);
  const uint32_t n = stationary ? *rc::gen::element(64u, 128u, 256u) : 16 * *rc::gen::inRange(1u, 17u);
  const uint32_t shift = stationary ? *rc::gen::element(0u, 8u, 16u, 32u) : 0;
  const uint64_t word = word_of(fields, {{"m", std::to_string(m)},
                                         {"n", std::to_string(n)},
                                         {"a_type", a ? "s8" : "u8"},
                                         {"b_type", b ? "s8" : "u8"},
                                         {"saturate", saturate ? "yes" : "no"},
                                         {"d_type", "s32"},
                                         {"max_shift", shift == 0 ? "none" : std::to_string(shift)}});
  const InstructionDescriptor d =
      decode_instruction_descriptor(MmaKind::i8, 1, static_cast<uint32_t>(word), stationary);
  RC_ASSERT(d.integers.has_value());
  RC_ASSERT(d.integers->a_signed == a);
  RC_ASSERT(d.integers->b_signed == b);
  RC_ASSERT(d.integers->saturate == saturate);
  RC_ASSERT(d.m == m);
  RC_ASSERT(d.n == n);
  RC_ASSERT(d.max_shift == shift);
}

RC_GTEST_PROP(DescriptorFields, AColumnMaskIsDecodedAsItWasWritten, ()) {
  const Fields fields = column_mask_fields();
  const uint32_t m = *rc::gen::element(32u, 64u, 128u);
  const auto number = [](uint32_t most) { return *rc::gen::inRange(0u, most + 1); };
  const uint32_t zeros = number(255), used = number(255), shift = number(m == 32 ? 16 : 32);
  const bool masks = *rc::gen::arbitrary<bool>();
  uint64_t word = word_of(fields, {{"zeros", std::to_string(zeros)},
                                   {"used", std::to_string(used)},
                                   {"shift", std::to_string(shift)},
                                   {"masks", masks ? "yes" : "no"}});
  std::array<uint32_t, 4> start{};
  std::array<bool, 4> first{};
  for (size_t i = 0; i < 4; ++i) {
    start[i] = number(255);
    first[i] = *rc::gen::arbitrary<bool>();
    word = descriptor_field(fields, "start_" + std::to_string(i)).set(word, std::to_string(start[i]));
    word = descriptor_field(fields, "zeros_first_" + std::to_string(i)).set(word, first[i] ? "yes" : "no");
  }
  const ColumnMask mask = decode_column_mask(word, m, 256, 32);
  RC_ASSERT(mask.masks == masks);
  RC_ASSERT(mask.zeros == zeros + 1);
  RC_ASSERT(mask.used == used + 1);
  RC_ASSERT(mask.shift == shift);
  RC_ASSERT(mask.columns == 2 * m);
  for (size_t i = 0; i < 4; ++i) {
    RC_ASSERT(mask.zeros_first[i] == first[i]);
    RC_ASSERT(mask.start[i] == std::min(start[i], first[i] ? zeros : used));
  }
  for (const DescriptorField& f : fields)
    if (f.reserved)
      for (int bit = f.first; bit <= f.last; ++bit)
        RC_ASSERT_THROWS_AS(decode_column_mask(word | uint64_t{1} << bit, m, 256, 32), Fault);
}

// What a field says of a value, it takes: a number of what it counts, or a name.
TEST(DescriptorFields, AFieldTakesWhatItSays) {
  for (const MmaKind kind : kKinds) {
    const Fields fields = instruction_descriptor_fields(kind);
    for (const DescriptorField& f : fields) {
      if (f.reserved) continue;
      for (uint64_t v = 0; v < uint64_t{1} << (f.last - f.first + 1); ++v) {
        const uint64_t word = v << f.first;
        const std::string meaning = f.meaning(word);
        if (meaning == "no value of this field") continue;
        EXPECT_EQ(f.set(0, meaning.substr(0, meaning.find(' '))), word) << f.name << " " << meaning;
      }
    }
  }
}

TEST(DescriptorFields, WhatAFieldDoesNotTakeIsRefused) {
  const Fields fields = instruction_descriptor_fields(MmaKind::mxf4nvf4);
  const auto refusal = [&](const char* field, const char* value) -> std::string {
    try {
      descriptor_field(fields, field).set(0, value);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("n", "12"), "n (bits 17 to 22) takes a multiple of 8 up to 504 columns; got '12'");
  EXPECT_EQ(refusal("n", "512"), "n (bits 17 to 22) takes a multiple of 8 up to 504 columns; got '512'");
  EXPECT_EQ(refusal("scale_type", "e5m2"),
            "scale_type (bit 23) takes one of ue4m3, ue8m0, or a number up to 1; got 'e5m2'");
  EXPECT_NE(refusal("n", "").find("got ''"), std::string::npos);
  EXPECT_NE(refusal("d_type", "f32").find("no field 'd_type'; there are sparsity_selector, sparse,"),
            std::string::npos);
  EXPECT_NE(refusal("reserved", "0").find("no field 'reserved'"), std::string::npos);
}

}  // namespace
}  // namespace bitwell::machine
