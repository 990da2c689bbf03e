// fp32 arithmetic on pairs, min and max of three, redux of fp32, st.bulk (PTX ISA 9.0, 9.7.3.3 to 9.7.3.12,
// 9.7.9.14, 9.7.13.10). Expected values: the host's own arithmetic in the rounding asked for, and the
// manual's definitions written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

constexpr uint32_t kNaN = 0x7FFFFFFF;

float value(uint32_t bits) { return std::bit_cast<float>(bits); }
bool is_nan(uint32_t v) { return (v & 0x7FFFFFFF) > 0x7F800000; }
uint32_t flushed(uint32_t v) { return (v & 0x7F800000) == 0 ? v & 0x80000000 : v; }

// Values at and around every edge, by name and then at random.
std::vector<uint32_t> values(size_t count) {
  std::vector<uint32_t> out{0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000,
                            0x80800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x7F7FFFFF,
                            0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001,
                            0x33800000, 0xB3800000, 0x34000000, 0x5F000000, 0x20000000, 0x1FFFFFFF};
  std::mt19937 random(7);
  while (out.size() < count) {
    const uint32_t v = random();
    out.push_back(random() % 2 == 0 ? v : (v & 0x87FFFFFF) | 0x38000000);
  }
  return out;
}

// What `body` leaves in `results` words a thread, of threads with three pairs of words each: %d1, %d2, %d3
// and as %f1 to %f6.
std::vector<uint32_t> run(const std::string& body, const std::vector<uint32_t>& words, size_t results) {
  const size_t threads = words.size() / 6;
  std::vector<std::byte> in(4 * words.size());
  std::memcpy(in.data(), words.data(), in.size());
  const test::Left left =
      test::Kernel{
          .target = "sm_100a",
          .parameters = ".param .u64 in, .param .u64 out",
          .registers =
              ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %a<4>; .reg .b64 %d<8>;",
          .shared = ".shared .align 16 .b8 sm[4096];",
          .start =
              "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\n"
              "mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r1, %r1, 32, %r0;\nmul.wide.u32 %a2, %r1, 24;\n"
              "add.u64 %a0, %a0, %a2;\nmul.wide.u32 %a2, %r1, " +
              std::to_string(4 * results) +
              ";\nadd.u64 %a1, %a1, %a2;\nld.global.b64 %d1, [%a0];\nld.global.b64 %d2, [%a0+8];\n"
              "ld.global.b64 %d3, [%a0+16];\nmov.b64 {%f1, %f2}, %d1;\nmov.b64 {%f3, %f4}, %d2;\n"
              "mov.b64 {%f5, %f6}, %d3;\n",
          .body = body,
          .shape = {.grid = {static_cast<uint32_t>(threads / 32), 1, 1}, .block = {32, 1, 1}},
          .buffers = {test::input(in), test::output(4 * results * threads)}}
          .held();
  return left.all<uint32_t>(1);
}
std::vector<uint32_t> tuples() {
  const std::vector<uint32_t> all = values(64);
  std::mt19937 random(11);
  std::vector<uint32_t> out;
  for (size_t i = 0; i < 6 * 32 * 64; ++i) out.push_back(all[random() % all.size()]);
  return out;
}

