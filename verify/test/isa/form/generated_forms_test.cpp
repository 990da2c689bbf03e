// What code generators (Triton, CUDA's own headers) write and nvcc's plain C++ does not: vectors of atomics,
// wgmma of bytes, cvt between the halves without a rounding, parities beyond 1, and the workspace of a
// cooperative grid. Expected values: the scalar instructions, the host's integers, the manual's fragments
// written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

using Bytes = std::vector<std::byte>;

test::Kernel kernel(const std::string& body) {
  return {.parameters = ".param .u64 in, .param .u64 out",
          .registers =
              ".reg .pred %p<4>;\n.reg .b16 %h<24>;\n.reg .b32 %r<80>;\n.reg .b32 %d<132>;\n"
              ".reg .f32 %f<16>;\n.reg .b64 %a<8>;",
          .shared = ".shared .align 1024 .b8 tile[12288];",
          .start = "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;",
          .body = body};
}

struct Left {
  Bytes in, out;
  std::vector<run::Note> notes;
};

// What `threads` leave in both buffers; `out` bytes start as zeros.
Left run(const std::string& body, const Bytes& in, size_t out, uint32_t threads = 32, bool strict = false) {
  test::Kernel k = kernel(body);
  k.shape.block = {threads, 1, 1};
  k.buffers = {{"in", in, true, false, true}, test::output(out)};
  k.options.strict = strict;
  const test::Left left = k.held();
  return {left.buffers[0].bytes, left.buffers[1].bytes, left.notes};
}

