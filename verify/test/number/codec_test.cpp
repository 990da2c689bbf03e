// The fast codecs against the definition, over whole domains, for every instruction set that this host has.
#include "model/number/codec.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

using namespace bitwell::number;

namespace {

constexpr const char* kLevels[] = {"avx512", "avx2", "scalar"};

uint64_t define(const Format& format, uint32_t bits) {
  const Exact v = decode(f32, bits);
  if (v.is_nan()) return format.magnitude_mask();  // cvt: 0x7 and 0x7F
  return encode(format, round(format, v, Rounding::nearest_even, Overflow::saturate));
}

TEST(Codec, EveryE2m1ByteDecodesAsTheDefinitionSays) {
  for (const char* level : kLevels) {
    const Codec c = codec(level);
    if (c.decode_e2m1 == nullptr) continue;
    std::vector<uint8_t> bytes(256 + 7);  // a ragged tail too
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
    std::vector<uint16_t> out(2 * bytes.size());
    c.decode_e2m1(bytes.data(), out.data(), bytes.size());
    for (size_t i = 0; i < out.size(); ++i) {
      const uint64_t code = i % 2 == 0 ? bytes[i / 2] & 15u : bytes[i / 2] >> 4u;
      ASSERT_EQ(out[i], encode(f16, decode(e2m1, code))) << level << " element " << i;
    }
  }
}

TEST(Codec, EveryE4m3CodeDecodesAsTheDefinitionSays) {
  for (const char* level : kLevels) {
    const Codec c = codec(level);
    if (c.decode_e4m3 == nullptr) continue;
    std::vector<uint8_t> codes(256);
    for (size_t i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
    std::vector<uint16_t> out(256);
    c.decode_e4m3(codes.data(), out.data(), 256);
    for (size_t i = 0; i < 256; ++i)
      ASSERT_EQ(out[i], encode(f16, decode(e4m3, i))) << level << " code " << i;
  }
}

// The definition over all floats as runs of equal codes. Rounding is monotone in the magnitude
// (codes_test.cpp shows it at every boundary), so a run's end is found by bisection.
struct Run {
  uint32_t last;
  uint8_t code;
};
std::vector<Run> runs_of(const Format& format) {
  std::vector<Run> runs;
  for (const auto& [first, last] : {std::pair{0u, 0x7F800000u}, std::pair{0x7F800001u, 0x7FFFFFFFu},
                                    std::pair{0x80000000u, 0xFF800000u}, std::pair{0xFF800001u, 0xFFFFFFFFu}})
    for (uint64_t at = first; at <= last;) {
      const uint64_t code = define(format, static_cast<uint32_t>(at));
      uint64_t low = at;
      uint64_t high = last;
      while (low < high) {
        const uint64_t mid = (low + high + 1) / 2;
        define(format, static_cast<uint32_t>(mid)) == code ? low = mid : high = mid - 1;
      }
      runs.push_back({static_cast<uint32_t>(low), static_cast<uint8_t>(code)});
      at = low + 1;
    }
  return runs;
}

constexpr uint64_t kBlock = 1 << 16;  // floats that are encoded at once

// All with BITWELL_EXHAUSTIVE. Else those in which the code changes, at either side, and every 16th, another
// in turn: in between both ends of a block have the code that all of it has.
std::vector<uint64_t> blocks_of(const std::vector<Run>& runs) {
  std::set<uint64_t> out;
  const bool all = std::getenv("BITWELL_EXHAUSTIVE") != nullptr;
  constexpr uint64_t kBlocks = (uint64_t{1} << 32) / kBlock;
  for (uint64_t block = 0; block < kBlocks; ++block)
    if (all || block % 16 == block / 16 % 16) out.insert(block);
  for (const Run& run : runs)
    for (const uint64_t at : {uint64_t{run.last}, uint64_t{run.last} + 1})
      if (at / kBlock < kBlocks) out.insert(at / kBlock);
  return {out.begin(), out.end()};
}

void every_float(const Format& format, const char* level) {
  const Codec c = codec(level);
  if (c.encode_e2m1 == nullptr) GTEST_SKIP() << "this host has no " << level;
  const std::vector<Run> runs = runs_of(format);
  const std::vector<uint64_t> blocks = blocks_of(runs);
  std::atomic<size_t> next = 0;
  std::atomic<uint64_t> wrong = 0;
  std::atomic<uint32_t> example = 0;
  const auto work = [&] {
    std::vector<float> values(kBlock);
    std::vector<uint8_t> out(kBlock);
    std::vector<uint8_t> packed(kBlock / 2);
    for (size_t at = next++; at < blocks.size(); at = next++) {
      const auto first = static_cast<uint32_t>(blocks[at] * kBlock);
      for (uint32_t i = 0; i < kBlock; ++i) values[i] = std::bit_cast<float>(first + i);
      if (format.bits == 4) {
        c.encode_e2m1(values.data(), packed.data(), packed.size());
        for (size_t i = 0; i < out.size(); ++i) out[i] = packed[i / 2] >> 4 * (i % 2) & 15;
      } else {
        c.encode_e4m3(values.data(), out.data(), out.size());
      }
      size_t run = 0;
      while (runs[run].last < first) ++run;
      for (uint32_t i = 0; i < kBlock; ++i) {
        while (runs[run].last < first + i) ++run;
        if (out[i] != runs[run].code) {
          ++wrong;
          example = first + i;
        }
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) pool.emplace_back(work);
  }
  EXPECT_EQ(wrong, 0u) << format.name << " " << level << ", for example float bits " << std::hex << example;
}

class EveryFloat : public testing::TestWithParam<const char*> {};
TEST_P(EveryFloat, ToE2m1) { every_float(e2m1, GetParam()); }
TEST_P(EveryFloat, ToE4m3) { every_float(e4m3, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Levels, EveryFloat, testing::ValuesIn(kLevels),
                         [](const auto& level) { return std::string(level.param); });

}  // namespace