TEST(PackedFloat, EachHalfIsRoundedByItself) {
  const std::vector<uint32_t> in = tuples();
  for (const std::string opcode : {"add", "sub", "mul", "fma"})
    for (const std::string rounding : {"", ".rn", ".rz", ".rm", ".rp"})
      for (const bool ftz : {false, true}) {
        if (opcode == "fma" && rounding.empty()) continue;
        const std::vector<uint32_t> out =
            run("and.b32 %r2, %r0, 3;\nsetp.ne.u32 %p0, %r2, 0;\nmov.u64 %d4, 1;\n@%p0 " + opcode + rounding +
                    (ftz ? ".ftz" : "") + ".f32x2 %d4, %d1, %d2" + (opcode == "fma" ? ", %d3" : "") +
                    ";\nst.global.b64 [%a1], %d4;\n",
                in, 2);
        std::fesetround(rounding == ".rz"   ? FE_TOWARDZERO
                        : rounding == ".rm" ? FE_DOWNWARD
                        : rounding == ".rp" ? FE_UPWARD
                                            : FE_TONEAREST);
        size_t wrong = 0;
        for (size_t i = 0; i < out.size(); ++i) {
          if (i / 2 % 4 == 0) {  // not executed by these threads
            wrong += out[i] != (i % 2 == 0 ? 1 : 0);
            continue;
          }
          const size_t t = i / 2 * 6 + i % 2;
          const auto at = [&](size_t n) { return value(ftz ? flushed(in[t + 2 * n]) : in[t + 2 * n]); };
          const volatile float a = at(0), b = at(1), c = at(2);
          const volatile float plain = opcode == "add"   ? a + b
                                       : opcode == "sub" ? a - b
                                       : opcode == "mul" ? a * b
                                                         : std::fma(a, b, c);
          uint32_t want = std::bit_cast<uint32_t>(static_cast<float>(plain));
          if (is_nan(want)) want = kNaN;
          // Tiny before rounding: with the least normal as the result, that shows only in double.
          if (ftz) {
            const double exact = opcode == "add"   ? double{a} + double{b}
                                 : opcode == "sub" ? double{a} - double{b}
                                 : opcode == "mul" ? double{a} * double{b}
                                                   : std::fma(double{a}, double{b}, double{c});
            if (!is_nan(want) && std::fabs(exact) < 0x1p-126) want &= 0x80000000;
            want = flushed(want);
          }
          if (out[i] != want && ++wrong < 4)
            ADD_FAILURE() << opcode << rounding << (ftz ? ".ftz" : "") << " " << std::hex << in[t] << " "
                          << in[t + 2] << " " << in[t + 4] << " => " << out[i] << " expected " << want;
        }
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(wrong, 0u) << opcode << rounding << ftz;
      }
}

// By the manual's definition, over codes.
uint32_t extreme(bool max, bool propagate, uint32_t a, uint32_t b) {
  if (is_nan(a) && is_nan(b)) return kNaN;
  if (is_nan(a) || is_nan(b)) return propagate ? kNaN : is_nan(a) ? b : a;
  const auto order = [](uint32_t v) {  // +0 above -0
    return (v >> 31) != 0 ? -static_cast<int64_t>(v & 0x7FFFFFFF) - 1 : static_cast<int64_t>(v);
  };
  return (order(a) > order(b)) == max ? a : b;
}

TEST(ThreeInputs, AreTheExtremeOfTwoAndTheThird) {
  const std::vector<uint32_t> in = tuples();
  for (const bool max : {false, true})
    for (const bool ftz : {false, true})
      for (const bool propagate : {false, true})
        for (const bool absolute : {false, true}) {
          const std::string name = std::string(max ? "max" : "min") + (ftz ? ".ftz" : "") +
                                   (propagate ? ".NaN" : "") + (absolute ? ".abs" : "") + ".f32";
          const std::vector<uint32_t> out =
              run(name + " %f7, %f1, %f3, %f5;\nst.global.f32 [%a1], %f7;\n", in, 1);
          for (size_t i = 0; i < out.size(); ++i) {
            const auto at = [&](size_t n) {
              const uint32_t v = ftz ? flushed(in[6 * i + 2 * n]) : in[6 * i + 2 * n];
              return absolute ? v & 0x7FFFFFFF : v;
            };
            ASSERT_EQ(out[i], extreme(max, propagate, extreme(max, propagate, at(0), at(1)), at(2)))
                << name << std::hex << " " << in[6 * i] << " " << in[6 * i + 2] << " " << in[6 * i + 4];
          }
        }
}

