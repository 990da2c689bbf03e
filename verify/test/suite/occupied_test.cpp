// Budgets beside what kernels reserve and touch: each disagreement fails the row, by name.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "verify/verdict/judge.h"

namespace bitwell::suite {
namespace {

std::string spec() { return launch::read_file(capture::share_folder("budgets") + "/dense.json"); }

std::string replaced(std::string text, const std::string& from, const std::string& by) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), by);
}

// 8 stages of a pair's 128 x 64 tiles: 24,592 bytes each with their barriers, and 1,152 bytes of room, of
// which 28 are a barrier or an address; 96 columns of 128.
Reserves reserves() { return *kernel(suite("dense"), "dense_m256_n64").reserves; }
run::Footprint touched() {
  run::Footprint out;
  out.shared.assign(197888, 1);
  std::fill_n(out.shared.begin(), 1124, uint8_t{0});
  for (size_t c = 0; c < 128; ++c) out.tensor.allocated.set(c);
  for (size_t c = 0; c < 96; ++c) out.tensor.written.set(c);
  return out;
}

TEST(Occupied, ABudgetThatIsTheKernelsAgrees) {
  const verdict::Occupied o = verdict::occupied(reserves(), spec(), touched());
  EXPECT_EQ(o.finding, "");
  for (const auto& [amount, formula, touched] :
       {std::tuple{o.stages, 8, 0}, std::tuple{o.shared, 197888, 196764}, std::tuple{o.columns, 96, 96}}) {
    EXPECT_EQ(amount.formula, formula);
    EXPECT_EQ(amount.laid_out, formula);
    EXPECT_EQ(amount.touched, touched);
  }
  EXPECT_EQ(o.columns.reserved, 128);
}

TEST(Occupied, EachDisagreementIsNamed) {
  const auto finding = [](auto change) {
    Reserves r = reserves();
    std::string text = spec();
    run::Footprint t = touched();
    change(r, text, t);
    return verdict::occupied(r, text, t).finding;
  };
  EXPECT_EQ(finding([](auto&, auto& text, auto&) {
              text = replaced(text, "\"tile_n / ctas * tile_k * 4 / 8\"", "\"tile_n * tile_k * 4 / 8\"");
            }),
            "the budget's formula for B, tile_n * tile_k * 4 / 8, gives 8192, its layout has 4096");
  EXPECT_EQ(finding([](auto&, auto& text, auto&) {
              text = replaced(text, "\"columns\": \"tile_n\"", "\"columns\": \"tile_n / 2\"");
            }),
            "the budget's formula for accumulator, tile_n / 2, gives 32, its layout has 64");
  EXPECT_EQ(finding([](auto& r, auto&, auto&) { --r.stages; }),
            "the budget gives 8 stages, 7 are the kernel's");
  EXPECT_EQ(finding([](auto& r, auto&, auto&) { r.shared += 16; }),
            "the budget gives 197888 bytes of shared memory, 197904 are reserved");
  EXPECT_EQ(finding([](auto& r, auto&, auto& t) {
              r.columns = 256;
              for (size_t c = 128; c < 256; ++c) t.tensor.allocated.set(c);
            }),
            "the budget gives 128 columns of tensor memory to allocate, 256 are reserved");
  EXPECT_EQ(finding([](auto&, auto&, auto& t) { t.tensor.allocated.set(128); }),
            "the budget gives 128 columns of tensor memory to allocate, 129 are allocated");
  EXPECT_EQ(finding([](auto&, auto&, auto& t) { t.tensor.written.reset(95); }),
            "the budget gives 96 columns of tensor memory, 95 are touched");
  EXPECT_EQ(finding([](auto&, auto&, auto& t) { t.tensor.written.set(96); }),
            "the budget gives 96 columns of tensor memory, 97 are touched");
  EXPECT_EQ(finding([](auto&, auto&, auto& t) { std::fill_n(t.shared.begin() + 1124, 29, uint8_t{0}); }),
            "the budget gives 196736 bytes of shared memory, 196735 are touched, without the room");
}

// What the cases of a kernel touch is for its suite's rows to say; here they touch all that is counted.
TEST(Occupied, EveryBudgetGivesWhatItsKernelReserves) {
  size_t kernels = 0;
  for (const Suite& s : suites())
    for (const Kernel& k : s.kernels) {
      if (!k.reserves) continue;
      const std::string text =
          launch::read_file(capture::share_folder("budgets") + "/" + k.reserves->budget + ".json");
      run::Footprint all;
      all.shared.assign(static_cast<size_t>(k.reserves->shared), 1);
      for (int64_t c = 0; c < k.reserves->columns; ++c) all.tensor.allocated.set(static_cast<size_t>(c));
      const int64_t columns = verdict::occupied(*k.reserves, text, all).columns.formula;
      for (int64_t c = 0; c < columns; ++c) all.tensor.written.set(static_cast<size_t>(c));
      EXPECT_EQ(verdict::occupied(*k.reserves, text, all).finding, "") << k.full_name;
      ++kernels;
    }
  EXPECT_GE(kernels, 40u);
  for (const char* name : {"dense", "dual", "gemm", "grouped", "svdquant"})
    for (const Kernel& k : suite(name).kernels) EXPECT_TRUE(k.reserves) << k.full_name;
}

// A row of `bitwell verify dense`, with the budget that is shipped and with one that forgets that two CTAs
// share B.
TEST(Occupied, AWrongBudgetFailsTheRow) {
  const std::string folder = testing::TempDir() + "/wrong_budgets";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/dense.json")
      << replaced(spec(), "\"tile_n / ctas * tile_k * 4 / 8\"", "\"tile_n * tile_k * 4 / 8\"");
  verdict::Plan plan;
  plan.kernels = {"dense_m256_n64_f32"};
  plan.ptx = capture::share_folder("kernels");
  plan.captures = capture::share_folder("captures");
  for (const bool wrong : {false, true}) {
    plan.budgets = wrong ? folder : capture::share_folder("budgets");
    const std::vector<verdict::Verdict> verdicts = verdict::judge(suite("dense"), plan);
    ASSERT_EQ(verdicts.size(), 1u);
    const verdict::Verdict& v = verdicts.front();
    EXPECT_EQ(v.holds, !wrong) << v.first_mismatch;
    EXPECT_EQ(v.first_mismatch.find("the budget's formula for B") == 0, wrong) << v.first_mismatch;
    EXPECT_EQ(v.mismatches, 0u);
    ASSERT_TRUE(v.occupied);
    EXPECT_EQ(v.occupied->columns.touched, 96);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bitwell::suite
