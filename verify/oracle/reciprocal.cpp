#include "verify/oracle/reciprocal.h"

#include <lzma.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

asm(".section .rodata\n"
    "bitwell_oracle_recorded:\n"
    ".incbin \"" BITWELL_RECIPROCALS
    "\"\n"
    "bitwell_oracle_recorded_end:\n"
    ".previous\n");
extern "C" const uint8_t recorded_first[] asm("bitwell_oracle_recorded");
extern "C" const uint8_t recorded_last[] asm("bitwell_oracle_recorded_end");

namespace bitwell::oracle {
namespace {

constexpr size_t kSignificands = size_t{1} << 23;

// The differences of 1 / 1, 1 / (1 + 2^-23), ...
std::vector<int8_t> read_record() {
  std::vector<int8_t> out(kSignificands);
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_MAX, 0) != LZMA_OK) throw std::bad_alloc();
  stream.next_in = recorded_first;
  stream.avail_in = static_cast<size_t>(recorded_last - recorded_first);
  stream.next_out = reinterpret_cast<uint8_t*>(out.data());
  stream.avail_out = out.size();
  const lzma_ret end = lzma_code(&stream, LZMA_FINISH);
  lzma_end(&stream);
  if (end != LZMA_STREAM_END || stream.avail_out != 0)
    throw std::runtime_error("the recorded reciprocals are damaged");
  return out;
}

}  // namespace

float reciprocal(float x) {
  static const std::vector<int8_t> record = read_record();
  if (std::isnan(x)) return std::bit_cast<float>(0x7FFFFFFFu);
  if (std::isinf(x)) return std::copysign(0.0f, x);
  if (std::fpclassify(x) != FP_NORMAL) return std::copysign(std::numeric_limits<float>::infinity(), x);
  int exponent = 0;
  const float significand =
      2 * std::frexp(std::fabs(x), &exponent);  // of [1, 2): x = significand 2^(exponent - 1)
  const auto place = static_cast<size_t>((significand - 1) * 0x1p23f);
  const auto nearest = static_cast<float>(1 / static_cast<double>(significand));
  const float y = std::bit_cast<float>(std::bit_cast<int32_t>(nearest) + record[place]);
  const float out = std::copysign(std::ldexp(y, 1 - exponent), x);
  return std::fpclassify(out) == FP_SUBNORMAL ? std::copysign(0.0f, x) : out;
}

float divided_fully(float a, float b) {
  const float size = std::fabs(b);
  const float scale = size > 0x1p126f ? 0.25f : size < std::numeric_limits<float>::min() ? 0x1p24f : 1.0f;
  return a * scale * reciprocal(b * scale);
}

}  // namespace bitwell::oracle
