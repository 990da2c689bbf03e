// What ptxas itself makes of texts.
#include "verify/contraction/ptxas.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/machine/failure.h"
#include "verify/contraction/instructions.h"

namespace bitwell::contraction {
namespace {

class Ptxas : public testing::Test {
 protected:
  void SetUp() override { setenv("PATH", BITWELL_NVCC_FOLDER, 1); }
};

// Each product stands in front of what takes it; %f1 to %f4, %h1 to %h4, %r1 to %r4 and %d1 to %d4 are given.
std::string text_of(const std::string& target, const std::string& body) {
  return ".version 8.7\n.target " + target + R"(
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .local .align 4 .b8 depot[16];
  .reg .f32 %f<40>;
  .reg .b16 %h<40>;
  .reg .f64 %d<40>;
  .reg .b64 %rd<40>;
  .reg .b32 %r<40>;
  .reg .pred %p<4>;
  mov.u64 %rd3, depot;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
  ld.global.v4.b16 {%h1, %h2, %h3, %h4}, [%rd1 + 16];
  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1 + 32];
  ld.global.v2.f64 {%d1, %d2}, [%rd1 + 64];
  ld.global.v2.b64 {%rd10, %rd11}, [%rd1 + 80];
)" + body +
         "  ret;\n}\n";
}

constexpr const char* kBody = R"(
  mul.f32 %f5, %f1, %f2;
  mul.f32 %f6, %f3, %f4;
  add.f32 %f7, %f5, %f6;
  st.global.f32 [%rd2], %f7;
  mul.f32 %f8, %f1, %f4;
  add.f32 %f9, %f8, %f2;
  sub.f32 %f10, %f3, %f8;
  st.global.v2.f32 [%rd2 + 8], {%f9, %f10};
  mul.f16 %h5, %h1, %h2;
  add.f16 %h6, %h5, %h3;
  add.f16 %h7, %h1, %h4;
  st.global.v2.b16 [%rd2 + 16], {%h6, %h7};
  mul.bf16 %h8, %h1, %h3;
  sub.bf16 %h9, %h8, %h4;
  add.bf16 %h10, %h2, %h4;
  st.global.v2.b16 [%rd2 + 20], {%h9, %h10};
  mul.f16x2 %r5, %r1, %r2;
  sub.f16x2 %r6, %r5, %r3;
  mul.bf16x2 %r7, %r1, %r4;
  sub.bf16x2 %r8, %r2, %r7;
  st.global.v2.b32 [%rd2 + 24], {%r6, %r8};
  mul.f64 %d3, %d1, %d2;
  sub.f64 %d4, %d3, %d1;
  st.global.f64 [%rd2 + 32], %d4;
  mul.f32 %f20, %f1, 0f40000000;
  add.f32 %f21, %f20, %f2;
  mul.rn.f32 %f22, %f3, %f3;
  add.f32 %f23, %f22, %f4;
  st.global.v2.f32 [%rd2 + 40], {%f21, %f23};
  mul.ftz.f32 %f24, %f4, %f3;
  add.f32 %f25, %f24, %f1;
  mul.ftz.f32 %f26, %f4, %f2;
  add.ftz.f32 %f27, %f26, %f1;
  st.global.v2.f32 [%rd2 + 48], {%f25, %f27};
  mul.f32 %f28, %f4, %f1;
  neg.f32 %f29, %f28;
  add.sat.f32 %f30, %f29, %f1;
  mul.f32 %f31, %f2, %f2;
  add.f32 %f32, %f31, %f31;
  st.global.v2.f32 [%rd2 + 56], {%f30, %f32};
)";
constexpr const char* kPairs = R"(
  mul.f32x2 %rd12, %rd10, %rd11;
  sub.f32x2 %rd13, %rd12, %rd10;
  st.global.b64 [%rd2 + 64], %rd13;
)";

struct Rounds {
  uint32_t products, sums, fused;
  bool operator==(const Rounds&) const = default;
};
// Of each line what it has of all kinds.
std::map<int64_t, Rounds> rounds(const std::map<int64_t, LineCode>& code) {
  std::map<int64_t, Rounds> out;
  for (const auto& [line, c] : code)
    out[line] = {c.single.products + c.twice.products + c.half.products,
                 c.single.sums + c.twice.sums + c.half.sums, c.single.fused + c.twice.fused + c.half.fused};
  return out;
}

