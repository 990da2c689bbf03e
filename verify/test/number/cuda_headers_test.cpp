// The definition against the host functions of the CUDA headers, and each known disagreement by name.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <map>
#include <random>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

using namespace bitwell::number;

namespace {

// Every float whose bits could matter to a format of at most 16 bits: all values of the top 17 bits, with a
// low half of all zeros, all ones, and one beside them.
template <class Visit>
void floats(Visit visit) {
  for (uint32_t high = 0; high < 1u << 17; ++high)
    for (const uint32_t low : {0u, 1u, 0x3FFFu, 0x4000u, 0x4001u, 0x7FFFu}) visit(high << 15 | low);
  std::mt19937 random(5);
  for (int i = 0; i < 2'000'000; ++i) visit(static_cast<uint32_t>(random()));
}

uint64_t ours(const Format& format, uint32_t bits, Rounding mode, Overflow overflow) {
  const Exact v = decode(f32, bits);
  if (v.is_nan() && !format.has_nan()) return format.magnitude_mask();
  return encode(format, round(format, v, mode, overflow));
}

// Where the headers and we part, on purpose. A row that no input needs fails the test.
struct Disagreement {
  const char* name;
  std::function<bool(uint32_t bits, uint64_t header, uint64_t ours)> holds;
  uint64_t seen = 0;
};

void compare(const char* what, const std::function<uint64_t(uint32_t)>& header,
             const std::function<uint64_t(uint32_t)>& model, std::vector<Disagreement> known = {}) {
  uint64_t wrong = 0;
  floats([&](uint32_t bits) {
    const uint64_t h = header(bits);
    const uint64_t m = model(bits);
    if (h == m) return;
    for (Disagreement& d : known)
      if (d.holds(bits, h, m)) {
        ++d.seen;
        return;
      }
    if (++wrong <= 3)
      ADD_FAILURE() << what << " of " << std::hex << bits << " => " << m << " expected (header) " << h;
  });
  EXPECT_EQ(wrong, 0u) << what;
  for (const Disagreement& d : known)
    EXPECT_GT(d.seen, 0u) << what << ": the known disagreement '" << d.name << "' is stale";
}

TEST(CudaHeaders, FloatToE2m1) {
  compare(
      "float to e2m1, nearest",
      [](uint32_t b) { return __nv_cvt_float_to_fp4(std::bit_cast<float>(b), __NV_E2M1, cudaRoundNearest); },
      [](uint32_t b) { return ours(e2m1, b, Rounding::nearest_even, Overflow::saturate); });
  compare(
      "float to e2m1, toward zero",
      [](uint32_t b) { return __nv_cvt_float_to_fp4(std::bit_cast<float>(b), __NV_E2M1, cudaRoundZero); },
      [](uint32_t b) { return ours(e2m1, b, Rounding::toward_zero, Overflow::saturate); });
}

TEST(CudaHeaders, FloatToE4m3AndE5m2) {
  for (const auto& [format, interpretation] : {std::pair{&e4m3, __NV_E4M3}, std::pair{&e5m2, __NV_E5M2}})
    for (const auto& [overflow, saturation] :
         {std::pair{Overflow::saturate, __NV_SATFINITE}, std::pair{Overflow::ieee, __NV_NOSAT}})
      compare(
          "float to fp8",
          [i = interpretation, s = saturation](uint32_t b) {
            return __nv_cvt_float_to_fp8(std::bit_cast<float>(b), s, i);
          },
          [f = format, o = overflow](uint32_t b) {
            // Without saturation, E4M3 overflow is a NaN that keeps its sign in the headers.
            return ours(*f, b, Rounding::nearest_even, o);
          },
          overflow == Overflow::ieee && format == &e4m3
              ? std::vector<Disagreement>{{"an overflow to NaN keeps its sign in the headers",
                                           [](uint32_t b, uint64_t h, uint64_t m) {
                                             return (b >> 31) != 0 && h == 0xFF && m == 0x7F;
                                           }}}
              : std::vector<Disagreement>{});
}

TEST(CudaHeaders, FloatToHalfAndBfloat16) {
  compare(
      "float to half", [](uint32_t b) { return __half_raw(__float2half_rn(std::bit_cast<float>(b))).x; },
      [](uint32_t b) { return ours(f16, b, Rounding::nearest_even, Overflow::ieee); });
  compare(
      "float to half, rz", [](uint32_t b) { return __half_raw(__float2half_rz(std::bit_cast<float>(b))).x; },
      [](uint32_t b) { return ours(f16, b, Rounding::toward_zero, Overflow::ieee); });
  compare(
      "float to half, rd", [](uint32_t b) { return __half_raw(__float2half_rd(std::bit_cast<float>(b))).x; },
      [](uint32_t b) { return ours(f16, b, Rounding::toward_negative, Overflow::ieee); });
  compare(
      "float to half, ru", [](uint32_t b) { return __half_raw(__float2half_ru(std::bit_cast<float>(b))).x; },
      [](uint32_t b) { return ours(f16, b, Rounding::toward_positive, Overflow::ieee); });
  compare(
      "float to bfloat16",
      [](uint32_t b) { return __nv_bfloat16_raw(__float2bfloat16_rn(std::bit_cast<float>(b))).x; },
      [](uint32_t b) { return ours(bf16, b, Rounding::nearest_even, Overflow::ieee); });
}

TEST(CudaHeaders, DecodingSmallFormats) {
  for (uint32_t code = 0; code < 256; ++code) {
    EXPECT_EQ(__half_raw(__nv_cvt_fp8_to_halfraw(static_cast<uint8_t>(code), __NV_E4M3)).x,
              encode(f16, decode(e4m3, code)))
        << code;
    const uint64_t e5 = encode(f16, decode(e5m2, code));
    EXPECT_EQ(__half_raw(__nv_cvt_fp8_to_halfraw(static_cast<uint8_t>(code), __NV_E5M2)).x, e5) << code;
  }
  for (uint32_t code = 0; code < 16; ++code)
    EXPECT_EQ(__half_raw(__nv_cvt_fp4_to_halfraw(static_cast<uint8_t>(code), __NV_E2M1)).x,
              encode(f16, decode(e2m1, code)))
        << code;
}

}  // namespace
