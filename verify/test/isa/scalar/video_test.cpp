// Video instructions against what machine code computes: video.txt has words that the instructions of
// ptxas 13.0 for sm_90a give, evaluated one after the other. What ptxas refuses is refused by name.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

struct VideoCase {
  std::string instruction;  // %r4 of %r1, %r2 and %r3
  std::vector<std::array<uint32_t, 4>> words;
};

std::vector<VideoCase> video_cases() {
  std::vector<VideoCase> out;
  std::ifstream file(BITWELL_VIDEO);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    VideoCase c{line.substr(0, tab), {}};
    std::istringstream in(line.substr(tab + 1));
    for (std::array<uint32_t, 4> w{}; in >> std::hex >> w[0] >> w[1] >> w[2] >> w[3];) c.words.push_back(w);
    out.push_back(c);
  }
  return out;
}

constexpr const char* kVideoRegisters = ".reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b16 %h<4>; .reg .b64 %a<4>;";

// Lane i computes its words; those of one mask only, the others' results stay zero.
std::vector<uint32_t> video_words(const VideoCase& c, const std::string& guard = "") {
  std::vector<std::byte> in(16 * c.words.size());
  std::memcpy(in.data(), c.words.data(), in.size());
  const test::Left left =
      test::Kernel{.parameters = ".param .u64 in, .param .u64 out",
                   .registers = std::string(kVideoRegisters) + " .reg .pred %p;",
                   .start =
                       "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\n"
                       "mad.wide.u32 %a0, %r0, 16, %a0;\nmad.wide.u32 %a1, %r0, 4, %a1;\n"
                       "ld.global.v2.u32 {%r1, %r2}, [%a0];\nld.global.u32 %r3, [%a0+8];\n"
                       "mov.u32 %r4, 0;\nsetp.gt.u32 %p, %r0, 2;\n",
                   .body = guard + c.instruction,
                   .finish = "st.global.u32 [%a1], %r4;",
                   .shape = {.block = {static_cast<uint32_t>(c.words.size()), 1, 1}},
                   .buffers = {test::input(in), test::output(4 * c.words.size())}}
          .run();
  EXPECT_EQ(left.end(), "held") << c.instruction;
  return left.all<uint32_t>(1);
}

TEST(Video, GiveWhatMachineCodeGives) {
  const std::vector<VideoCase> all = video_cases();
  ASSERT_GT(all.size(), 80u) << BITWELL_VIDEO;
  for (const VideoCase& c : all) {
    const std::vector<uint32_t> out = video_words(c);
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(out[i], c.words[i][3]) << c.instruction << std::hex << " of " << c.words[i][0] << ", "
                                       << c.words[i][1] << ", " << c.words[i][2];
  }
}

TEST(Video, OfAGuardsLanesAlone) {
  const VideoCase c = video_cases().front();
  const std::vector<uint32_t> out = video_words(c, "@%p ");
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i > 2 ? c.words[i][3] : 0u);
}

std::string video_refusal(const std::string& instruction) {
  return test::Kernel{.registers = kVideoRegisters, .body = instruction}.refusal();
}

TEST(Video, TwoHalvesOrFourBytesTakeWhatPtxasTakes) {
  for (const char* taken :
       {"vadd2.u32.u32.u32 %r4, %r1, %r2, %r3;", "vadd2.sat.u32.u32.u32 %r4, %r1, %r2, %r3;",
        "vadd2.u32.s32.u32.add %r4.h1, %r1.h31, %r2.h00, %r3;", "vset4.eq.u32.u32 %r4.b310, %r1, %r2, %r3;",
        "vset2.u32.s32.add.lt %r4, %r1, %r2, %r1;",
        "vabsdiff4.u32.u32.u32.add %r4, %r1.b7777, %r2.b0123, %r4;"})
    EXPECT_EQ(video_refusal(taken), "") << taken;
}

