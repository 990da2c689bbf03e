// What atomics on bits, that exchange and that add floating-point numbers leave and give, in global and in
// shared memory, for some threads of a warp or all (PTX ISA 9.0, "atom" and "red"). Those on integers stand
// in whole/seldom_values_test.cpp.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "../../kernel.h"
#include "model/isa/family/atomic_update.h"

namespace bitwell::isa {
namespace {

uint64_t f32(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t f64(double v) { return std::bit_cast<uint64_t>(v); }

struct Change {
  const char* op;
  int bits;
  uint64_t old, b, becomes;
  uint64_t shared_becomes = ~uint64_t{0} - 77;  // where that differs
  uint64_t c = 0;
};
constexpr uint64_t kAlike = ~uint64_t{0} - 77;

std::vector<Change> changes() {
  constexpr uint64_t low = 0xFFFFFFFF;
  return {
      {"exch.b32", 32, 3, 4, 4},
      {"exch.b64", 64, 3, low + 9, low + 9},
      {"and.b32", 32, 0xF0F0, 0xFF00, 0xF000},
      {"and.b64", 64, 0xF0F0F0F0F0F0, 0xFF00FF00FF00, 0xF000F000F000},
      {"or.b32", 32, 0xF0F0, 0xFF00, 0xFFF0},
      {"or.b64", 64, 0xF00000000000, 0x0F, 0xF0000000000F},
      {"xor.b32", 32, 0xF0F0, 0xFF00, 0x0FF0},
      {"xor.b64", 64, 0xF0F000000000, 0xFF0000000001, 0x0FF000000001},
      {"cas.b16", 16, 0x8001, 0x8001, 0x7FFF, kAlike, 0x7FFF},
      {"cas.b16", 16, 0x8001, 0x0001, 0x8001, kAlike, 0x7FFF},
      {"cas.b32", 32, 7, 7, 9, kAlike, 9},
      {"cas.b32", 32, 7, 6, 7, kAlike, 9},
      {"cas.b64", 64, low + 7, low + 7, 9, kAlike, 9},
      {"cas.b64", 64, low + 7, 6, low + 7, kAlike, 9},
      {"add.f32", 32, f32(1.5F), f32(2.25F), f32(3.75F)},
      // In global memory subnormal numbers are zero, in shared memory they are themselves.
      {"add.f32", 32, 1, 2, 0, 3},
      {"add.f32", 32, 0x80000001, 0x80000001, 0x80000000, 0x80000002},
      {"add.f32", 32, f32(1.5e-38F), f32(-1.25e-38F), 0, f32(1.5e-38F - 1.25e-38F)},
      {"add.f64", 64, f64(1.5), f64(2.25), f64(3.75)},
      {"add.f64", 64, 1, 2, 3},
      {"add.noftz.f16x2", 32, 0x3C000001, 0x40000002, 0x42000003},
      {"add.noftz.f16x2", 32, 0x00033C00, 0x00024000, 0x00054200},
      {"add.noftz.bf16x2", 32, 0x3F800001, 0x40000002, 0x40400003},
      {"add.noftz.bf16x2", 32, 0x00033F80, 0x00024000, 0x00054040},
  };
}

// One of every `stride` threads does it, each at a place of its own.
std::string differs(const Change& c, bool shared, bool returns, uint32_t stride) {
  const std::string w = std::to_string(c.bits), r = c.bits == 16 ? "%h" : c.bits == 32 ? "%r" : "%q";
  const size_t size = static_cast<size_t>(c.bits) / 8;
  const std::string place = shared ? "[%s0]" : "[%d3]", space = shared ? ".shared" : ".global";
  const bool compares = std::string(c.op).starts_with("cas");
  test::Kernel k{
      .parameters = ".param .u64 pplace, .param .u64 pb, .param .u64 pc, .param .u64 pnew, .param .u64 pold",
      .registers =
          ".reg .pred %p<2>; .reg .b16 %h<6>; .reg .b32 %r<6>; .reg .b64 %q<6>; .reg .b64 %d<8>; .reg .b32 "
          "%s<4>;",
      .shared = ".shared .align 16 .b8 tile[256];",
      .start =
          "mov.u32 %s1, %tid.x; mul.wide.u32 %d7, %s1, " + std::to_string(size) +
          ";\nld.param.u64 %d3, [pplace]; ld.param.u64 %d4, [pnew]; ld.param.u64 %d5, [pold];\n"
          "ld.param.u64 %d1, [pb]; ld.param.u64 %d2, [pc];\nadd.u64 %d3, %d3, %d7; add.u64 %d4, %d4, %d7; "
          "add.u64 %d5, %d5, %d7; add.u64 %d1, %d1, %d7; add.u64 %d2, %d2, %d7;\n"
          "mov.u32 %s0, tile; mad.lo.u32 %s0, %s1, " +
          std::to_string(size) + ", %s0; rem.u32 %s2, %s1, " + std::to_string(stride) +
          "; setp.eq.u32 %p0, %s2, 0;\n",
      .body = "ld.global.b" + w + " " + r + "0, [%d3]; ld.global.b" + w + " " + r + "1, [%d1]; ld.global.b" +
              w + " " + r + "2, [%d2];\nst.shared.b" + w + " [%s0], " + r + "0;\n@%p0 " +
              (returns ? "atom" + space + "." + c.op + " " + r + "3, " + place + ", "
                       : "red" + space + "." + c.op + " " + place + ", ") +
              r + "1" + (compares ? ", " + r + "2" : "") + ";\nld" + space + ".b" + w + " " + r + "4, " +
              place + ";\nst.global.b" + w + " [%d4], " + r + "4;\n" +
              (returns ? "@%p0 st.global.b" + w + " [%d5], " + r + "3;\n" : ""),
      .buffers = {},
      .all_written = false};
  const auto repeated = [&](uint64_t v) {
    std::vector<std::byte> out(32 * size);
    for (size_t i = 0; i < 32; ++i) std::memcpy(&out[i * size], &v, size);
    return out;
  };
  for (const uint64_t v : {c.old, c.b, c.c}) k.buffers.push_back({"in", repeated(v), true, false, false});
  k.buffers.push_back(test::output(32 * size));
  k.buffers.push_back(test::output(32 * size));
  const test::Left left = k.run();
  if (!left.fault.empty()) return left.fault;
  const uint64_t want = shared && c.shared_becomes != kAlike ? c.shared_becomes : c.becomes;
  for (size_t i = 0; i < 32; ++i) {
    const bool does = i % stride == 0;
    uint64_t is = 0, was = 0;
    std::memcpy(&is, &left.buffers[3].bytes[i * size], size);
    std::memcpy(&was, &left.buffers[4].bytes[i * size], size);
    if (is != (does ? want : c.old)) return "thread " + std::to_string(i) + " leaves " + std::to_string(is);
    if (was != (does && returns ? c.old : 0))
      return "thread " + std::to_string(i) + " gets " + std::to_string(was);
  }
  return "";
}

TEST(AtomicValues, AreThoseOfTheManual) {
  for (const Change& c : changes())
    for (const bool shared : {false, true})
      for (const bool returns : {true, false}) {
        const std::string op = c.op;
        if (!returns && (op.starts_with("cas") || op.starts_with("exch"))) continue;
        for (const uint32_t stride : {1u, 3u, 32u})
          EXPECT_EQ(differs(c, shared, returns, stride), "")
              << op << (shared ? " of shared memory" : " of global memory") << (returns ? "" : " by red")
              << ", " << std::hex << c.old << " and " << c.b;
      }
}

// A vector's elements are each for itself.
TEST(AtomicValues, VectorsAreElementByElement) {
  struct Vector {
    const char *op, *place;
    int elements, bits;
    std::vector<uint64_t> old, b, becomes;
  };
  for (const Vector& v : std::vector<Vector>{
           {"add.v2.f32", "%r", 2, 32, {f32(1), f32(2)}, {f32(10), f32(20)}, {f32(11), f32(22)}},
           {"add.v4.f32",
            "%r",
            4,
            32,
            {f32(1), f32(2), 1, f32(4)},
            {f32(10), f32(20), 2, f32(40)},
            {f32(11), f32(22), 0, f32(44)}},
           {"add.noftz.v2.f16", "%h", 2, 16, {0x3C00, 1}, {0x4000, 2}, {0x4200, 3}},
           {"add.noftz.v8.bf16",
            "%h",
            8,
            16,
            {1, 2, 3, 4, 5, 6, 7, 0x3F80},
            {1, 1, 1, 1, 1, 1, 1, 0x4000},
            {2, 3, 4, 5, 6, 7, 8, 0x4040}},
           {"add.noftz.v4.f16x2",
            "%r",
            4,
            32,
            {0x3C000001, 1, 2, 3},
            {0x40000002, 1, 0x00010001, 1},
            {0x42000003, 2, 0x00010003, 4}}})
    for (const bool returns : {true, false}) {
      const size_t size = static_cast<size_t>(v.bits) / 8;
      const std::string w = std::to_string(v.bits), n = std::to_string(v.elements);
      std::string load, given, results, stores;
      for (int i = 0; i < v.elements; ++i) {
        const std::string at = std::to_string(i), offset = std::to_string(static_cast<size_t>(i) * size);
        load += "ld.global.b" + w + " " + v.place + at + ", [%d1+" + offset + "];\n";
        given += (i == 0 ? "" : ", ") + std::string(v.place) + at;
        results += (i == 0 ? "" : ", ") + std::string(v.place) + "1" + at;
        stores += "st.global.b" + w + " [%d2+" + offset + "], " + v.place + "1" + at + ";\n";
      }
      test::Kernel k{
          .parameters = ".param .u64 pplace, .param .u64 pb, .param .u64 pold",
          .registers = ".reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<4>;",
          .start = "ld.param.u64 %d0, [pplace]; ld.param.u64 %d1, [pb]; ld.param.u64 %d2, [pold];",
          .body = load + (returns ? "atom.global." + std::string(v.op) + " {" + results + "}, [%d0], {" +
                                        given + "};\n" + stores
                                  : "red.global." + std::string(v.op) + " [%d0], {" + given + "};\n"),
          .shape = {.block = {1, 1, 1}},
          .all_written = false};
      for (const auto* of : {&v.old, &v.b}) {
        std::vector<std::byte> bytes(16);
        for (size_t i = 0; i < of->size(); ++i) std::memcpy(&bytes[i * size], &(*of)[i], size);
        k.buffers.push_back({"in", std::move(bytes), true, false, of == &v.old});
      }
      k.buffers.push_back(test::output(16));
      const test::Left left = k.run();
      ASSERT_EQ(left.end(), "held") << v.op;
      for (size_t i = 0; i < v.old.size(); ++i) {
        uint64_t is = 0, was = 0;
        std::memcpy(&is, &left.buffers[0].bytes[i * size], size);
        std::memcpy(&was, &left.buffers[2].bytes[i * size], size);
        EXPECT_EQ(is, v.becomes[i]) << v.op << " element " << i;
        EXPECT_EQ(was, returns ? v.old[i] : 0) << v.op << " element " << i;
      }
    }
}

// What an atomic changes must have been written; what it replaces need not.
TEST(AtomicValues, WhatWasNeverWrittenCannotBeChanged) {
  struct Unwritten {
    const char* text;
    bool held;
  };
  for (const Unwritten& u :
       {Unwritten{"atom.shared.add.u32 %r1, [word], 1;", false},
        Unwritten{"red.shared.add.u32 [word], 1;", false},
        Unwritten{"atom.shared.cas.b32 %r1, [word], 0, 1;", false},
        Unwritten{"atom.shared.exch.b32 %r1, [word], 1;", true},
        Unwritten{"st.shared.u32 [word], 4; atom.shared.add.u32 %r1, [word], 1;", true},
        Unwritten{"st.shared.u32 [word], 4; atom.shared.add.u32 %r1, [word], %u;", false},
        Unwritten{"st.shared.u32 [word], 4; atom.shared.cas.b32 %r1, [word], 4, %u;", false}}) {
    const std::string end = test::Kernel{.registers = ".reg .b32 %r<2>; .reg .b32 %u;",
                                         .shared = ".shared .b32 word;",
                                         .body = u.text,
                                         .shape = {.block = {1, 1, 1}}}
                                .run()
                                .end();
    EXPECT_EQ(end == "held", u.held) << u.text << end;
  }
}

// Of halves and of doubles as bulk reductions take them: a NaN loses, two are the canonical one, and -0 is
// less than +0 (PTX ISA 9.0, "min" and "max"); a sum keeps the NaN of a double (H200).
TEST(AtomicValues, NaNsAndZerosOfReductions) {
  struct Choice {
    ElementType type;
    uint64_t a, b, least, most;
  };
  constexpr uint64_t f16_nan = 0x7E01, bf16_nan = 0xFFC1;
  for (const Choice& c : {Choice{ElementType::f16, 0x8000, 0x0000, 0x8000, 0x0000},
                          Choice{ElementType::f16, 0x8001, 0x0000, 0x8001, 0x0000},
                          Choice{ElementType::f16, 0x8001, 0x8000, 0x8001, 0x8000},
                          Choice{ElementType::f16, 0x8002, 0x8001, 0x8002, 0x8001},
                          Choice{ElementType::f16, 0x0001, 0x0000, 0x0000, 0x0001},
                          Choice{ElementType::f16, 0xFC00, 0x7C00, 0xFC00, 0x7C00},
                          Choice{ElementType::f16, f16_nan, 0x3C00, 0x3C00, 0x3C00},
                          Choice{ElementType::f16, 0x7C00, f16_nan, 0x7C00, 0x7C00},
                          Choice{ElementType::f16, f16_nan, 0x7C01, 0x7FFF, 0x7FFF},
                          Choice{ElementType::bf16, 0x8000, 0x0000, 0x8000, 0x0000},
                          Choice{ElementType::bf16, 0xBF80, 0x3F80, 0xBF80, 0x3F80},
                          Choice{ElementType::bf16, bf16_nan, 0xFF80, 0xFF80, 0xFF80},
                          Choice{ElementType::bf16, bf16_nan, bf16_nan, 0x7FFF, 0x7FFF}})
    for (const bool other_way : {false, true}) {
      const uint64_t a = other_way ? c.b : c.a, b = other_way ? c.a : c.b;
      EXPECT_EQ(atomic_update(AtomicOperation::min, c.type, AtomicPlace::bulk, a, b, 0), c.least)
          << std::hex << a << " " << b;
      EXPECT_EQ(atomic_update(AtomicOperation::max, c.type, AtomicPlace::bulk, a, b, 0), c.most)
          << std::hex << a << " " << b;
    }
  constexpr uint64_t infinity = 0x7FF0000000000000, nan = 0xFFF0000000000001;
  const auto sum = [](uint64_t a, uint64_t b) {
    return atomic_update(AtomicOperation::add, ElementType::f64, AtomicPlace::bulk, a, b, 0);
  };
  EXPECT_EQ(sum(nan, f64(1)), nan);
  EXPECT_EQ(sum(f64(1), nan), nan);
  EXPECT_EQ(sum(infinity, f64(1)), infinity);
  EXPECT_EQ(sum(f64(1), infinity), infinity);
  EXPECT_EQ(sum(1, 2), 3u);
}

}  // namespace
}  // namespace bitwell::isa
