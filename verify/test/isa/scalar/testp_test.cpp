// testp (PTX ISA 9.0, 9.7.3.1) of every property, of numbers at the ends of each class. What a number is says
// the host's fpclassify; the manual counts zeros as normal numbers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

template <class T>
using Code = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T>
std::vector<std::pair<const char*, T>> named_values() {
  using Limits = std::numeric_limits<T>;
  const auto nan = [](T quiet, Code<T> change) {
    return std::bit_cast<T>(static_cast<Code<T>>(std::bit_cast<Code<T>>(quiet) ^ change));
  };
  const Code<T> quiet_bit = Code<T>{1} << (Limits::digits - 2);
  const T quiet =
      std::bit_cast<T>(static_cast<Code<T>>(std::bit_cast<Code<T>>(Limits::infinity()) | quiet_bit));
  std::vector<std::pair<const char*, T>> out{
      {"zero", T{0}},
      {"one", T{1}},
      {"smallest subnormal", Limits::denorm_min()},
      {"largest subnormal", std::nextafter(Limits::min(), T{0})},
      {"smallest normal", Limits::min()},
      {"normal above it", std::nextafter(Limits::min(), T{1})},
      {"largest finite", Limits::max()},
      {"infinity", Limits::infinity()},
      {"quiet NaN", quiet},
      {"quiet NaN with a payload", nan(quiet, 1)},
      {"signalling NaN, all but its last bit 0", nan(quiet, quiet_bit | 1)},
      {"largest signalling NaN", nan(quiet, 2 * quiet_bit - 1)}};
  // A lower word that is not zero, or all that is.
  if (sizeof(T) == 8)
    for (const uint64_t code :
         std::initializer_list<uint64_t>{0x80000000, 0x100000000, 0x7FF0000080000000, 0x7FF0000100000000,
                                         0x000FFFFF00000000, 0x7FEFFFFF00000000})
      out.emplace_back("by its words", std::bit_cast<T>(static_cast<Code<T>>(code)));
  const size_t positive = out.size();
  for (size_t i = 0; i < positive; ++i)
    out.emplace_back(out[i].first,
                     std::bit_cast<T>(static_cast<Code<T>>(std::bit_cast<Code<T>>(out[i].second) ^
                                                           Code<T>{1} << (8 * sizeof(T) - 1))));
  return out;
}

struct Property {
  const char* name;
  bool (*of)(int);
};
constexpr Property kProperties[] = {
    {"finite", [](int c) { return c != FP_INFINITE && c != FP_NAN; }},
    {"infinite", [](int c) { return c == FP_INFINITE; }},
    {"number", [](int c) { return c != FP_NAN; }},
    {"notanumber", [](int c) { return c == FP_NAN; }},
    {"normal", [](int c) { return c == FP_NORMAL || c == FP_ZERO; }},
    {"subnormal", [](int c) { return c == FP_SUBNORMAL; }},
};

// Thread i tests number i, and writes 2 where the property holds, 1 where it does not; a thread whose guard
// is false leaves the predicate as it was, true in the one run and false in the other.
template <class T>
void expect_properties(const std::string& type, const std::string& registers) {
  const auto values = named_values<T>();
  const auto threads = static_cast<uint32_t>(values.size());
  std::vector<std::byte> in(threads * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(in.data() + i * sizeof(T), &values[i].second, sizeof(T));
  for (const Property& property : kProperties)
    for (const bool before : {false, true}) {
      SCOPED_TRACE(std::string(property.name) + "." + type + (before ? " after true" : " after false"));
      const test::Left left = test::Kernel{
          .parameters = ".param .u64 pin, .param .u64 pout",
          .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<8>; .reg ." + registers + " %v;",
          .body =
              "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.u32 %r0, %tid.x;\nmad.wide.u32 %q0, "
              "%r0, " +
              std::to_string(sizeof(T)) + ", %q0; mad.wide.u32 %q1, %r0, 8, %q1;\nld.global." + registers +
              " %v, [%q0]; setp." + (before ? "eq" : "ne") +
              ".u32 %p1, %r0, %r0;\nsetp.ne.u32 %p3, %r0, %r0;\nmov.pred %p2, %p1; testp." + property.name +
              "." + type + " %p1, %v; @%p3 testp." + property.name + "." + type +
              " %p2, %v;\nselp.u32 %r1, 2, 1, %p1; selp.u32 %r2, 2, 1, %p2; st.global.u32 [%q1], %r1; "
              "st.global.u32 [%q1+4], %r2;",
          .shape = {.block = {threads, 1, 1}},
          .buffers = {
              test::input(in),
              test::output(
                  8 * threads)}}.run();
      ASSERT_EQ(left.end(), "held");
      const auto out = left.all<uint32_t>(1);
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(out[2 * i] == 2, property.of(std::fpclassify(values[i].second)))
            << values[i].first << ", " << values[i].second;
        EXPECT_EQ(out[2 * i + 1], before ? 2u : 1u) << values[i].first;
      }
    }
}

TEST(Testp, OfEachClassInSinglePrecision) {
  expect_properties<float>("f32", "f32");
  expect_properties<float>("f32", "b32");
}
TEST(Testp, OfEachClassInDoublePrecision) {
  expect_properties<double>("f64", "f64");
  expect_properties<double>("f64", "b64");
}

// A bit that was never written may decide it, so that the predicate has no value.
TEST(Testp, OfWhatWasNeverWritten) {
  const test::Left left = test::Kernel{
      .parameters = ".param .u64 pout",
      .registers = ".reg .pred %p; .reg .b32 %r; .reg .f32 %f; .reg .b64 %q;",
      .shared = ".shared .align 4 .b8 nothing[4];",
      .body =
          "ld.param.u64 %q, [pout]; ld.shared.f32 %f, [nothing]; testp.finite.f32 %p, %f;\n"
          "@%p st.global.u32 [%q], 1;",
      .shape = {.block = {1, 1, 1}},
      .buffers = {
          test::output(4)}}.run();
  EXPECT_NE(left.end().find("never written"), std::string::npos) << left.end();
}

// What the manual does not have: another type, no property, two, .ftz, a word for the predicate.
TEST(Testp, RefusesWhatIsNoTest) {
  const auto refusal = [](const std::string& instruction) {
    return test::Kernel{.registers = ".reg .pred %p; .reg .b16 %h; .reg .b32 %r; .reg .f32 %f; .reg .f64 %d;",
                        .body = instruction}
        .refusal();
  };
  EXPECT_EQ(refusal("testp.finite.f32 %p, %f;"), "");
  EXPECT_EQ(refusal("testp.finite.f32 %p, 0f3F800000;"), "");
  for (const char* wrong :
       {"testp.finite.f16 %p, %h;", "testp.f32 %p, %f;", "testp.finite.normal.f32 %p, %f;",
        "testp.finite.ftz.f32 %p, %f;", "testp.zero.f32 %p, %f;", "testp.finite.f32 %r, %f;",
        "testp.finite.f32 %p, %d;", "testp.finite.f64 %p, %f;", "testp.finite.f32 %p, %f, %f;",
        "testp.finite.f32 %p;"})
    EXPECT_NE(refusal(wrong), "") << wrong;
}

}  // namespace
}  // namespace bitwell::isa