TEST(Video, TwoHalvesOrFourBytesRefuseWhatPtxasRefuses) {
  const auto says = [](const char* instruction, const char* why) {
    const std::string said = video_refusal(instruction);
    EXPECT_NE(said.find(why), std::string::npos) << instruction << ": " << said;
  };
  says("vadd2.u32.u32.u32 %r4, %r1, %r2;", "takes 4 operands");
  says("vadd2.u32.u32.u32.sat.add %r4, %r1, %r2, %r3;", "'.sat' beside '.add'");
  says("vadd2.u32.u32.u32.min %r4, %r1, %r2, %r3;", "modifier '.min'");
  says("vadd2.u32.u32 %r4, %r1, %r2, %r3;", "a modifier is missing");
  says("vadd2.b32.u32.u32 %r4, %r1, %r2, %r3;", "modifier '.b32'");
  says("vadd2.u32.u32.u32 %r4.h01, %r1, %r2, %r3;", "the selector '.h01' of '%r4'");
  says("vadd2.u32.u32.u32 %r4.h11, %r1, %r2, %r3;", "the selector '.h11' of '%r4'");
  says("vadd2.u32.u32.u32 %r4.h2, %r1, %r2, %r3;", "the selector '.h2' of '%r4'");
  says("vadd2.u32.u32.u32 %r4.b0, %r1, %r2, %r3;", "the selector '.b0' of '%r4'");
  says("vadd4.u32.u32.u32 %r4.b4, %r1, %r2, %r3;", "the selector '.b4' of '%r4'");
  says("vadd4.u32.u32.u32 %r4.b1023, %r1, %r2, %r3;", "the selector '.b1023' of '%r4'");
  says("vadd2.u32.u32.u32 %r4, %r1.h0, %r2, %r3;", "the selector '.h0' of '%r1'");
  says("vadd2.u32.u32.u32 %r4, %r1.h34, %r2, %r3;", "the selector '.h34' of '%r1'");
  says("vadd2.u32.u32.u32 %r4, %r1.b7654, %r2, %r3;", "the selector '.b7654' of '%r1'");
  says("vadd4.u32.u32.u32 %r4, %r1, %r2.b765, %r3;", "the selector '.b765' of '%r2'");
  says("vadd4.u32.u32.u32 %r4, %r1, %r2.b8000, %r3;", "the selector '.b8000' of '%r2'");
  says("vadd2.u32.u32.u32 %r4, %r1, %r2, %r3.h10;", "'%r3.h10' is not a register");
  says("vadd2.u32.u32.u32 %r4, 5, %r2, %r3;", "a constant where a register is needed");
  says("vadd2.u32.u32.u32 %r4, %r1, 5, %r3;", "a constant where a register is needed");
  says("vadd2.u32.u32.u32 %r4, %r1, %r2, 5;", "a constant where a register is needed");
  says("vadd2.u32.u32.u32 %r4, %f1, %r2, %r3;", "'%f1' is .f32");
  says("vadd2.u32.u32.u32 %r4, %h1, %r2, %r3;", "'%h1' is .b16");
  says("vadd2.u32.u32.u32 %a1, %r1, %r2, %r3;", "'%a1' is .b64");
  says("vadd2.u32.u32.u32 _, %r1, %r2, %r3;", "'_' where the result cannot be discarded");
  says("vset2.u32.u32.eq.sat %r4, %r1, %r2, %r3;", "modifier '.sat'");
  says("vset2.u32.u32.lo %r4, %r1, %r2, %r3;", "modifier '.lo'");
}

