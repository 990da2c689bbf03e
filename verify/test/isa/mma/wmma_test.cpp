// wmma.load, mma and store together: D = A B + C for every shape, type and layout, from matrices in memory
// with a stride to a matrix in memory (PTX ISA 9.0, 9.7.14.4). Elements are small integers, whose sums every
// order makes exact. Which thread holds what is nobody's business.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

struct Kind {
  const char* type;                           // of A and B
  const char* result;                         // of C and D
  size_t bytes, result_bytes;                 // of an element
  size_t (*registers)(size_t elements);       // of A or B with so many elements
  std::vector<std::array<size_t, 3>> shapes;  // m, n, k
};
const std::vector<std::array<size_t, 3>> kK16{{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};
const std::vector<Kind>& kinds() {
  static const auto eight = [](size_t) { return size_t{8}; };
  static const auto by_two = [](size_t n) { return n / 64; };
  static const auto by_four = [](size_t n) { return n / 128; };
  static const auto by_one = [](size_t n) { return n / 32; };
  static const std::vector<Kind> all{
      {"f16", "f32", 2, 4, eight, kK16},        {"f16", "f16", 2, 2, eight, kK16},
      {"bf16", "f32", 2, 4, by_two, kK16},      {"s8", "s32", 1, 4, by_four, kK16},
      {"u8", "s32", 1, 4, by_four, kK16},       {"tf32", "f32", 4, 4, by_one, {{16, 16, 8}}},
      {"f64", "f64", 8, 8, by_one, {{8, 8, 4}}}};
  return all;
}

// A small integer as an element of the type.
uint64_t code(const std::string& type, int64_t v) {
  if (type == "s8" || type == "u8") return static_cast<uint8_t>(v);
  if (type == "s32") return static_cast<uint32_t>(v);
  if (type == "f64") return std::bit_cast<uint64_t>(static_cast<double>(v));
  const auto f32 = std::bit_cast<uint32_t>(static_cast<float>(v));
  if (type == "bf16") return f32 >> 16;
  if (type != "f16") return f32;
  const auto sign = (f32 >> 16) & 0x8000;
  return (f32 & 0x7FFFFFFF) == 0 ? sign : sign | (((f32 >> 13) & 0x3FFFF) - (112u << 10));
}

// A matrix in memory, in rows or in columns, with padding behind each.
struct Matrix {
  size_t rows, columns, bytes, stride;
  bool in_rows;
  std::vector<std::byte> memory;
  Matrix(size_t r, size_t c, size_t b, bool by_rows)
      : rows(r),
        columns(c),
        bytes(b),
        stride((by_rows ? c : r) + 16 / b),
        in_rows(by_rows),
        memory((by_rows ? r : c) * stride * b, std::byte{0x5A}) {}
  std::byte* at(size_t r, size_t c) { return &memory[(in_rows ? r * stride + c : c * stride + r) * bytes]; }
};

std::string names(const std::string& prefix, size_t count) {
  std::string out = "{";
  for (size_t n = 0; n < count; ++n) out += (n == 0 ? "" : ", ") + prefix + std::to_string(n);
  return out + "}";
}

// D as one warp leaves it.
std::vector<std::byte> multiply(const Kind& kind, const std::array<size_t, 3>& shape, const Matrix& a,
                                const Matrix& b, const Matrix& c, const Matrix& d) {
  const auto [m, n, k] = shape;
  const std::string dot = ".m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  const auto layout = [](const Matrix& x) { return std::string(x.in_rows ? ".row" : ".col"); };
  const std::string result = std::string(".") + kind.result, type = std::string(".") + kind.type;
  const bool wide = kind.bytes == 8;
  const std::string held = wide ? "%g" : "%r";
  const size_t c_count = kind.result_bytes == 2 ? m * n / 64 : m * n / 32;
  const auto fragment = [&](const char* letter, size_t count) { return names(held + letter, count); };
  const std::string rd =
      kind.result_bytes == 4 && result == ".f32" ? names("%fc", c_count) : fragment("c", c_count);
  const std::string ra = fragment("a", kind.registers(m * k)), rb = fragment("b", kind.registers(k * n));
  const auto stride = [](const Matrix& x) { return ", " + std::to_string(x.stride) + ";\n"; };
  const std::string types =
      kind.bytes == 2 && type == ".f16" ? result + result : result + type + type + result;
  const test::Left left = test::Kernel{
      .parameters = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d",
      .registers =
          ".reg .b32 %ra<9>; .reg .b32 %rb<9>; .reg .b32 %rc<9>; .reg .f32 %fc<9>; .reg .f64 %ga<9>; "
          ".reg .f64 %gb<9>; .reg .f64 %gc<9>; .reg .b64 %p<5>;",
      .start =
          "ld.param.u64 %p0, [a];\nld.param.u64 %p1, [b];\nld.param.u64 %p2, [c];\nld.param.u64 %p3, [d];\n",
      .body = "wmma.load.a.sync.aligned" + layout(a) + dot + type + " " + ra + ", [%p0]" + stride(a) +
              "wmma.load.b.sync.aligned" + layout(b) + dot + ".global" + type + " " + rb + ", [%p1]" +
              stride(b) + "wmma.load.c.sync.aligned" + layout(c) + dot + result + " " + rd + ", [%p2]" +
              stride(c) + "wmma.mma.sync.aligned" + layout(a) + layout(b) + dot + types + " " + rd + ", " +
              ra + ", " + rb + ", " + rd + ";\nwmma.store.d.sync.aligned" + layout(d) + dot + result +
              " [%p3], " + rd + stride(d),
      .buffers = {test::input(a.memory),
                  test::input(b.memory),
                  test::input(c.memory),
                  {"d", d.memory, true, false,
                   true}}}.held();
  return left.buffers[3].bytes;
}

TEST(Wmma, MultipliesMatricesOfEveryShapeTypeAndLayout) {
  std::mt19937 random(1);
  for (const Kind& kind : kinds())
    for (const auto& shape : kind.shapes)
      for (int layouts = 0; layouts < 16; ++layouts) {
        if (kind.result_bytes == 2 && (layouts & 12) != 0) continue;  // refused by name
        const auto [m, n, k] = shape;
        Matrix a(m, k, kind.bytes, (layouts & 1) == 0), b(k, n, kind.bytes, (layouts & 2) == 0);
        Matrix c(m, n, kind.result_bytes, (layouts & 4) == 0), d(m, n, kind.result_bytes, (layouts & 8) == 0);
        std::vector<int64_t> va(m * k), vb(k * n), vc(m * n);
        const bool is_unsigned = kind.type[0] == 'u';
        const auto fill = [&](std::vector<int64_t>& values, Matrix& to, const char* type, int64_t least) {
          for (size_t i = 0; i < values.size(); ++i) {
            values[i] = least + static_cast<int64_t>(random() % 11);
            const uint64_t bits = code(type, values[i]);
            std::memcpy(to.at(i / to.columns, i % to.columns), &bits, to.bytes);
          }
        };
        fill(va, a, kind.type, is_unsigned ? 0 : -5);
        fill(vb, b, kind.type, is_unsigned ? 0 : -5);
        fill(vc, c, kind.result, -5);
        for (size_t i = 0; i < m * n; ++i) {
          int64_t sum = vc[i];
          for (size_t at = 0; at < k; ++at) sum += va[i / n * k + at] * vb[at * n + i % n];
          const uint64_t bits = code(kind.result, sum);
          std::memcpy(d.at(i / n, i % n), &bits, d.bytes);
        }
        Matrix empty(m, n, kind.result_bytes, d.in_rows);
        EXPECT_EQ(multiply(kind, shape, a, b, c, empty), d.memory)
            << kind.type << " to " << kind.result << ", m" << m << "n" << n << "k" << k << ", layouts "
            << layouts;
      }
}

// Fragments of .b32 take registers of 32 bits, but no floats and no pairs (ptxas 13.0).
TEST(Wmma, FragmentsOfWordsTakeNoFloats) {
  for (const auto& [r, taken] :
       {std::pair{"%r", true}, {"%s", true}, {"%u", true}, {"%f", false}, {"%x", false}}) {
    const std::string two = "{" + std::string(r) + "0, " + r + "1}";
    const std::string four = "{" + std::string(r) + "0, " + r + "1, " + r + "2, " + r + "3}";
    const std::string c = "{%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7}";
    const std::string d = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
    for (const std::string& body :
         {"wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 " + four + ", [%q0], 16;",
          "wmma.load.b.sync.aligned.col.m16n16k16.global.s8 " + two + ", [%q0], 16;",
          "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 " + c + ", " + two + ", {%r2, %r3}, " + c +
              ";",
          "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 " + c + ", {%r2, %r3}, " + two + ", " + c +
              ";",
          "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 " + d + ", " + four +
              ", {%r4, %r5, %r6, %r7}, " + d + ";"}) {
      const test::Kernel k{.parameters = ".param .u64 in",
                           .registers =
                               ".reg .b64 %q<2>; .reg .b32 %r<8>; .reg .s32 %s<8>; .reg .u32 %u<8>; .reg "
                               ".f32 %f<8>; .reg .f16x2 %x<8>;",
                           .start = "ld.param.u64 %q0, [in];",
                           .body = body};
      const std::string refusal = k.refusal();
      EXPECT_EQ(refusal.empty(), taken) << body << ": " << refusal;
      EXPECT_EQ(refusal.find(".b32 is needed") != std::string::npos, !taken) << body << ": " << refusal;
    }
  }
}

// Sums of four products, one behind the other.
TEST(Wmma, Tf32GivesWhatAnH200Gives) {
  std::ifstream file(BITWELL_WMMA_TF32);
  const auto next = [&] {
    std::string line;
    do std::getline(file, line);
    while (line.starts_with("#"));
    std::istringstream words(line);
    std::vector<uint32_t> out;
    for (uint32_t word = 0; words >> std::hex >> word;) out.push_back(word);
    return out;
  };
  const auto buffer = [](const std::vector<uint32_t>& words) {
    std::vector<std::byte> bytes(4 * words.size());
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return test::input(bytes);
  };
  for (int tile = 0; tile < 2; ++tile) {
    const std::vector<uint32_t> a = next(), b = next(), c = next(), d = next();
    ASSERT_EQ(a.size() + b.size() + c.size() + d.size(), 768u);
    const std::string fragment = names("%f", 8), ra = names("%a", 4), rb = names("%b", 4);
    const test::Left left = test::Kernel{
        .parameters = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d",
        .registers = ".reg .b32 %a<4>; .reg .b32 %b<4>; .reg .f32 %f<8>; .reg .b64 %p<4>;",
        .start =
            "ld.param.u64 %p0, [a];\nld.param.u64 %p1, [b];\nld.param.u64 %p2, [c];\nld.param.u64 "
            "%p3, [d];\n",
        .body = "wmma.load.a.sync.aligned.row.m16n16k8.tf32 " + ra + ", [%p0], 8;\n" +
                "wmma.load.b.sync.aligned.col.m16n16k8.tf32 " + rb + ", [%p1], 8;\n" +
                "wmma.load.c.sync.aligned.row.m16n16k8.f32 " + fragment + ", [%p2], 16;\n" +
                "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 " + fragment + ", " + ra + ", " +
                rb + ", " + fragment + ";\nwmma.store.d.sync.aligned.row.m16n16k8.f32 [%p3], " + fragment +
                ", 16;\n",
        .buffers = {
            buffer(a), buffer(b), buffer(c),
            test::output(1024)}}.held();
    EXPECT_EQ(left.all<uint32_t>(3), d) << tile;
  }
}

}  // namespace
}  // namespace bitwell::isa