std::string failure(const std::string& body, const Bytes& in, bool strict = false) {
  try {
    run(body, in, 64, 32, strict);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "held";
}

Bytes random_bytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes out(count);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

TEST(GeneratedForms, BetweenTheHalvesNoRoundingIsToNearest) {
  Bytes codes(2 * 65536);
  for (uint32_t c = 0; c < 65536; ++c) std::memcpy(codes.data() + 2 * c, &c, 2);
  for (const char* types : {".bf16.f16", ".f16.bf16"}) {
    const auto left = [&](const std::string& rounding) {
      return run("mul.wide.u32 %a2, %r0, 2;\nadd.u64 %a0, %a0, %a2;\nadd.u64 %a1, %a1, %a2;\nmov.u32 %r1, "
                 "0;\n"
                 "L: ld.global.b16 %h0, [%a0];\ncvt" +
                     rounding + types +
                     " %h1, %h0;\nst.global.b16 [%a1], %h1;\nadd.u64 %a0, %a0, 512;\nadd.u64 %a1, %a1, 512;\n"
                     "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 256;\n@%p0 bra L;\n",
                 codes, codes.size(), 256)
          .out;
    };
    EXPECT_EQ(left(""), left(".rn")) << types;
    EXPECT_NE(left(""), left(".rz")) << types;
  }
}

// One vector instruction leaves what as many scalar ones leave, and returns what they return.
TEST(GeneratedForms, AVectorOfAtomicsIsAnUpdateOfEachElement) {
  struct Type {
    const char* name;
    const char* load;
    const char* prefix;
    int bytes;
  };
  uint32_t seed = 1;
  for (const Type t : {Type{".f32", "b32", "%f", 4},
                       {".noftz.f16", "b16", "%h", 2},
                       {".noftz.bf16", "b16", "%h", 2},
                       {".noftz.f16x2", "b32", "%d", 4},
                       {".noftz.bf16x2", "b32", "%d", 4}})
    for (const int n : {2, 4, 8})
      for (const bool returns : {true, false}) {
        if (n == 8 && t.bytes == 4) continue;
        const std::string modifier = t.name;
        const std::string type = modifier.substr(modifier.rfind('.'));
        const std::string operation = ".global.add" + modifier.substr(0, modifier.rfind('.'));
        const auto reg = [&](int i) { return t.prefix + std::to_string(i); };
        const auto list = [&](int first) {
          std::string out = "{";
          for (int i = 0; i < n; ++i) out += (i == 0 ? "" : ",") + reg(first + i);
          return out + "}";
        };
        // Each thread updates the same place with operands of its own, and the results go where those stood.
        const auto body = [&](bool vector) {
          std::string text = "mul.wide.u32 %a2, %r0, 16;\nadd.u64 %a3, %a0, %a2;\nadd.u64 %a4, %a1, %a2;\n";
          for (int i = 0; i < n; ++i)
            text += std::string("ld.global.") + t.load + " " + reg(i) + ", [%a3+" +
                    std::to_string(16 + i * t.bytes) + "];\n";
          const std::string vec = ".v" + std::to_string(n);
          if (vector) {
            text += returns ? "atom" + operation + vec + type + " " + list(0) + ", [%a0], " + list(0) + ";\n"
                            : "red" + operation + vec + type + " [%a0], " + list(0) + ";\n";
          } else {
            for (int i = 0; i < n; ++i) {
              const std::string place = "[%a0+" + std::to_string(i * t.bytes) + "]";
              text += returns
                          ? "atom" + operation + type + " " + reg(i) + ", " + place + ", " + reg(i) + ";\n"
                          : "red" + operation + type + " " + place + ", " + reg(i) + ";\n";
            }
          }
          for (int i = 0; i < n; ++i)
            text += std::string("st.global.") + t.load + " [%a4+" + std::to_string(i * t.bytes) + "], " +
                    reg(i) + ";\n";
          return text;
        };
        const Bytes in = random_bytes(16 * 33, ++seed);
        const Left vector = run(body(true), in, 512), scalars = run(body(false), in, 512);
        EXPECT_EQ(vector.in, scalars.in) << t.name << " " << n;
        EXPECT_EQ(vector.out, scalars.out) << t.name << " " << n;
        EXPECT_NE(vector.in, in);
      }
}

// Results may go to other elements' operands.
TEST(GeneratedForms, AVectorOfAtomicsReadsItsOperandsFirst) {
  const std::string load = "ld.global.v2.f32 {%f0,%f1}, [%a0+8];\n";
  const Left left = run(
      "setp.ne.u32 %p0, %r0, 0;\n@%p0 ret;\n" + load +
          "atom.global.add.v2.f32 {%f1,%f0}, [%a0], {%f0,%f1};\nst.global.v2.f32 [%a1], {%f1,%f0};\n",
      [] {
        const float values[] = {1, 2, 10, 20};
        Bytes out(sizeof values);
        std::memcpy(out.data(), values, sizeof values);
        return out;
      }(),
      8);
  float sums[2], before[2];
  std::memcpy(sums, left.in.data(), 8);
  std::memcpy(before, left.out.data(), 8);
  EXPECT_EQ(sums[0], 11);
  EXPECT_EQ(sums[1], 22);
  EXPECT_EQ(before[0], 1);
  EXPECT_EQ(before[1], 2);
}

TEST(GeneratedForms, AVectorOfAtomicsIsAlignedAsAWholeAndGlobal) {
  const std::string zero = "mov.f32 %f0, 0f00000000;\n";
  EXPECT_NE(
      failure(zero + "red.global.add.v4.f32 [%a0+8], {%f0,%f0,%f0,%f0};\n", Bytes(64)).find("isaligned"),
      std::string::npos);
  EXPECT_NE(
      failure(zero +
                  "mov.u64 %a2, tile;\ncvta.shared.u64 %a2, %a2;\nst.f32 [%a2], %f0;\nst.f32 [%a2+4], %f0;\n"
                  "red.add.v2.f32 [%a2], {%f0,%f0};\n",
              Bytes(64))
          .find("a vector atomic on memory that is not global"),
      std::string::npos);
}

// Devices see the lowest bit of a parity: the barrier is in phase 0, so phase 1 counts as over and phase 0
// does not.
TEST(GeneratedForms, OfAParityTheLowestBitCounts) {
  const std::string body =
      "setp.ne.u32 %p0, %r0, 0;\n@%p0 ret;\nmbarrier.init.shared.b64 [tile], 1;\nld.global.u32 %r1, [%a0];\n"
      "mbarrier.test_wait.parity.shared.b64 %p1, [tile], %r1;\nselp.u32 %r2, 1, 0, %p1;\nst.global.u32 "
      "[%a1], %r2;\n";
  for (const uint32_t parity : {0u, 1u, 2u, 3u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
    Bytes in(64);
    std::memcpy(in.data(), &parity, 4);
    const Left left = run(body, in, 4);
    EXPECT_EQ(left.out[0], static_cast<std::byte>(parity % 2)) << parity;
    ASSERT_EQ(left.notes.size(), parity > 1 ? 1u : 0u) << parity;
    if (parity > 1) {
      EXPECT_NE(failure(body, in, true).find("phase parity " + std::to_string(parity)), std::string::npos);
    }
  }
}

// wgmma of bytes against the host's integers: A from shared memory or registers, every pair of types.
struct ByteProduct {
  uint32_t n;
  bool a_signed, b_signed, saturate, a_in_registers, accumulate;
};

// Rows of 32 bytes as matrices of 8 rows by 16 bytes, the two of a row of matrices side by side.
Bytes in_core_matrices(const Bytes& rows) {
  Bytes out(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t row = i / 32, k = i % 32;
    out[row / 8 * 256 + k / 16 * 128 + row % 8 * 16 + k % 16] = rows[i];
  }
  return out;
}

std::string product_kernel(const ByteProduct& c) {
  std::string d, text;
  for (uint32_t i = 0; i < c.n / 2; ++i) d += (i == 0 ? "%d" : ",%d") + std::to_string(i);
  // A at byte 0 of `in` (and of the tile), B at 2048, A's fragments at 12288, D's first values behind them.
  text = "mov.u32 %r1, tile;\n";
  for (uint32_t at = 0; at < 2048 + 32 * c.n; at += 512)
    text += "mul.wide.u32 %a2, %r0, 4;\nadd.u64 %a2, %a2, %a0;\nld.global.b32 %r2, [%a2+" +
            std::to_string(at) + "];\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r3, %r1;\nst.shared.b32 [%r3+" +
            std::to_string(at) + "], %r2;\n";
  text +=
      "mul.wide.u32 %a2, %r0, 16;\nadd.u64 %a2, %a2, %a0;\nld.global.v4.b32 {%r4,%r5,%r6,%r7}, "
      "[%a2+12288];\n";
  text += "mul.wide.u32 %a2, %r0, " + std::to_string(2 * c.n) +
          ";\nadd.u64 %a3, %a2, %a0;\nadd.u64 %a4, %a2, %a1;\n";
  for (uint32_t i = 0; i < c.n / 2; ++i)
    text += "ld.global.b32 %d" + std::to_string(i) + ", [%a3+" + std::to_string(14336 + 4 * i) + "];\n";
  text +=
      "fence.proxy.async.shared::cta;\nbar.sync 0;\nshr.u32 %r1, %r1, 4;\ncvt.u64.u32 %a5, %r1;\n"
      "or.b64 %a5, %a5, 0x0000001000080000;\nadd.u64 %a6, %a5, 128;\nwgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n" +
      std::to_string(c.n) + "k32" + (c.saturate ? ".satfinite" : "") + ".s32" + (c.a_signed ? ".s8" : ".u8") +
      (c.b_signed ? ".s8" : ".u8") + " {" + d + "}, " + (c.a_in_registers ? "{%r4,%r5,%r6,%r7}" : "%a5") +
      ", %a6, " + (c.accumulate ? "1" : "0") +
      ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (uint32_t i = 0; i < c.n / 2; ++i)
    text += "st.global.b32 [%a4+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return text;
}

int64_t value(std::byte b, bool is_signed) {
  return is_signed ? int64_t{static_cast<int8_t>(b)} : int64_t{static_cast<uint8_t>(b)};
}

TEST(GeneratedForms, WgmmaOfBytesIsExactAndWrapsOrStays) {
  uint32_t seed = 100;
  for (const uint32_t n : {8u, 24u, 256u})
    for (int bits = 0; bits < 32; ++bits) {
      const ByteProduct c{
          n, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0};
      const Bytes a = random_bytes(64 * 32, ++seed), b = random_bytes(32 * n, ++seed);
      std::vector<int32_t> before(64 * n);
      std::mt19937 random(seed);
      for (int32_t& v : before)  // near the ends of the range, or anywhere
        v = static_cast<int32_t>(random() % 3 == 0 ? 0x7FFFFF00u + random() % 512 : random());
      Bytes in(14336 + 256 * n), core = in_core_matrices(a);
      std::memcpy(in.data(), core.data(), core.size());
      core = in_core_matrices(b);
      std::memcpy(in.data() + 2048, core.data(), core.size());
      const auto place = [&](uint32_t thread, uint32_t i) {  // of element i of D: row, column
        return std::pair(thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8,
                         i / 4 * 8 + thread % 4 * 2 + i % 2);
      };
      for (uint32_t thread = 0; thread < 128; ++thread) {
        for (uint32_t r = 0; r < 4; ++r)
          std::memcpy(
              in.data() + 12288 + 16 * thread + 4 * r,
              a.data() + 32 * (thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8) + thread % 4 * 4 + r / 2 * 16,
              4);
        for (uint32_t i = 0; i < n / 2; ++i) {
          const auto [row, column] = place(thread, i);
          std::memcpy(in.data() + 14336 + 2 * n * thread + 4 * i, &before[row * n + column], 4);
        }
      }
      const Bytes out = run(product_kernel(c), in, 256 * n, 128).out;
      size_t wrong = 0;
      for (uint32_t thread = 0; thread < 128; ++thread)
        for (uint32_t i = 0; i < n / 2; ++i) {
          const auto [row, column] = place(thread, i);
          int64_t sum = c.accumulate ? before[row * n + column] : 0;
          for (size_t k = 0; k < 32; ++k)
            sum += value(a[row * 32 + k], c.a_signed) * value(b[column * 32 + k], c.b_signed);
          if (c.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
          int32_t got;
          std::memcpy(&got, out.data() + 2 * n * thread + 4 * i, 4);
          wrong += got != static_cast<int32_t>(static_cast<uint32_t>(sum)) ? 1 : 0;
        }
      EXPECT_EQ(wrong, 0u) << "n = " << n << ", case " << bits;
    }
}

// cooperative_groups' grid.sync() aborts where the address is zero, and counts in the workspace's second
// word.
TEST(GeneratedForms, ACooperativeGridHasAWorkspace) {
  const std::string body =
      "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\nmov.b64 %a2, {%r2, %r1};\natom.global.add.u32 %r3, "
      "[%a2+4], 1;\n"
      "mul.wide.u32 %a3, %r3, 4;\nadd.u64 %a3, %a3, %a1;\nst.global.u32 [%a3], %r0;\n";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {2, 1, 1};
  l.shape.grid = {3, 1, 1};
  l.shape.cooperative = true;
  l.add_buffer({"in", Bytes(4), true, false, true});
  l.add_buffer({"out", {}, false, false, true, 24});
  const test::Module module = test::module_of(kernel(body).text());
  test::run_ptx(module, l);  // every word of `out` was written: the counts are 0 to 5
  l.shape.cooperative = false;
  EXPECT_THROW(test::run_ptx(module, l), machine::Fault);
}

}  // namespace
}  // namespace bitwell::isa