TEST(Video, OfAWordTakesWhatPtxasTakes) {
  for (const char* taken :
       {"vadd.u32.u32.u32 %r4, %r1, %r2;", "vadd.u32.u32.u32 %r4, %r1, %r2, %r3;",
        "vadd.u32.u32.u32 %r4, 5, %r2;", "vadd.u32.u32.u32.add %r4, %r1, -5, 7;",
        "vsub.sat.u32.s32.u32 %r4, %r1.h1, %r2.b3;", "vshl.clamp.s32.u32.u32 %r4.b3, %r1, %r2, %r3;",
        "vset.u32.eq.s32.max %r4, %r1, %r2.b0, %r3;",
        "vmad.po.u32.u32.u32.sat.shr7 %r4, %r1.b0, %r2.h1, %r3;", "vmad.s32.u32.u32 %r4, -%r1, %r2.b1, %r3;",
        "vmad.s32.u32.u32 %r4, -%r1.b1, -%r2, -%r3;", "vmad.u32.u32.u32.shr15 %r4, %r1, -5, -%r3;"})
    EXPECT_EQ(video_refusal(taken), "") << taken;
}

TEST(Video, OfAWordRefusesWhatPtxasRefuses) {
  const auto says = [](const char* instruction, const char* why) {
    const std::string said = video_refusal(instruction);
    EXPECT_NE(said.find(why), std::string::npos) << instruction << ": " << said;
  };
  says("vadd.u32.u32.u32.add %r4, %r1, %r2;", "takes 4 operands");
  says("vadd.u32.u32.u32 %r4.h1, %r1, %r2;", "takes 4 operands");
  says("vadd.u32.u32.u32.max %r4.b0, %r1, %r2, %r3;", "a second operation into a part of a word");
  says("vadd.u32.u32.u32 %r4.b4, %r1, %r2, %r3;", "the selector '.b4' of '%r4'");
  says("vadd.u32.u32.u32 %r4.h10, %r1, %r2, %r3;", "the selector '.h10' of '%r4'");
  says("vadd.u32.u32.u32 %r4, %r1.h2, %r2;", "the selector '.h2' of '%r1'");
  says("vadd.u32.u32.u32.add %r4, %r1, %r2, %r3.b0;", "'%r3.b0' is not a register");
  says("vadd.u32.u32.u32 %r4, %r1, 0f3F800000;", "a floating-point constant");
  says("vadd.u32.u32.u32 %h1, %r1, %r2;", "'%h1' is .b16");
  says("vadd.u32.u32.u32 %r4, %f1, %r2;", "'%f1' is .f32");
  says("vadd.u32.u32.u32 _, %r1, %r2;", "'_' where the result cannot be discarded");
  says("vadd.u32.u32.u32 %r4, -%r1, %r2;", "found '%r1'");
  says("vshl.u32.u32.u32 %r4, %r1, %r2;", "a modifier is missing");
  says("vshl.u32.u32.s32.clamp %r4, %r1, %r2;", "modifier '.s32'");
  says("vset.u32.u32.eq.sat %r4, %r1, %r2;", "modifier '.sat'");
  says("vmad.u32.u32.u32 %r4, %r1, %r2;", "takes 4 operands");
  says("vmad.u32.u32.u32 %r4.b0, %r1, %r2, %r3;", "the result of 'vmad' is a word");
  says("vmad.s32.s32.s32.po %r4, -%r1, %r2, %r3;", "'.po' beside '-'");
  says("vmad.s32.s32.s32 %r4, %r1, -%r2, -%r3;", "'-' before c");
  says("vmad.u32.u32.u32.add %r4, %r1, %r2, %r3;", "modifier '.add'");
}

// Machine code differs from the manual there, and by no rule that is worth having.
TEST(Video, OfAWordIsUnsupportedByNameWhereMachineCodeIsAnother) {
  for (const char* left :
       {"vadd.s32.s32.s32.sat %r4.b1, %r1, %r2, %r3;", "vshl.s32.s32.u32.clamp.sat %r4, %r1, %r2;",
        "vsub.u32.u32.u32.min %r4, %r1, %r2, %r3;", "vmax.u32.u32.u32.sat.max %r4, %r1, %r2, %r3;"})
    EXPECT_NE(video_refusal(left).find("ptxas' code for it does not do what the manual says"),
              std::string::npos)
        << left << ": " << video_refusal(left);
}

}  // namespace
}  // namespace bitwell::isa