TEST(FloatReduction, TakesTheExtremeOfItsThreads) {
  std::vector<uint32_t> in = tuples();
  // Warps by kind: only NaN; only zeros of both signs; one NaN among numbers; as drawn.
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t warp = i / 6 / 32;
    const size_t lane = i / 6 % 32;
    if (warp % 4 == 0) in[i] = 0x7FC00000 + static_cast<uint32_t>(lane);
    if (warp % 4 == 1) in[i] = lane % 3 == 1 ? 0x80000000 : 0;
    if (warp % 4 == 2) in[i] = lane == 17 ? 0xFFC00000 : 0xC0000000 + static_cast<uint32_t>(i % 64);
  }
  for (const bool max : {false, true})
    for (const bool propagate : {false, true})
      for (const bool absolute : {false, true}) {
        const std::string name = std::string("redux.sync.") + (max ? "max" : "min") +
                                 (absolute ? ".abs" : "") + (propagate ? ".NaN" : "") + ".f32";
        // Odd and even threads by themselves.
        const std::vector<uint32_t> out =
            run("and.b32 %r2, %r0, 1;\nmov.u32 %r3, 0x55555555;\nshl.b32 %r3, %r3, %r2;\n" + name +
                    " %f7, %f1, %r3;\nst.global.f32 [%a1], %f7;\n",
                in, 1);
        for (size_t i = 0; i < out.size(); ++i) {
          uint32_t want = 0;
          bool any = false;
          for (size_t j = i / 32 * 32 + i % 2; j < i / 32 * 32 + 32; j += 2) {
            const uint32_t v = absolute ? in[6 * j] & 0x7FFFFFFF : in[6 * j];
            want = any ? extreme(max, propagate, want, v) : is_nan(v) ? kNaN : v;
            any = true;
          }
          ASSERT_EQ(out[i], want) << name << ", thread " << i;
        }
      }
}

TEST(BulkStore, ClearsWhatItSaysAndNothingElse) {
  const std::vector<uint32_t> in(6 * 32);
  const std::string fill =
      "mul.lo.u32 %r4, %r0, 4;\nmov.u32 %r5, sm;\nadd.u32 %r4, %r5, %r4;\nadd.u32 %r6, %r0, 1;\n"
      "st.shared.u32 [%r4], %r6;\nbar.sync 0;\nsetp.eq.u32 %p0, %r0, 5;\nmov.u64 %d4, 24;\n";
  const std::string out = "bar.sync 0;\nld.shared.u32 %r7, [%r4];\nst.global.u32 [%a1], %r7;\n";
  for (const char* form :
       {"@%p0 st.bulk.shared::cta [%r5+16], %d4, 0;\n", "@%p0 st.bulk.weak.shared::cta [%r5+16], 24, 0;\n",
        "cvta.shared::cta.u64 %d5, 0;\nmov.u64 %d6, sm;\nadd.u64 %d5, %d5, %d6;\n"
        "@%p0 st.bulk [%d5+16], %d4, 0;\n@%p0 st.bulk [%d5+8], 0, 0;\n"}) {
    const std::vector<uint32_t> got = run(fill + form + out, in, 1);
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(got[t], t >= 4 && t < 10 ? 0 : t + 1) << form << t;
  }
}

TEST(BulkStore, WhatItMayNotDoIsAFault) {
  const std::vector<uint32_t> in(6 * 32);
  const auto what = [&](const std::string& body) -> std::string {
    try {
      run("mov.u32 %r5, sm;\nmov.u64 %d4, 24;\nmov.u64 %d5, 20;\nsetp.eq.u32 %p0, %r0, 0;\n" + body, in, 1);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  };
  const auto expect = [&](const std::string& body, const std::string& part) {
    const std::string found = what(body);
    EXPECT_NE(found.find(part), std::string::npos) << body << found;
  };
  expect("@%p0 st.bulk.shared::cta [%r5], %d5, 0;\n", "st.bulk of 20 bytes, it must be a multiple of 8");
  expect("mov.u64 %d6, 16777224;\n@%p0 st.bulk.shared::cta [%r5], %d6, 0;\n",
         "st.bulk of 16777224 bytes, it must be a multiple of 8 up to 16777216");
  expect("@%p0 st.bulk.shared::cta [%r5+4080], %d4, 0;\n", "out-of-bounds");
  expect("@%p0 st.bulk.shared::cta [%r5+4], %d4, 0;\n", "not a multiple of 8");
  expect("@%p0 st.bulk [%a1], %d4, 0;\n", "not in shared memory");
  expect("@%p0 mbarrier.init.shared::cta.b64 [sm+16], 1;\n@%p0 st.bulk.shared::cta [%r5], %d4, 0;\n",
         "writes over an mbarrier");
  expect(
      "@!%p0 bra DONE;\nmbarrier.init.shared::cta.b64 [sm+64], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [sm+64], 16;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm+16], [%a0], 16, [sm+64];\n"
      "st.bulk.shared::cta [%r5], %d4, 0;\nDONE:\n",
      "is still to write");
}

}  // namespace
}  // namespace bitwell::isa
