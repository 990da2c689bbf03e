// Laws of the NVFP4 recipes, and that the quantiser's verdicts can fail.
#include "verify/suite/kernels/quantise.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "../bugs/planted.h"
#include "kernels/quantise/launch.h"
#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/oracle/two_level.h"
#include "verify/suite/same.h"

namespace bitwell::suite {
namespace {

// Every recipe on every architecture that it is for leaves the host model's bytes.
RC_GTEST_PROP(Quantise, ARandomTensorGivesTheOraclesBytes, ()) {
  const auto& names = quantise::kNames;
  const quantise::Variant v = names[*rc::gen::inRange<size_t>(0, std::size(names)).as("recipe")];
  const std::string name = v.name;
  const std::string arch =
      v.hopper_alone ? "sm_90a" : *rc::gen::element<std::string>("sm_90a", "sm_100a").as("architecture");
  QuantiseCase c = quantise_random_case(*rc::gen::arbitrary<uint32_t>().as("seed"));
  c.k = 16 + c.k % 96 / 16 * 16;
  const QuantiseProblem problem(c);
  Chain chain = problem.chain(name, {capture::share_folder("kernels"), arch});
  launch::Modules modules;
  simulate(chain, std::ref(modules), {}, true);
  RC_ASSERT(same_bits(chain.launches.back().buffers[kQuantiseResult].bytes, problem.expected(name)));
}

std::array<float, 16> group_of(std::initializer_list<float> values) {
  std::array<float, 16> out{};
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

// A group of 6s in a tensor of 2688 / 448 at most: scale 448, every code exact, whatever the recipe.
TEST(TwoLevel, TheLargestGroupUsesTheWholeRange) {
  for (const quantise::Variant& v : quantise::kNames) {
    const oracle::Nvfp4Group made = oracle::two_level(std::string_view(v.name).substr(9),
                                                      group_of({2688, -2688, 1344, 672, 448, 224, 0}), 2688);
    EXPECT_EQ(made.scale, 0x7E) << v.name;
    EXPECT_EQ(made.codes[0], 7) << v.name;
    EXPECT_EQ(made.codes[1], 15) << v.name;
    EXPECT_EQ(made.codes[2], 5) << v.name;
    EXPECT_EQ(made.codes[4], 2) << v.name;
  }
}

// What the projects do with a group far below the tensor's largest: the one thing in which they differ by
// more than a rounding.
TEST(TwoLevel, AGroupThatVanishesIsWhereRecipesPart) {
  const auto group = group_of({1e-6f, -0.0f, -1e-6f});
  const auto made = [&](const char* recipe) { return oracle::two_level(recipe, group, 2688); };
  EXPECT_EQ(made("transformer_engine").scale, 0);
  EXPECT_EQ(made("transformer_engine").codes[0], 7) << "times the largest float";
  EXPECT_EQ(made("torchao").scale, 0x08) << "E4M3's least normal number";
  EXPECT_EQ(made("modelopt").scale, 0x01) << "its least number";
  EXPECT_EQ(made("modelopt").codes[1], 0) << "-0 loses its sign";
  EXPECT_EQ(made("torchao").codes[1], 8);
  EXPECT_EQ(made("compressed_tensors").scale, 0x20);
  EXPECT_EQ(made("vllm_emulation").codes[2], 8) << "times 0";
  EXPECT_THROW(made("fastest"), std::invalid_argument);
}

// On bf16 numbers with ties two recipes that are the same function of real numbers give other bytes: a
// verdict must name its own.
TEST(TwoLevel, RecipesAreToldApartByTheirRoundings) {
  const QuantiseProblem problem({256, 1024, TensorData::ties, 9});
  const QuantiseProblem normal({256, 1024, TensorData::normal, 9});
  const auto same = [&](const char* a, const char* b) {
    return same_bits(problem.expected(a), problem.expected(b)) &&
           same_bits(normal.expected(a), normal.expected(b));
  };
  EXPECT_FALSE(same("quantise_transformer_engine", "quantise_modelopt"));
  EXPECT_FALSE(same("quantise_transformer_engine", "quantise_vllm_emulation"));
  EXPECT_FALSE(same("quantise_torchao", "quantise_compressed_tensors"));
}

TEST(QuantiseVerdict, AMistakeIsNamed) {
  const std::string name = "quantise_transformer_engine";
  const std::string text =
      launch::read_file(capture::share_folder("kernels") + "/quantise/" + name + ".sm_90a.ptx");
  for (const auto& [about, pattern, by] :
       {std::tuple{"a tie at 5 goes up", "setp\\.gt\\.f32 (.*), 0f40A00000;", "setp.ge.f32 $1, 0f40A00000;"},
        {"a tie at 0.75 goes down", "setp\\.ge\\.f32 (.*), 0f3F400000;", "setp.gt.f32 $1, 0f3F400000;"},
        {"S is divided by 6, not multiplied by a sixth", "mul\\.rn\\.f32 (.*), 0f3E2AAAAB;",
         "div.rn.f32 $1, 0f40C00000;"}})
    EXPECT_NE(
        bugs::failure_of("quantise", name.c_str(), bugs::replaced(text, pattern, by)).find("expected 0x"),
        std::string::npos)
        << about;
}

TEST(QuantiseInput, WhatItCannotTakeIsNamedWithTheWayOut) {
  const auto refusal = [](const QuantiseCase& c) -> std::string {
    try {
      QuantiseProblem{c};
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({4, 24, TensorData::normal, 1}),
            "quantise takes k a positive multiple of 16; got k = 24: pad rows with zeros");
  EXPECT_EQ(refusal({4, 0, TensorData::normal, 1}),
            "quantise takes k a positive multiple of 16; got k = 0: pad rows with zeros");
  EXPECT_EQ(refusal({0, 16, TensorData::normal, 1}), "quantise takes m of at least 1; got 0");
  for (const auto& [range, said] : {std::pair{-1.0f, "-1"}, {INFINITY, "inf"}, {NAN, "nan"}})
    EXPECT_EQ(refusal({4, 16, TensorData::normal, 1, range}),
              std::string("quantise takes a range of 0, for none, or a finite number above; got ") + said);
}

}  // namespace
}  // namespace bitwell::suite