// Law: of the text that says what is fused, ptxas makes the code that it makes of the text itself.
TEST_F(Ptxas, AContractedTextBecomesTheSameCode) {
  for (const std::string target : {"sm_90a", "sm_100a"}) {
    SCOPED_TRACE(target);
    const std::string text = text_of(target, std::string(kBody) + (target == "sm_100a" ? kPairs : ""));
    const ByPtxas made = contracted_by_ptxas(text, "k");
    EXPECT_EQ(made.target, target);
    EXPECT_EQ(made.contracted.fused.size(), target == "sm_100a" ? 12u : 11u);
    EXPECT_TRUE(made.contracted.unclear.empty());
    EXPECT_NE(made.contracted.text, text);
    EXPECT_EQ(rounds(assembled(made.contracted.text, target)), rounds(assembled(text, target)));
    EXPECT_TRUE(contracted_by_ptxas(made.contracted.text, "k").contracted.fused.empty());
  }
}

// As nvcc -lineinfo writes them: the name stands in a section of debug information.
TEST_F(Ptxas, LinesOfInlinedFunctionsAreNoHindrance) {
  const std::string text =
      text_of("sm_90a",
              "  .loc 1 7 3\n  mul.f32 %f5, %f1, %f2;\n"
              "  .loc 1 2 5, function_name $L__info_string0, inlined_at 1 7 3\n  add.f32 %f6, %f5, %f3;\n"
              "  st.global.f32 [%rd2], %f6;\n") +
      "  .file 1 \"k.cu\"\n.section .debug_str\n{\n$L__info_string0:\n.b8 0\n}\n";
  EXPECT_EQ(contracted_by_ptxas(text, "k").contracted.fused, (std::vector<Pair>{{24, 22}}));
  EXPECT_EQ(contracted_by_ptxas(text, "").contracted.fused, (std::vector<Pair>{{24, 22}}));
}

TEST_F(Ptxas, OfATextWithoutFunctionsNothingIsFused) {
  const ByPtxas made =
      contracted_by_ptxas(".version 8.7\n.target sm_90a\n.address_size 64\n.global .b32 a = 7;\n", "");
  EXPECT_EQ(made.contracted.sums, 0u);
}

// What ptxas -v says in words.
std::string said_registers(const std::string& text, const std::string& target) {
  const std::string path = "/tmp/ptxas_test." + std::to_string(getpid());
  std::ofstream(path + ".ptx") << text;
  const std::string command = ptxas_path() + " -v -arch=" + target + " -o /dev/null " + path + ".ptx 2>&1";
  std::string out;
  FILE* const said = popen(command.c_str(), "r");
  for (int c = 0; said != nullptr && (c = std::fgetc(said)) != EOF;) out += static_cast<char>(c);
  if (said != nullptr) pclose(said);
  std::filesystem::remove(path + ".ptx");
  const size_t at = out.find("Used ");
  return at == std::string::npos ? out : out.substr(at + 5, out.find(' ', at + 5) - at - 5);
}

TEST_F(Ptxas, ItsCodeIsKnownByLineAndSoAreItsRegisters) {
  constexpr uint32_t kFfma = 0x023, kStg = 0x186;
  const std::string body = "  fma.rn.f32 %f5, %f1, %f2, %f3;\n  st.global.f32 [%rd2], %f5;\n";
  const struct {
    const char *target, *code;
    int sm;
  } cases[] = {{"sm_90a", "sm_90a", 90},
               {"sm_80", "sm_90", 90},
               {"sm_90", "sm_100", 100},
               {"sm_100a", "sm_100a", 100}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.code);
    const std::string text = text_of(c.target, body);
    const auto line = [&](const char* of) {
      return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(of)), '\n') + 1;
    };
    const Assembly made = assembly_by_ptxas(text, "k", c.sm);
    EXPECT_EQ(made.target, c.code);
    EXPECT_EQ(made.lines.at(line("fma.rn")).at(kFfma).times, 1u);
    EXPECT_EQ(made.lines.at(line("st.global.f32 [%rd2]")).at(kStg).times, 1u);
    EXPECT_EQ(std::to_string(made.registers), said_registers(text, c.code));
    EXPECT_NE(made.registers, 0u);
  }
}

