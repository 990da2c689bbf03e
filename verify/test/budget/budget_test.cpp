// The solvers against the published tables, the audit against the operand that was counted twice.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/budget/audit.h"
#include "model/budget/search.h"

namespace bitwell::budget {
namespace {

Spec shipped(const std::string& name) {
  std::ifstream in(std::string(BITWELL_BUDGETS) + "/" + name + ".json");
  std::stringstream text;
  text << in.rdbuf();
  return parse_spec(text.str());
}

using Pair = std::pair<int64_t, int64_t>;
Pair stages(const Fit& f) { return {f.stages, f.epilogue_stages}; }

// (main-loop stages, epilogue stages) for 16-, 32- and 8-bit output: _compute_stages of CUTLASS 4.7's
// dense_blockscaled_gemm_persistent.py worked out apart from this library.
TEST(Budget, CuTeDslStagesAreThePublishedOnes) {
  struct Row {
    int64_t m, n;
    Pair half, single, byte;
  };
  const Spec spec = shipped("cute-dsl-dense");
  for (const Row& r : {Row{128, 64, {7, 3}, {6, 3}, {7, 7}}, Row{256, 64, {8, 4}, {8, 2}, {9, 2}},
                       Row{128, 128, {5, 5}, {5, 2}, {6, 2}}, Row{256, 128, {7, 3}, {6, 3}, {7, 7}},
                       Row{128, 192, {4, 5}, {4, 2}, {4, 10}}, Row{256, 192, {6, 2}, {5, 3}, {6, 5}},
                       Row{128, 256, {3, 8}, {3, 4}, {4, 2}}, Row{256, 256, {5, 4}, {5, 2}, {5, 9}}})
    for (const auto& [bits, expected] :
         {std::pair{16, r.half}, std::pair{32, r.single}, std::pair{8, r.byte}}) {
      const Audit a =
          audit(spec, {{"tile_m", r.m}, {"tile_n", r.n}, {"ctas", r.m / 128}, {"out_bits", bits}});
      EXPECT_TRUE(a.agrees) << r.m << "x" << r.n;
      EXPECT_EQ(stages(a.written), expected) << r.m << "x" << r.n << ", " << bits << " bits";
      EXPECT_EQ(stages(a.laid_out), expected) << r.m << "x" << r.n << ", " << bits << " bits";
    }
}

// The same example's columns of tensor memory: two accumulators of N columns (two of 256 overlap by the
// scales' 48), 16 for SFA, 16 or 32 for SFB. tcgen05.alloc takes powers of two: 512 for more than 256.
TEST(Budget, TensorMemoryColumnsAreThePublishedOnes) {
  const Spec dsl = shipped("cute-dsl-dense");
  for (const auto& [n, columns] : {Pair{64, 160}, Pair{128, 288}, Pair{192, 432}, Pair{256, 512}}) {
    const Fit f = audit(dsl, {{"tile_n", n}}).written;
    EXPECT_EQ(f.columns, columns) << n;
    EXPECT_EQ(f.allocated, columns <= 256 ? 256 : 512) << n;
  }
  EXPECT_EQ(audit(shipped("cutlass-dense")).written.columns, 432);
  // Without overlap: one buffer of 128 columns and 32 of scales, or two; two of 256 and 48 do not fit.
  EXPECT_EQ(audit(shipped("svdquant")).written.columns, 160);
  EXPECT_EQ(audit(shipped("nvfp4-group-gemm"), {{"ctas", 2}, {"tile_m", 256}}).written.columns, 288);
  const Fit two = audit(shipped("nvfp4-group-gemm"), {{"tile_n", 256}, {"acc_buffers", 2}}).written;
  EXPECT_EQ(two.columns, 560);
  EXPECT_FALSE(two.fits);
}

// What CUTLASS 4.7's types of example 72a come to at compile time: stages, epilogue bytes, and the kernel's
// tiles in bytes.
TEST(Budget, CutlassStagesAreThePublishedOnes) {
  struct Row {
    int64_t m, n, source, stages, epilogue, total;
  };
  const Spec spec = shipped("cutlass-dense");
  for (const Row& r : {Row{256, 256, 16, 3, 100352, 217088}, Row{256, 192, 16, 5, 51200, 225280},
                       Row{256, 128, 16, 6, 33792, 205824}, Row{256, 64, 16, 8, 25600, 222208},
                       Row{128, 256, 16, 2, 100352, 210944}, Row{128, 192, 16, 3, 51200, 192512},
                       Row{128, 128, 16, 5, 33792, 218112}, Row{128, 128, 0, 5, 17408, 201728},
                       Row{128, 64, 16, 7, 25600, 226304}}) {
    const Audit a =
        audit(spec, {{"tile_m", r.m}, {"tile_n", r.n}, {"ctas", r.m / 128}, {"source_bits", r.source}});
    EXPECT_EQ(a.names.at("epilogue"), r.epilogue) << r.m << "x" << r.n;
    EXPECT_EQ(a.written.stages, r.stages) << r.m << "x" << r.n;
    EXPECT_EQ(a.laid_out.stages, r.stages) << r.m << "x" << r.n;
    EXPECT_EQ(r.epilogue + a.written.stages * (a.written.stage - 128), r.total) << r.m << "x" << r.n;
  }
  EXPECT_EQ(audit(spec).shared[0].formula, 144);
  EXPECT_EQ(audit(spec, {{"tile_n", 128}}).shared[0].formula, 160);
}

TEST(Budget, SvdQuantStagesBeforeAndAfterTheFix) {
  const Spec after = shipped("svdquant");
  const Pair fixed[] = {{7, 3}, {5, 4}, {4, 2}, {2, 3}, {0, 4}};
  for (int64_t n = 0; n <= 4; ++n) {
    const Audit a = audit(after, {{"lora_stages", n}});
    EXPECT_TRUE(a.agrees);
    EXPECT_EQ(stages(a.written), fixed[n]) << n;
    EXPECT_EQ(a.written.fits, n < 4) << n;
  }
  EXPECT_EQ(audit(after).written.used, 230400);
  EXPECT_EQ(stages(audit(after, {{"scale_and_bias", 1}}).written), (Pair{4, 2}));
  const Spec before = shipped("svdquant-before");
  const Pair broken[] = {{7, 3}, {5, 2}, {2, 5}, {0, 4}};
  for (int64_t n = 0; n <= 3; ++n) {
    const Audit a = audit(before, {{"lora_stages", n}});
    EXPECT_EQ(stages(a.written), broken[n]) << n;
    EXPECT_EQ(stages(a.laid_out), fixed[n]) << n;
  }
}

TEST(Budget, TheAuditFlagsTheOperandCountedTwice) {
  const Audit a = audit(shipped("svdquant-before"));
  EXPECT_FALSE(a.agrees);
  for (const Line& l : a.shared) {
    if (l.item.name != "LoRA up") {
      EXPECT_TRUE(l.verdict == Verdict::agrees || l.verdict == Verdict::unchecked) << l.item.name;
      continue;
    }
    EXPECT_EQ(l.verdict, Verdict::too_large);
    EXPECT_EQ(2 * *l.layout, l.formula);  // ratio 0.500
    ASSERT_FALSE(l.fixes.empty());
    EXPECT_EQ(l.fixes[0], "divide by ctas (= 2)");
  }
  EXPECT_EQ(a.written.stages, 2);
  EXPECT_EQ(a.laid_out.stages, 4);
}

TEST(Budget, AllOtherShippedSpecsAgree) {
  size_t specs = 0;
  for (const auto& file : std::filesystem::directory_iterator(BITWELL_BUDGETS)) {
    const std::string name = file.path().stem().string();
    const Audit a = audit(shipped(name));
    EXPECT_EQ(a.agrees, name != "svdquant-before") << name;
    EXPECT_TRUE(a.written.fits) << name;
    ++specs;
  }
  EXPECT_GE(specs, 8u);
}

TEST(Search, KeepsTheFrontOfWhatFits) {
  const SearchResult r = search(shipped("svdquant"));
  EXPECT_EQ(r.tried, 2u * 2 * 4 * 4 * 5);
  size_t front = 0;
  for (const Choice& c : r.fitting) {
    EXPECT_TRUE(c.fit.fits);
    EXPECT_EQ(c.chosen.at("tile_m"), 128 * c.chosen.at("ctas"));
    front += c.front ? 1 : 0;
    bool beaten = false;
    for (const Choice& o : r.fitting) {
      bool all = true;
      bool one = false;
      for (size_t i = 0; i < c.scores.size(); ++i) {
        all = all && o.scores[i] >= c.scores[i];
        one = one || o.scores[i] > c.scores[i];
      }
      beaten = beaten || (all && one);
    }
    EXPECT_EQ(c.front, !beaten);
  }
  EXPECT_GT(front, 0u);
  EXPECT_LT(front, r.fitting.size());
}

std::string message(const std::string& json) {
  try {
    audit(parse_spec(json));
  } catch (const BudgetError& e) {
    return e.what();
  }
  return "taken";
}

TEST(Spec, BadInputIsOneErrorThatSaysWhere) {
  const auto expect = [](const std::string& json, const std::string& part) {
    const std::string got = message(json);
    EXPECT_NE(got.find(part), std::string::npos) << json << "\n  " << got;
  };
  const auto item = [](const std::string& rest) {
    return R"({"name":"x","names":{"n":4},"shared":[{"name":"A",)" + rest + "}]}";
  };
  expect("{\n  \"name\": }", "line 2, column 11");
  expect("{}", "/name: expected a string");
  expect(R"({"name":"x","sharde":[]})", "/sharde: expected one of name, source");
  expect(item(R"~("bytes":[])~"), "/shared/0/bytes: expected a formula");
  expect(item(R"~("byts":4)~"), "/shared/0/bytes: expected a formula, found nothing");
  expect(item(R"~("bytes":"n * m")~"), "A: formula 'n * m', column 5: unknown name 'm'; there are n");
  expect(item(R"~("bytes":"n / (n - 4)")~"), "column 3: division by zero");
  expect(item(R"~("bytes":"n * 4611686018427387904")~"), "column 3: a value beyond 63 bits");
  expect(item(R"~("bytes":"n +")~"), "column 4: expected a number, a name or '(', found the end");
  expect(item(R"~("bytes":"0 - n")~"), "A: a negative size");
  expect(item(R"~("bytes":4,"layout":{"expression":"(4,8"})~"), "A: layout '(4,8', column 5: expected ')'");
  expect(item(R"~("bytes":4,"layout":{"expression":"(4,4):(1,2)"})~"), "not injective: elements 2 and 4 of");
  expect(item(R"~("bytes":4,"layout":{"expression":"(4,4):(1,-4)"})~"), "below the operand's start");
  expect(item(R"~("bytes":4,"layout":{"expression":"(n,4):(1,4)"})~"),
         "column 2: expected an integer, found 'n'");
  expect(item(R"~("bytes":4,"layout":{"expression":"{n"})~"), "'{' without '}'");
  expect(item(R"~("bytes":4,"layout":{"name":"sfa"})~"), "no layout is named 'sfa'");
  expect(item(R"~("bytes":4,"layout":{"name":"sfa-tmem"})~"), "is a layout of tensor memory");
  expect(item(R"~("bytes":4,"per":"tile")~"), "/shared/0/per: expected cta, stage or epilogue");
  try {
    audit(shipped("svdquant"), {{"tile", 1}});
    ADD_FAILURE();
  } catch (const BudgetError& e) {
    EXPECT_NE(std::string(e.what()).find("has no name 'tile'; there are ctas"), std::string::npos)
        << e.what();
  }
}

TEST(Formula, IsComputedAsC) {
  const Names n{{"a", 7}, {"b", -2}};
  EXPECT_EQ(evaluate("a / b", n), -3);
  EXPECT_EQ(evaluate("a % 4 + a // 2 * 10", n), 33);
  EXPECT_EQ(evaluate("-(a - 1) * 2 - -3", n), -9);
  EXPECT_EQ(evaluate("ceil_div(a, 4) + round_up(a, 4) + min(a, 3) + max(b, 0)", n), 13);
  EXPECT_EQ(evaluate("if(a > 5, a * 2, 1 / 0)", n), 14);
  EXPECT_EQ(evaluate("if(a == 5, nothing, 3 <= 3)", n), 1);
}

}  // namespace
}  // namespace bitwell::budget
