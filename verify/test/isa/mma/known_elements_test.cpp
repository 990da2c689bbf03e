// ldmatrix and stmatrix element by element: where each comes to, and that one which was never written is
// unknown there, and nowhere else (PTX ISA 9.0, 9.7.15.5.15 and 16).
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

constexpr const char* kBegin =
    ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout) {\n"
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %q<8>;\n"
    ".shared .align 128 .b8 tile[1024]; .shared .align 16 .b8 nothing[16];\n"
    "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile;\n"
    // A row of 16 bytes of the lane's own, in an order that is none: row i at 16 * (i * 5 % 32).
    "mul.lo.u32 %r2, %r0, 5; and.b32 %r2, %r2, 31; shl.b32 %r2, %r2, 4; add.u32 %r2, %r1, %r2;\n";

// The threads that are told, one by one, that what they store was never written; `skip` is given them in
// `in`.
template <class Run>
std::vector<uint32_t> unknown_threads(Run run) {
  std::vector<uint32_t> out;
  for (int tries = 0; tries < 34; ++tries) {
    const std::string said = run(out);
    if (said.empty()) return out;
    const size_t at = said.find("thread (");
    if (at == std::string::npos ||
        said.find("never written") + said.find("ever written") == 2 * std::string::npos) {
      ADD_FAILURE() << said;
      return out;
    }
    out.push_back(static_cast<uint32_t>(std::stoi(said.substr(at + 8))));
  }
  ADD_FAILURE() << "no end: " << run(out);
  return out;
}

std::string simulated(const test::Module& module, const std::vector<uint32_t>& skip,
                      std::vector<std::byte>& out) {
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  std::vector<std::byte> in(128);
  for (const uint32_t t : skip) in[4 * t] = std::byte{1};
  l.add_buffer({"in", in, true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(out.size()), true, false, true});
  try {
    test::run_ptx(module, l);
  } catch (const machine::Fault& f) {
    return f.what();
  }
  out = l.buffers[1].bytes;
  return "";
}

TEST(KnownElements, OfLdmatrix) {
  std::mt19937 random(1);
  for (const int count : {1, 2, 4})
    for (const bool transposed : {false, true})
      for (int draw = 0; draw < 5; ++draw) {
        // Element e of row r of matrix m is never written; none of the first draw.
        const int m = static_cast<int>(random()) & (count - 1), r = static_cast<int>(random() % 8),
                  e = static_cast<int>(random() % 8);
        std::string registers;
        for (int i = 0; i < count; ++i) registers += (i == 0 ? "%r1" : ", %r1") + std::to_string(i);
        std::string text = kBegin;
        for (int i = 0; i < 8; ++i) {
          text +=
              "shl.b32 %r3, %r0, 3; add.u32 %r3, %r3, " + std::to_string(i + 1) + "; cvt.u16.u32 %h0, %r3; ";
          if (i == e && draw != 0) text += "setp.ne.u32 %p0, %r0, " + std::to_string(8 * m + r) + "; @%p0 ";
          text += "st.shared.b16 [%r2+" + std::to_string(2 * i) + "], %h0;\n";
        }
        text += "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                (transposed ? ".trans" : "") + ".shared.b16 {" + registers +
                "}, [%r2];\nmul.wide.u32 %q2, %r0, 4; add.u64 %q3, %q0, %q2; add.u64 %q1, %q1, %q2; "
                "ld.global.u32 %r4, [%q3]; setp.ne.u32 %p1, %r4, 0;\n";
        for (int kept = 0; kept < count; ++kept) {
          const test::Module module = test::module_of(text + "selp.b32 %r5, 0, %r1" + std::to_string(kept) +
                                                      ", %p1; st.global.u32 [%q1], %r5;\nret;\n}\n");
          std::vector<std::byte> out(128);
          const std::vector<uint32_t> threads =
              unknown_threads([&](const auto& skip) { return simulated(module, skip, out); });
          std::vector<uint32_t> expected;
          if (draw != 0 && kept == m)
            expected.push_back(static_cast<uint32_t>(transposed ? 4 * e + r / 2 : 4 * r + e / 2));
          EXPECT_EQ(threads, expected) << count << transposed << ", " << m << r << e << ", register " << kept;
          for (int lane = 0; lane < 32; ++lane)
            for (int half = 0; half < 2; ++half) {
              if (!expected.empty() && expected[0] == static_cast<uint32_t>(lane)) continue;
              uint16_t value = 0;
              std::memcpy(&value, out.data() + 4 * lane + 2 * half, 2);
              const int row = transposed ? 2 * (lane % 4) + half : lane / 4;
              const int column = transposed ? lane / 4 : 2 * (lane % 4) + half;
              EXPECT_EQ(value, 8 * (8 * kept + row) + column + 1) << lane;
            }
        }
      }
}

TEST(KnownElements, OfStmatrix) {
  std::mt19937 random(2);
  for (const int count : {1, 2, 4})
    for (const bool transposed : {false, true})
      for (int draw = 0; draw < 5; ++draw) {
        // A lane's register is unknown, or its lower or upper half.
        const int m = static_cast<int>(random()) & (count - 1), lane = static_cast<int>(random() % 32);
        const int which = static_cast<int>(random() % 3);
        std::string text = kBegin, registers;
        for (int i = 0; i < count; ++i) {
          const std::string name = "%r1" + std::to_string(i);
          registers += (i == 0 ? "" : ", ") + name;
          // The halves: 64 * i + 2 * lane + 1, and one more.
          text += "shl.b32 %r3, %r0, 1; add.u32 %r3, %r3, " + std::to_string(64 * i + 1) +
                  "; add.u32 %r4, %r3, 1; shl.b32 %r4, %r4, 16; or.b32 " + name + ", %r3, %r4;\n";
          if (i == m && draw != 0)
            text += "setp.eq.u32 %p0, %r0, " + std::to_string(lane) +
                    "; ld.shared.u32 %r5, [nothing]; and.b32 %r5, %r5, " +
                    (which == 0   ? "0xFFFFFFFF"
                     : which == 1 ? "0xFFFF"
                                  : "0xFFFF0000") +
                    "; @%p0 or.b32 " + name + ", " + name + ", %r5;\n";
        }
        text += "stmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") +
                ".shared.b16 [%r2], {" + registers +
                "};\nbar.warp.sync -1;\nmul.wide.u32 %q2, %r0, 4; add.u64 %q3, %q0, %q2; "
                "mul.wide.u32 %q2, %r0, 16; add.u64 %q1, %q1, %q2; ld.global.u32 %r4, [%q3]; setp.ne.u32 "
                "%p1, %r4, 0;\n"
                "setp.ge.u32 %p2, %r0, " +
                std::to_string(8 * count) + "; @%p2 bra E;\n";
        for (int e = 0; e < 8; ++e) {
          const test::Module module =
              test::module_of(text + "ld.shared.u16 %h1, [%r2+" + std::to_string(2 * e) +
                              "]; cvt.u32.u16 %r6, %h1; selp.b32 %r6, 0, %r6, %p1; st.global.u32 "
                              "[%q1], %r6;\nE: ret;\n}\n");
          std::vector<std::byte> out(512);
          const std::vector<uint32_t> threads =
              unknown_threads([&](const auto& skip) { return simulated(module, skip, out); });
          std::vector<uint32_t> expected;
          for (int row = 0; row < 8 * count; ++row) {
            const int r = row % 8, from = transposed ? 4 * e + r / 2 : 4 * r + e / 2,
                      half = transposed ? r % 2 : e % 2;
            if (draw != 0 && row / 8 == m && from == lane && which != 2 - half) {
              expected.push_back(static_cast<uint32_t>(row));
              continue;
            }
            uint32_t value = 0;
            std::memcpy(&value, out.data() + 16 * row, 4);
            EXPECT_EQ(value, static_cast<uint32_t>(64 * (row / 8) + 2 * from + 1 + half));
          }
          EXPECT_EQ(threads, expected)
              << count << transposed << ", " << m << lane << which << ", element " << e;
        }
      }
}

TEST(KnownElements, OfMovmatrix) {
  for (int lane = 0; lane < 32; ++lane)
    for (int half = 0; half < 2; ++half) {
      // Element 2 * (lane % 4) + half of row lane / 4 is never written; it comes to the place across.
      const int row = 2 * (lane % 4) + half, column = lane / 4, to = 4 * row + column / 2;
      const test::Module module = test::module_of(
          std::string(kBegin) + "setp.eq.u32 %p0, %r0, " + std::to_string(lane) +
          "; ld.shared.u32 %r5, [nothing]; and.b32 %r5, %r5, " + (half == 0 ? "0xFFFF" : "0xFFFF0000") +
          "; mov.u32 %r4, %r0; @%p0 or.b32 %r4, %r4, %r5;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r6, %r4;\n"
          "mul.wide.u32 %q2, %r0, 4; add.u64 %q3, %q0, %q2; add.u64 %q1, %q1, %q2; ld.global.u32 %r4, [%q3]; "
          "setp.ne.u32 %p1, %r4, 0;\nshr.u32 %r7, %r6, " +
          std::to_string(16 * (column % 2)) +
          "; and.b32 %r7, %r7, 65535; selp.b32 %r6, 0, %r7, %p1; st.global.u32 [%q1], %r6;\nret;\n}\n");
      std::vector<std::byte> out(128);
      std::string first;
      const std::vector<uint32_t> threads = unknown_threads([&](const auto& skip) {
        const std::string said = simulated(module, skip, out);
        if (skip.empty()) first = said;
        return said;
      });
      EXPECT_EQ(threads, std::vector{static_cast<uint32_t>(to)}) << lane << ", " << half;
      EXPECT_NE(first.find("loaded from 'nothing'"), std::string::npos) << first;
    }
}

}  // namespace
}  // namespace bitwell::isa
