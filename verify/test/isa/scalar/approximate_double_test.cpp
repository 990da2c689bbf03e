// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: what an H200 gave for every significand, at both ends of the
// range, and how they are refused. All 2^32 upper words: verify/test/device.
#include "model/isa/family/scalar/approximate_double.h"

#include <gtest/gtest.h>

#include <cstring>

#include "../../kernel.h"
#include "verify/capture/digest.h"

namespace bitwell::isa {
namespace {

TEST(ApproximateDouble, EverySignificandHasTheH200sBits) {
  capture::Digest digest;
  const auto table = [&](uint32_t (*upper_word)(uint32_t), uint32_t exponent) {
    std::vector<uint32_t> words(1 << 20);
    for (uint32_t i = 0; i < words.size(); ++i) words[i] = upper_word(exponent << 20 | i);
    digest.add(std::as_bytes(std::span(words)));
  };
  table(isa::reciprocal_upper, 1023);
  table(isa::reciprocal_root_upper, 1023);
  table(isa::reciprocal_root_upper, 1024);
  EXPECT_EQ(digest.hex(), "108de8602b8ede95");
}

TEST(ApproximateDouble, TheEndsOfTheRangeAreTheH200s) {
  struct Word {
    uint32_t of, reciprocal, root;
  };
  for (const Word w : {Word{0x00000000, 0x7FF00000, 0x7FF00000},
                       {0x00000001, 0x7FF00000, 0x7FF00000},
                       {0x000FFFFF, 0x7FF00000, 0x7FF00000},
                       {0x00100000, 0x7FD00000, 0x5FE00000},
                       {0x00180000, 0x7FC55555, 0x5FDA20BD},
                       {0x00200001, 0x7FBFFFFE, 0x5FD6A09D},
                       {0x7FC00001, 0x001FFFFE, 0x2006A09D},
                       {0x7FCFFFFF, 0x00100000, 0x20000000},
                       {0x7FD00000, 0x00100000, 0x20000000},
                       {0x7FD00001, 0, 0x1FFFFFFE},
                       {0x7FDFFFFF, 0, 0x1FF6A09E},
                       {0x7FE00000, 0, 0x1FF6A09E},
                       {0x7FF00000, 0, 0},
                       {0x7FF00001, 0x7FFFFFFF, 0x7FFFFFFF},
                       {0x80000000, 0xFFF00000, 0xFFF00000},
                       {0x80000001, 0xFFF00000, 0xFFF00000},
                       {0x80100001, 0xFFCFFFFE, 0x7FFFFFFF},
                       {0xFFD00000, 0x80100000, 0x7FFFFFFF},
                       {0xFFD00001, 0x80000000, 0x7FFFFFFF},
                       {0xFFE80000, 0x80000000, 0x7FFFFFFF},
                       {0xFFF00000, 0x80000000, 0x7FFFFFFF},
                       {0xFFF80000, 0x7FFFFFFF, 0x7FFFFFFF}}) {
    EXPECT_EQ(isa::reciprocal_upper(w.of), w.reciprocal) << std::hex << w.of;
    EXPECT_EQ(isa::reciprocal_root_upper(w.of), w.root) << std::hex << w.of;
  }
}

// What one thread makes of a double, or why not.
std::string outcome(const std::string& instruction, const std::string& target, uint64_t of,
                    Approximate approximate = Approximate::captured) {
  const test::Kernel k{.target = target,
                       .parameters = ".param .u64 out, .param .f64 x",
                       .registers = ".reg .f64 %x;\n.reg .b64 %a;",
                       .start = "ld.param.f64 %x, [x];\nld.param.u64 %a, [out];",
                       .body = instruction + " %x, %x;",
                       .finish = "st.global.f64 [%a], %x;",
                       .shape = {.block = {1, 1, 1}},
                       .buffers = {{"out", {}, false, false, true, 8}}};
  launch::Launch l = k.launch();
  l.add_scalar(of);
  l.approximate = approximate;
  const test::Left left = k.run(l);
  return left.fault.empty() ? std::to_string(left.all<uint64_t>(0)[0]) : left.fault;
}

TEST(ApproximateDouble, LowerWordsDoNotCountAndAreZero) {
  for (const uint64_t low : {0ull, 1ull, 0xFFFFFFFFull}) {
    EXPECT_EQ(outcome("rcp.approx.ftz.f64", "sm_90a", 0x3FF80000ull << 32 | low),
              std::to_string(0x3FE55555ull << 32));
    EXPECT_EQ(outcome("rsqrt.approx.ftz.f64", "sm_90a", 0x3FF80000ull << 32 | low),
              std::to_string(0x3FEA20BDull << 32));
  }
}

TEST(ApproximateDouble, WhatIsNotCapturedIsRefused) {
  EXPECT_NE(outcome("rsqrt.approx.f64", "sm_90a", 0).find("no table"), std::string::npos);
  EXPECT_NE(outcome("rcp.approx.ftz.f64", "sm_100a", 0).find("no table"), std::string::npos);
  EXPECT_EQ(outcome("rcp.approx.ftz.f64", "sm_100a", 0, Approximate::h200),
            outcome("rcp.approx.ftz.f64", "sm_90a", 0));
}

}  // namespace
}  // namespace bitwell::isa