// A sum that needs the one before it waits for four cycles, of any other in one chain of four for one: that
// is what the probes of sums say (4.11 cycles until the next can use it, an instruction a cycle).
TEST_F(Ptxas, AWarpStallsUntilWhatItNeedsIsThere) {
  constexpr uint32_t kFfma = 0x023;
  for (const int chains : {1, 4}) {
    std::string body;
    for (int c = 0; c < chains; ++c) body += fmt::format("  mov.f32 %f{}, %f{};\n", 10 + c, 1 + c % 3);
    for (int c = 1; c < chains; ++c)
      body += fmt::format("  mul.f32 %f{0}, %f{0}, 0f{1:08X};\n", 10 + c, 0x3F000000 + c);
    constexpr int kRounds = 16;
    for (int i = 0; i < kRounds; ++i)
      for (int c = 0; c < chains; ++c) body += fmt::format("  fma.rn.f32 %f{0}, %f{0}, %f2, %f3;\n", 10 + c);
    for (int c = 1; c < chains; ++c) body += fmt::format("  add.f32 %f10, %f10, %f{};\n", 10 + c);
    body += "  st.global.f32 [%rd2], %f10;\n";
    const Assembly made = assembly_by_ptxas(text_of("sm_90a", body), "k", 90);
    uint32_t times = 0, stalls = 0;
    for (const auto& [line, opcodes] : made.lines)
      if (const auto at = opcodes.find(kFfma); at != opcodes.end()) {
        times += at->second.times;
        stalls += at->second.stalls;
      }
    EXPECT_EQ(times, static_cast<uint32_t>(kRounds * chains));
    EXPECT_NEAR(static_cast<double>(stalls) / times, chains == 1 ? 4 : 1, 0.3) << chains;
  }
}

// A loop that ptxas unrolls stands there several times in a round, and once more for what is left behind the
// last. What counts is what most rounds are made of; so it is with one that it does not unroll.
TEST_F(Ptxas, OfALoopThatIsUnrolledTheRoundCounts) {
  constexpr uint32_t kFfma = 0x023, kBra = 0x147;
  for (const bool unrolls : {true, false}) {
    std::string body = "  mov.f32 %f10, %f1;\n";
    body += unrolls ? "again:\n" : "again:\n.pragma \"nounroll\";\n";
    for (int i = 0; i < 4; ++i) body += "  fma.rn.f32 %f10, %f10, %f10, 0f3DCCCCCD;\n";
    body +=
        "  add.s32 %r1, %r1, -4;\n  setp.ne.s32 %p1, %r1, 0;\n  @%p1 bra again;\n  st.global.f32 [%rd2], "
        "%f10;\n";
    std::set<uint32_t> products;
    uint32_t branches = 0;
    for (const auto& [line, opcodes] : assembly_by_ptxas(text_of("sm_90a", body), "k", 90).lines)
      for (const auto& [opcode, count] : opcodes) {
        if (opcode == kFfma) products.insert(count.times);
        if (opcode == kBra && products.size() == 1) branches = count.times;
      }
    EXPECT_EQ(products, std::set<uint32_t>{unrolls ? 4u : 1u});
    EXPECT_EQ(branches, 1u) << unrolls;
  }
}

