// What is particular to the recipes of kernels that divide by the special-function unit.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "../bugs/planted.h"
#include "model/machine/failure.h"
#include "model/number/special_function.h"
#include "verify/oracle/reciprocal.h"
#include "verify/oracle/two_level.h"
#include "verify/suite/kernels/quantise.h"
#include "verify/suite/same.h"

namespace bitwell::suite {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::array<float, 16> zero_filled(std::initializer_list<float> values) {
  std::array<float, 16> out{};
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

// The oracle and the simulator read one record of an H200, each by its own code: no significand, exponent or
// sign is read otherwise.
TEST(Reciprocal, BothReadersOfTheRecordAgree) {
  const auto same = [](uint32_t x) {
    return std::bit_cast<uint32_t>(oracle::reciprocal(std::bit_cast<float>(x))) ==
           number::special_function(number::SpecialFunction::rcp, x);
  };
  for (uint32_t significand = 0; significand < 1u << 23; ++significand)
    ASSERT_TRUE(same(0x3F800000 + significand)) << significand;
  for (uint64_t x = 0; x < uint64_t{1} << 32; x += 4093)
    ASSERT_TRUE(same(static_cast<uint32_t>(x))) << std::hex << x;
  for (const uint32_t x : {0x00000000u, 0x00000001u, 0x007FFFFFu, 0x00800000u, 0x7E800000u, 0x7E800001u,
                           0x7F000000u, 0x7F7FFFFFu, 0x7F800000u, 0x7F800001u, 0x7FFFFFFFu})
    for (const uint32_t sign : {0u, 0x80000000u}) ASSERT_TRUE(same(x | sign)) << std::hex << (x | sign);
}

// TensorRT-LLM's kernel and vLLM's are one function but for groups whose scale is zero though they are not;
// FlashInfer's is TensorRT-LLM's but where a number is subnormal. Of small whole numbers, whose quotients are
// often in the middle between two codes.
RC_GTEST_PROP(ReciprocalRecipes, AreOneButForScalesOfZeroAndSubnormalNumbers, ()) {
  const auto range = static_cast<float>(*rc::gen::inRange(1, 49).as("range"));
  std::mt19937_64 random(*rc::gen::arbitrary<uint32_t>().as("seed"));
  const auto same = [](const oracle::Nvfp4Group& a, const oracle::Nvfp4Group& b) {
    return a.scale == b.scale && a.codes == b.codes;
  };
  for (int i = 0; i < 256; ++i) {
    const int exponent = i % 8 == 0 ? -30 : static_cast<int>(random() % 7) - 3;
    std::array<float, 16> group{};
    for (float& v : group) v = std::ldexp(static_cast<float>(static_cast<int>(random() % 25) - 12), exponent);
    const auto made = [&](const char* recipe) { return oracle::two_level(recipe, group, range); };
    RC_ASSERT(same(made("tensorrt_llm"), made("flashinfer")));
    RC_ASSERT(made("vllm").scale == made("tensorrt_llm").scale);
    RC_ASSERT(same(made("vllm"), made("tensorrt_llm")) || made("vllm").scale == 0);
  }
}

// A group whose scale is below E4M3's least number: vLLM's codes are zeros, the others' go to the ends, and
// zeros, times infinity, to 6.
TEST(ReciprocalRecipes, AGroupThatVanishesIsToldByTheScaleOrByItsLargest) {
  const auto group = zero_filled({1e-6f, -0.0f, -1e-6f});
  const auto codes = [&](const char* recipe) { return oracle::two_level(recipe, group, 2688).codes; };
  for (const char* recipe : {"vllm", "tensorrt_llm", "flashinfer", "mslk", "fbgemm"})
    EXPECT_EQ(oracle::two_level(recipe, group, 2688).scale, 0) << recipe;
  EXPECT_EQ(codes("vllm")[0], 0);
  EXPECT_EQ(codes("vllm")[2], 8);
  for (const char* recipe : {"tensorrt_llm", "flashinfer", "mslk"}) {
    EXPECT_EQ(codes(recipe)[0], 7) << recipe;
    EXPECT_EQ(codes(recipe)[1], 7) << recipe << ": 0 times infinity";
    EXPECT_EQ(codes(recipe)[2], 15) << recipe;
  }
  EXPECT_EQ(codes("fbgemm")[0], 7) << "a group's largest is 6, whatever its scale";
  EXPECT_EQ(codes("fbgemm")[1], 8);
}

TEST(ReciprocalRecipes, AGroupOfZerosKeepsItsSignsButInTritonsKernels) {
  const auto group = zero_filled({0.0f, -0.0f});
  for (const char* recipe : {"vllm", "tensorrt_llm", "flashinfer"}) {
    EXPECT_EQ(oracle::two_level(recipe, group, 3).codes[0], 0) << recipe;
    EXPECT_EQ(oracle::two_level(recipe, group, 3).codes[1], 8) << recipe;
  }
  for (const char* recipe : {"mslk", "fbgemm"})  // 0 times infinity: 1 / 0, or 6 / 2^-126
    EXPECT_EQ(oracle::two_level(recipe, group, 3).codes[1], 7) << recipe;
}

// A NaN has no part in its group's scale, unless all are NaNs; as a code it is 6. An infinity takes the
// greatest scale.
TEST(ReciprocalRecipes, NansAndInfinitiesAreNumbersOfSomeKind) {
  for (const char* recipe : {"vllm", "tensorrt_llm", "flashinfer"}) {
    const auto made = [&](std::initializer_list<float> values) {
      return oracle::two_level(recipe, zero_filled(values), 2688);
    };
    EXPECT_EQ(made({kNan, -kNan, 6}).scale, 0x38) << recipe;
    EXPECT_EQ(made({kNan, -kNan, 6}).codes[1], 7) << recipe;
    EXPECT_EQ(made({kNan, -kNan, 6}).codes[2], 7) << recipe;
    EXPECT_EQ(made({1, -kInfinity}).scale, 0x7E) << recipe;
    EXPECT_EQ(made({1, -kInfinity}).codes[1], 15) << recipe;
    EXPECT_EQ(made({1, -kInfinity}).codes[0], 0) << recipe << ": 1 / 448";
    std::array<float, 16> nans{};
    nans.fill(kNan);
    EXPECT_EQ(oracle::two_level(recipe, nans, 2688).scale, 0x7F) << recipe;
    EXPECT_EQ(oracle::two_level(recipe, nans, 2688).codes[5], 7) << recipe;
  }
}

// A calibrated range below the tensor's largest: the scale stays 448, codes stay at 6.
TEST(ReciprocalRecipes, ScalesSaturate) {
  for (const char* recipe : {"vllm", "tensorrt_llm", "flashinfer", "mslk", "fbgemm"}) {
    const oracle::Nvfp4Group made = oracle::two_level(recipe, zero_filled({100, -50}), 1);
    EXPECT_EQ(made.scale, 0x7E) << recipe;
    EXPECT_EQ(made.codes[0], 7) << recipe;
    EXPECT_EQ(made.codes[1], std::string_view(recipe) == "fbgemm" ? 13 : 15) << recipe;
  }
}

// A bf16 number below 2^-126 is one to all but FlashInfer's compiler.
TEST(ReciprocalRecipes, SubnormalNumbersAreZerosToFlashinfer) {
  const auto group = zero_filled({0x1p-127f, -0x1p-128f});
  const auto made = [&](const char* recipe) { return oracle::two_level(recipe, group, 0x1p-125f); };
  EXPECT_NE(made("tensorrt_llm").scale, 0);
  EXPECT_EQ(made("flashinfer").scale, 0);
  EXPECT_EQ(made("flashinfer").codes[0], 0);
  EXPECT_EQ(made("flashinfer").codes[1], 8);
}

// FBGEMM's codes are of the group's largest, not of the scale as it is stored.
TEST(ReciprocalRecipes, FbgemmsCodesDoNotKnowTheirScale) {
  const auto group = zero_filled({6.3f, 5.2f});  // under a scale of 1: 6.3 / 6 goes to 1
  EXPECT_EQ(oracle::two_level("fbgemm", group, 2688).scale, oracle::two_level("vllm", group, 2688).scale);
  EXPECT_EQ(oracle::two_level("vllm", group, 2688).codes[1], 7) << "5.2";
  EXPECT_EQ(oracle::two_level("fbgemm", group, 2688).codes[1], 6) << "5.2 * 6 / 6.3 = 4.95";
}

// What they are compiled to has bits on sm_90 alone.
TEST(ReciprocalRecipes, OnOtherGpusTheUnitsBitsAreUnknown) {
  for (const auto& [name, instruction] : {std::pair{"quantise_vllm", "rcp.approx.ftz.f32"},
                                          {"quantise_tensorrt_llm", "rcp.approx.ftz.f32"},
                                          {"quantise_flashinfer", "rcp.approx.ftz.f32"},
                                          {"quantise_fbgemm", "div.full.f32"}}) {
    EXPECT_EQ(kernel(suite("quantise"), name).archs, std::vector<std::string>{"sm_90a"});
    const std::string text =
        launch::read_file(capture::share_folder("kernels") + "/quantise/" + name + ".sm_90a.ptx");
    try {
      isa::compile(ptx::parse(bugs::replaced(text, "\\.target sm_90a", ".target sm_100a")), name,
                   isa::Approximate::captured);
      ADD_FAILURE() << name << " is taken";
    } catch (const machine::Unsupported& e) {
      EXPECT_NE(std::string(e.what()).find(instruction), std::string::npos) << e.what();
    }
  }
}

TEST(ReciprocalVerdict, AMistakeIsNamed) {
  struct Mistake {
    const char *about, *kernel, *pattern, *by;
  };
  for (const Mistake& m :
       {Mistake{"correctly rounded reciprocals", "quantise_vllm", "rcp\\.approx\\.ftz\\.f32", "rcp.rn.f32"},
        {"the zero test is another's", "quantise_vllm", "setp\\.eq\\.f32 (\\s*%p5, %f11), 0f00000000",
         "setp.lt.f32 $1, 0f80000000"},
        {"subnormal numbers count", "quantise_flashinfer", "mul\\.rn\\.ftz\\.f32", "mul.rn.f32"},
        {"subnormal numbers are zeros", "quantise_tensorrt_llm", "mul\\.rn\\.f32", "mul.rn.ftz.f32"},
        {"a division to nearest", "quantise_fbgemm", "div\\.full\\.f32", "div.rn.f32"},
        {"a group of zeros is divided by 0", "quantise_fbgemm", "selp\\.f32 (\\s*%f10), 0f00800000",
         "selp.f32 $1, 0f3F800000"}}) {
    const std::string text =
        launch::read_file(capture::share_folder("kernels") + "/quantise/" + m.kernel + ".sm_90a.ptx");
    EXPECT_NE(
        bugs::failure_of("quantise", m.kernel, bugs::replaced(text, m.pattern, m.by)).find("expected 0x"),
        std::string::npos)
        << m.kernel << ": " << m.about;
  }
}

}  // namespace
}  // namespace bitwell::suite
