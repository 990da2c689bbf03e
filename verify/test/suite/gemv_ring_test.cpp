// Mistakes in the ring of the streamed GEMV kernel, and what a GPU recorded of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <regex>

#include "../bugs/planted.h"
#include "verify/capture/captures.h"
#include "verify/verdict/judge.h"

namespace bitwell::suite {
namespace {

// A mistake planted into the streamed rung's text; each of the four once held because no case filled the ring
// twice.
struct RingMistake {
  const char* name;
  void (*plant)(std::string& text);
};
void PrintTo(const RingMistake& m, std::ostream* out) { *out << m.name; }

void replace_all(std::string& text, const char* pattern, const char* by) {
  const std::string changed = std::regex_replace(text, std::regex(pattern), by);
  EXPECT_NE(changed, text) << pattern;
  text = changed;
}

constexpr RingMistake kRingMistakes[] = {
    {"ParityNeverFlipped",
     [](std::string& text) { replace_all(text, R"(xor\.b32\s+(%r\d+), \1, %r\d+;)", ""); }},
    {"NoWaitForEmpty",
     [](std::string& text) {
       // It waits for the other parity, which is made by an xor with 1.
       std::smatch other;
       std::string rest = text;
       for (; std::regex_search(rest, other, std::regex(R"(xor\.b32\s+(%r\d+), %r\d+, 1;)"));
            rest = other.suffix())
         text = std::regex_replace(
             text, std::regex(R"(mbarrier\.try_wait\S* done, \[%r\d+\], )" + other[1].str() + ";"),
             "mov.pred done, 1;");
       EXPECT_NE(text.find("mov.pred done, 1;"), std::string::npos);
     }},
    {"ReleasedBeforeRead",
     [](std::string& text) {
       const std::regex wait(R"(done, \[(%r\d+)\], %r\d+;\s+@!done bra again;\s+\})");
       std::string out;
       std::smatch at;
       size_t moved = 0;
       while (std::regex_search(text, at, wait)) {
         out += at.prefix().str() + at.str();
         const std::string slot = at[1];
         text = at.suffix();
         std::smatch arrive;
         if (!std::regex_search(
                 text, arrive,
                 std::regex("add\\.s32\\s+(%r\\d+), " + slot +
                            ", 8;[^:]*?(mbarrier\\.arrive\\.shared::cta\\.b64 _, \\[\\1\\], %r\\d+;)")))
           continue;
         ++moved;
         text.erase(static_cast<size_t>(arrive.position(2)), static_cast<size_t>(arrive.length(2)));
         out +=
             "{ .reg .pred first; .reg .b32 lane, empty; mov.u32 lane, %laneid; setp.eq.u32 first, lane, 0; "
             "add.u32 empty, " +
             slot + ", 8; @first mbarrier.arrive.shared::cta.b64 _, [empty]; }";
       }
       EXPECT_EQ(moved, 4u);  // both layouts, alone and in a cluster
       text = out + text;
     }},
    {"OneRoundTooFew", [](std::string& text) {
       replace_all(text, R"((setp\.lt\.u32\s+(%p\d+), (%r\d+), )4;(\s+selp\.b32\s+%r\d+, \3, 0, \2;))",
                   "$013;$4");
       replace_all(text, R"((setp\.gt\.u32\s+(%p\d+), %r\d+, )3;(\s+selp\.u32\s+%r\d+, 1, 0, \2;))",
                   "$012;$3");
     }}};

class Ring : public testing::TestWithParam<RingMistake> {};

TEST_P(Ring, AMistakeFails) {
  std::string text = launch::read_file(capture::share_folder("kernels") + "/gemv/streamed.sm_90a.ptx");
  // Line information stands between the instructions.
  text = std::regex_replace(text, std::regex(R"(\n\s*\.loc[^\n]*)"), "");
  GetParam().plant(text);
  const std::string failure = bugs::failure_of("gemv", "streamed", text);
  EXPECT_NE(failure.find(" grid "), std::string::npos) << failure;
}

INSTANTIATE_TEST_SUITE_P(Mistakes, Ring, testing::ValuesIn(kRingMistakes),
                         [](const auto& mistake) { return std::string(mistake.param.name); });

// What a GPU recorded covers the cases that it ran, whatever else the suite tries. With BITWELL_RECORDED=all
// of the kernel with most cases too.
TEST(Verdict, TheRecordedBitsAreThoseOfTheRecordersCases) {
  verdict::Plan plan;
  plan.kernels = {"shared_b"};
  if (std::getenv("BITWELL_RECORDED") != nullptr) plan.kernels.push_back("streamed");
  plan.archs = {"sm_90a"};
  plan.ptx = capture::share_folder("kernels");
  plan.captures = capture::share_folder("captures");
  for (const verdict::Verdict& v : verdict::judge(suite("gemv"), plan)) {
    EXPECT_TRUE(v.holds) << v.first_mismatch;
    EXPECT_EQ(v.evidence, "device: NVIDIA H200") << v.kernel;
  }
}

}  // namespace
}  // namespace bitwell::suite