// ptxas has what is independent under way together; a load that needs another's value waits for it, and so
// does what stands behind that use. A branch ends what is told.
TEST_F(Ptxas, ALoadSaysBehindWhichOthersItIsIssued) {
  const auto load = [](int to, const std::string& from) {
    return fmt::format("  ld.volatile.global.u32 %r{}, [{}];\n", to, from);
  };
  const std::string wide = "  mad.wide.u32 %rd3, %r5, 4, %rd2;\n";
  const std::string sum = "  add.u32 %r5, %r5, %r6;\n  st.global.u32 [%rd2], %r5;\n";
  const auto waits = [&](const std::string& body) {
    const std::string text = text_of("sm_90a", body);
    const auto first =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(body)), '\n') + 1;
    std::map<int64_t, std::vector<int64_t>> out;
    for (const auto& [line, behind] : assembly_by_ptxas(text, "k", 90).waits)
      for (const int64_t other : behind) out[line - first].push_back(other - first);
    return out;
  };
  using Waits = std::map<int64_t, std::vector<int64_t>>;
  EXPECT_EQ(waits(load(5, "%rd2") + load(6, "%rd2+512") + sum), Waits{});
  EXPECT_EQ(waits(load(5, "%rd2") + wide + load(6, "%rd3") + sum), (Waits{{2, {0}}}));
  EXPECT_EQ(waits(load(5, "%rd2") + wide + load(6, "%rd3") + load(7, "%rd2+512") +
                  "  add.u32 %r6, %r6, %r7;\n" + sum),
            (Waits{{2, {0}}, {3, {0}}}));
  const Waits loop = waits("  mov.u32 %r7, 0;\n" + load(5, "%rd2") + "again:\n" + load(6, "%rd2+512") +
                           "  add.u32 %r7, %r7, %r6;\n  add.u32 %r5, %r5, -1;\n  setp.ne.u32 %p1, %r5, 0;\n"
                           "  @%p1 bra again;\n" +
                           load(6, "%rd2+1024") + "  add.u32 %r6, %r6, %r7;\n" + sum);
  EXPECT_FALSE(loop.contains(8));
}

// Copies of lines 1, 2 and 3 in a loop that is unrolled twice, and once behind it. In each round 3 is issued
// when 1 has been waited for; that 2 of the round before has been as well says nothing of it.
TEST(LoadsInOrder, OfARoundOnlyItsOwnLoadsCount) {
  constexpr uint64_t kLdg = 0x181, kUse = 0x012, kNone = CodeWord::kBarriers + 1;
  const auto word = [](int64_t line, uint64_t opcode, uint64_t sets, uint64_t waits, uint32_t loop) {
    return CodeWord{line, opcode, sets << 46 | waits << 52, false, loop == 0 ? 0u : 1u, loop, 9 - loop};
  };
  const auto load = [&](int64_t line, uint64_t sets, uint32_t loop) {
    return word(line, kLdg, sets, 0, loop);
  };
  const auto use = [&](uint64_t barrier, uint32_t loop) {
    return word(9, kUse, kNone, uint64_t{1} << barrier, loop);
  };
  std::vector<CodeWord> code{load(1, 0, 1), use(0, 1), load(3, 1, 1), load(2, 2, 1), load(1, 0, 1),
                             use(2, 1),     use(0, 1), load(3, 1, 1), load(2, 2, 1), load(1, 0, 2),
                             load(2, 1, 2), use(0, 2), use(1, 2),     load(3, 2, 2)};
  using Waits = std::map<int64_t, std::vector<int64_t>>;
  EXPECT_EQ(loads_waited_for(code), (Waits{{2, {1}}, {3, {1}}}));
  // Where the second round does not wait, nothing holds for both.
  code[6] = use(5, 1);
  EXPECT_EQ(loads_waited_for(code), Waits{});
}

TEST_F(Ptxas, WhatItDoesNotTakeIsNamed) {
  const std::string text = text_of("sm_90a", "  add.f32 %f1, %f1, %rd1;\n");
  try {
    contracted_by_ptxas(text, "");
    FAIL() << "taken";
  } catch (const machine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find("does not take it for sm_90a"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("line 21"), std::string::npos) << e.what();
  }
}

TEST_F(Ptxas, OlderTargetsAreOfTheOldestThatItMakesCodeFor) {
  std::string text =
      text_of("sm_60", "  mul.f32 %f5, %f1, %f2;\n  add.f32 %f6, %f5, %f3;\n  st.global.f32 [%rd2], %f6;\n");
  const ByPtxas made = contracted_by_ptxas(text, "");
  EXPECT_EQ(made.target, "sm_90");
  EXPECT_EQ(made.contracted.fused.size(), 1u);
}

TEST_F(Ptxas, WhereThereIsNoneItIsSaid) {
  EXPECT_THROW(ptxas_path({"/nowhere"}), machine::InputError);
  EXPECT_EQ(ptxas_path({"/nowhere", BITWELL_NVCC_FOLDER}), BITWELL_NVCC_FOLDER "/ptxas");
}

}  // namespace
}  // namespace bitwell::contraction
