// Conversions and directed roundings that the host does by its own, against model/number, which is their
// definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "model/isa/family/atomic_update.h"
#include "model/isa/lanes/catalog.h"
#include "model/isa/lanes/soft.h"
#include "model/number/arithmetic.h"

namespace bitwell::isa {
namespace {

using number::Mode;
using number::Rounding;

constexpr size_t kWideRow = 32 * sizeof(uint64_t);
using FourRows = std::array<std::byte, 4 * kWideRow>;
constexpr const char* kLevels[] = {"scalar", "avx2", "avx512"};

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> out;
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    out.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// "f32", "s16", ...
struct NumberType {
  bool floating = false, is_signed = false;
  int bits = 0;
};
std::optional<NumberType> type_named(const std::string& name) {
  if (name == "f32" || name == "f64") return NumberType{true, true, std::stoi(name.substr(1))};
  for (const char* bits : {"8", "16", "32", "64"})
    if (name == std::string("u") + bits || name == std::string("s") + bits)
      return NumberType{false, name[0] == 's', std::stoi(bits)};
  return std::nullopt;
}
Number number_typed(const NumberType& t) {
  return {!t.floating ? nullptr : t.bits == 32 ? &number::f32 : &number::f64, t.bits, t.is_signed};
}

Mode mode_named(const std::vector<std::string>& parts) {
  Mode out;
  for (const std::string& part : parts) {
    if (part == "rz" || part == "rzi") out.rounding = Rounding::toward_zero;
    if (part == "rm" || part == "rmi") out.rounding = Rounding::toward_negative;
    if (part == "rp" || part == "rpi") out.rounding = Rounding::toward_positive;
    out.ftz |= part == "ftz";
    out.sat |= part == "sat";
  }
  return out;
}

// Every exponent with either sign; fractions at their ends, at a half of 1 and of each power of 2, and beside
// those.
std::vector<uint64_t> numbers(int exponent_bits, int fraction_bits, std::mt19937_64& random) {
  std::vector<uint64_t> out;
  const uint64_t all = (uint64_t{1} << fraction_bits) - 1;
  for (uint64_t exponent = 0; exponent < uint64_t{1} << exponent_bits; ++exponent) {
    std::vector<uint64_t> fractions{0, 1, all, all - 1, all >> 1, (all >> 1) + 1, random() & all};
    const int whole = static_cast<int>(exponent) - (1 << (exponent_bits - 1)) + 1;  // bits before the point
    for (const int below : {1, 2, 8, 16, 24, 32, 40}) {
      const int at = fraction_bits - whole - below;  // of a half, a quarter, ...
      for (const int place : {at, fraction_bits - below}) {
        if (place < 0 || place >= fraction_bits) continue;
        const uint64_t tie = uint64_t{1} << place, odd = tie << 1 & all;
        const uint64_t high = random() & all & ~(2 * tie - 1);
        for (const uint64_t f :
             {tie, tie | odd, tie - 1, tie + 1, high | tie, high | odd | tie, (high | tie) + 1})
          fractions.push_back(f & all);
      }
    }
    for (const uint64_t f : fractions)
      for (const uint64_t sign : {0, 1})
        out.push_back((sign << exponent_bits | exponent) << fraction_bits | f);
  }
  return out;
}

// Of each length, at its ends, and halves of what fp32 and fp64 keep of it with what lies beside them.
std::vector<uint64_t> integers(std::mt19937_64& random) {
  std::vector<uint64_t> out;
  for (int length = 0; length < 64; ++length) {
    const uint64_t top = uint64_t{1} << length;
    std::vector<uint64_t> some{top, top - 1, top + 1, top | random() % top};
    for (const int kept : {24, 53}) {
      if (length < kept) continue;
      const uint64_t half = uint64_t{1} << (length - kept), high = (top | random() % top) & ~(2 * half - 1);
      for (const uint64_t v : {high | half, high | 2 * half | half, (high | half) - 1, (high | half) + 1})
        some.push_back(v);
    }
    for (const uint64_t v : some) out.insert(out.end(), {v, 0 - v, ~v});
  }
  return out;
}

void put(FourRows& rows, size_t row, int bits, size_t lane, uint64_t v) {
  const size_t bytes = bits <= 16 ? 2 : static_cast<size_t>(bits) / 8;
  std::memcpy(&rows[row * kWideRow + bytes * lane], &v, bytes);
}

// Both on 32 lanes after the other, all of them or some, which keep what they had.
void expect_same(const std::string& name, const Op& slow, const std::vector<std::array<uint64_t, 3>>& values,
                 int bits) {
  for (const char* level : kLevels) {
    const Catalog& catalog = lanes_catalog(level);
    if (catalog.empty()) continue;
    for (size_t first = 0; first < values.size(); first += 32) {
      alignas(64) FourRows expected{};
      for (size_t lane = 0; lane < 32; ++lane)
        for (size_t operand = 0; operand < 3; ++operand)
          put(expected, operand, bits, lane, values[(first + lane) % values.size()][operand]);
      alignas(64) FourRows fast = expected;
      Op op = slow;
      op.a = 0;
      op.b = kWideRow;
      op.c = 2 * kWideRow;
      op.d = 3 * kWideRow;
      const uint32_t mask = first % 64 == 0 ? ~0u : 0xA5A5F00Fu;
      slow.lanes(op, expected.data(), mask);
      catalog.at(name)(op, fast.data(), mask);
      ASSERT_EQ(std::memcmp(fast.data(), expected.data(), fast.size()), 0)
          << name << " " << level << " from " << std::hex << values[first][0] << " " << values[first][1]
          << " " << values[first][2];
    }
  }
}

TEST(FloatTwins, ConversionsAreThoseOfModelNumber) {
  std::mt19937_64 random(7);
  const std::vector<uint64_t> singles = numbers(8, 23, random), doubles = numbers(11, 52, random),
                              whole = integers(random);
  size_t compared = 0;
  for (const auto& [name, loop] : lanes_catalog("scalar")) {
    const std::vector<std::string> parts = parts_of(name);
    if (parts.front() != "cvt" || parts.size() < 3) continue;
    const std::optional<NumberType> to = type_named(parts[parts.size() - 2]), from = type_named(parts.back());
    if (!to || !from || (!to->floating && !from->floating)) continue;
    Conversion conversion;
    conversion.from = number_typed(*from);
    conversion.to = number_typed(*to);
    conversion.mode = mode_named(parts);
    conversion.to_integral = parts[1].size() == 3 && parts[1].back() == 'i';
    std::vector<std::array<uint64_t, 3>> values;
    for (const uint64_t v : !from->floating ? whole : from->bits == 32 ? singles : doubles)
      values.push_back({v, 0, 0});
    expect_same(name, soft_conversion(conversion), values, from->bits);
    ++compared;
  }
  EXPECT_GT(compared, 90u);
}

// Sums and products whose rounding is seen: of any numbers, of those that nearly cancel, whose product is
// hardly one, that are too large and too small.
std::vector<std::array<uint64_t, 3>> operands(std::mt19937_64& random) {
  static constexpr uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                                         0x00800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x7F7FFFFF,
                                         0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001, 0x34000000,
                                         0xB3FFFFFF, 0x1F800000, 0x9F800001, 0x5F000000, 0xDF7FFFFF};
  std::vector<std::array<uint64_t, 3>> out;
  for (const uint32_t a : special)
    for (const uint32_t b : special)
      for (const uint32_t c : special) out.push_back({a, b, c});
  const auto any = [&] { return static_cast<uint32_t>(random()); };
  const auto near_one = [&] { return (any() & 0x80FFFFFFu) | (0x3C000000u + (any() & 7) * 0x00800000u); };
  for (int i = 0; i < 100'000; ++i) {
    const uint32_t a = i % 2 == 0 ? any() : near_one(), b = i % 2 == 0 ? any() : near_one();
    const float product = std::bit_cast<float>(a) * std::bit_cast<float>(b);
    const uint32_t beside = std::bit_cast<uint32_t>(-product) + (any() % 5) - 2;
    out.push_back({a, b, i % 3 == 0 ? any() : i % 3 == 1 ? near_one() : beside});
    out.push_back({beside ^ 0x80000000u, beside, a});
  }
  return out;
}

TEST(FloatTwins, DirectedRoundingsAreThoseOfModelNumber) {
  std::mt19937_64 random(8);
  const std::vector<std::array<uint64_t, 3>> values = operands(random);
  size_t compared = 0;
  for (const auto& [opcode, operation] : {std::pair{"add", SoftOperation::add},
                                          {"sub", SoftOperation::sub},
                                          {"mul", SoftOperation::mul},
                                          {"fma", SoftOperation::fma}})
    for (const char* to : {"rz", "rm", "rp"}) {
      const std::string name = std::string(opcode) + "." + to + ".f32";
      expect_same(name, soft_arithmetic(operation, number::f32, false, mode_named({to})), values, 32);
      ++compared;
    }
  EXPECT_EQ(compared, 12u);
}

TEST(FloatTwins, SumsOfAtomicsAreThoseOfModelNumber) {
  std::mt19937_64 random(9);
  const std::vector<std::array<uint64_t, 3>> singles = operands(random);
  for (const auto& [a, b, c] : singles)
    for (const bool global : {false, true})
      ASSERT_EQ(atomic_update(AtomicOperation::add, ElementType::f32,
                              global ? AtomicPlace::global : AtomicPlace::shared, a, b, 0),
                number::add(number::f32, a, b, {.ftz = global}))
          << std::hex << a << " " << b;
  std::vector<uint64_t> doubles = numbers(11, 52, random);
  std::shuffle(doubles.begin(), doubles.end(), random);
  for (size_t i = 0; i + 1 < doubles.size(); ++i) {
    const uint64_t a = doubles[i];
    for (const uint64_t b : {doubles[i + 1], a, a ^ uint64_t{1} << 63, a + 1, (a + 2) ^ uint64_t{1} << 63})
      ASSERT_EQ(atomic_update(AtomicOperation::add, ElementType::f64, AtomicPlace::global, a, b, 0),
                number::add(number::f64, a, b, {}))
          << std::hex << a << " " << b;
  }
}

}  // namespace
}  // namespace bitwell::isa
