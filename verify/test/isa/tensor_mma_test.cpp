// tcgen05.mma from compiled text to tensor memory: every element of A, B, their scales and C reaches its
// place, under every swizzle and shape, with scales by tcgen05.cp; D equals the dot product's definition bit
// for bit. And the words that a B200 gave pass through the instruction.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "model/number/dot.h"
#include "model/number/encode.h"
#include "model/ptx/parse.h"
#include "verify/launch/launch.h"

namespace bitwell::verify {
namespace {

using number::Format;

struct Kind {
  const char* name;  // modifiers behind kind::
  const char* rule;  // of the dot table
  const Format* a;
  const Format* b;
  const Format* d;
  const Format* scale;
  int vector;
  uint32_t k;
  uint32_t a_code, b_code, d_code;  // of the instruction descriptor
};
const Kind kKinds[] = {
    {"f16", "tcgen05", &number::f16, &number::f16, &number::f32, nullptr, 0, 16, 0, 0, 1},
    {"f16", "tcgen05", &number::f16, &number::f16, &number::f16, nullptr, 0, 16, 0, 0, 0},
    {"f16", "tcgen05", &number::bf16, &number::bf16, &number::f32, nullptr, 0, 16, 1, 1, 1},
    {"tf32", "tcgen05", &number::tf32, &number::tf32, &number::f32, nullptr, 0, 8, 2, 2, 1},
    {"f8f6f4", "tcgen05", &number::e4m3, &number::e5m2, &number::f32, nullptr, 0, 32, 0, 1, 1},
    {"f8f6f4", "tcgen05", &number::e2m3, &number::e2m1, &number::f16, nullptr, 0, 32, 3, 5, 0},
    {"f8f6f4", "tcgen05", &number::e3m2, &number::e4m3, &number::f32, nullptr, 0, 32, 4, 0, 1},
    {"mxf8f6f4.block_scale", "mxf8f6f4", &number::e4m3, &number::e2m1, &number::f32, &number::ue8m0, 32, 32,
     0, 5, 0},
    {"mxf4.block_scale", "mxf4", &number::e2m1, &number::e2m1, &number::f32, &number::ue8m0, 32, 64, 1, 1, 0},
    {"mxf4nvf4.block_scale.scale_vec::2X", "mxf4nvf4", &number::e2m1, &number::e2m1, &number::f32,
     &number::ue8m0, 32, 64, 1, 1, 0},
    {"mxf4nvf4.block_scale.scale_vec::4X", "mxf4nvf4", &number::e2m1, &number::e2m1, &number::f32,
     &number::ue4m3, 16, 64, 1, 1, 0},
    {"mxf4nvf4.block_scale.block16", "mxf4nvf4", &number::e2m1, &number::e2m1, &number::f32, &number::ue4m3,
     16, 64, 1, 1, 0},
};

// Bytes between rows that follow each other in a swizzle's atom, and the code in bits 61 to 63.
struct Swizzle {
  const char* name;
  uint32_t span, code;
};
constexpr Swizzle kSwizzles[] = {
    {"none", 16, 0}, {"32 bytes", 32, 6}, {"64 bytes", 64, 4}, {"128 bytes", 128, 2}};

struct Problem {
  const Kind* kind;
  const Swizzle* swizzle;
  uint32_t m, n, step;  // the step-th 32 bytes of a swizzled row
  uint32_t scale_id;
  std::vector<uint32_t> a, b, c;  // codes [row][k], [column][k], [row][column]
  std::vector<uint8_t> sa, sb;    // [row][scale]
  bool accumulate;

  uint32_t scales() const {
    return kind->scale == nullptr ? 0 : kind->k / static_cast<uint32_t>(kind->vector);
  }
};

// One K step of an operand, 32 bytes a row, where the manual's canonical K-major layouts put it.
void place(const Problem& p, const Format& f, const std::vector<uint32_t>& codes, uint32_t rows,
           std::vector<std::byte>& image, size_t base) {
  const bool padded = std::string(p.kind->name).find("f8f6f4") != std::string::npos;
  const uint32_t k = p.kind->k;
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t i = 0; i < k; ++i) {
      const auto bits = static_cast<uint32_t>(padded ? f.bits : f.container);
      const uint32_t bit = padded ? i / 16 * 128 + i % 16 * bits : i * bits;  // in the row's 32 bytes
      for (uint32_t j = 0; j < bits; ++j) {
        const uint32_t byte = (bit + j) / 8;
        uint32_t at;
        if (p.swizzle->code == 0) {
          at = r / 8 * 256 + byte / 16 * 128 + r % 8 * 16 + byte % 16;  // stride 256, leading 128
        } else {
          at = r / 8 * 8 * p.swizzle->span + r % 8 * p.swizzle->span + 32 * p.step + byte;
          at ^= (at >> 7 & (p.swizzle->span / 16 - 1)) << 4;
        }
        const auto one = static_cast<uint8_t>((codes[r * k + i] >> j & 1) << (bit + j) % 8);
        image[base + at] |= std::byte{one};
      }
    }
}

constexpr uint32_t kB = 16384, kScales = kB + 32768, kImage = kScales + 1536;

// The shared memory that the kernel is given. Scales of A at kScales, of B behind them: atoms of 512 bytes.
std::vector<std::byte> image_of(const Problem& p) {
  std::vector<std::byte> image(kImage);
  place(p, *p.kind->a, p.a, p.m, image, 0);
  place(p, *p.kind->b, p.b, p.n, image, kB);
  const auto scales = [&](const std::vector<uint8_t>& from, uint32_t rows, size_t base) {
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t j = 0; j < p.scales(); ++j)
        image[base + r / 128 * 512 + r % 32 * 16 + r % 128 / 32 * 4 + p.scale_id + j] =
            std::byte{from[r * p.scales() + j]};
  };
  scales(p.sa, p.m, kScales);
  scales(p.sb, p.n, kScales + 512);
  return image;
}

uint64_t descriptor(const Problem& p, uint32_t base) {
  const uint64_t start = base + (p.swizzle->code == 0 ? 0 : 32 * p.step);
  const uint64_t leading = p.swizzle->code == 0 ? 128 : 16;
  const uint64_t stride = p.swizzle->code == 0 ? 256 : 8 * p.swizzle->span;
  return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | uint64_t{1} << 46 |
         uint64_t{p.swizzle->code} << 61;
}

uint32_t instruction_descriptor(const Problem& p) {
  const Kind& k = *p.kind;
  uint32_t out = k.a_code << 7 | k.b_code << 10 | p.n >> 3 << 17 | p.m >> 4 << 24;
  if (k.scale == nullptr) return out | k.d_code << 4;
  return out | p.scale_id << 4 | p.scale_id << 29 | (k.scale == &number::ue8m0 ? 1u : 0u) << 23;
}

// 128 threads: the image into shared memory, C into tensor memory, scales by tcgen05.cp, one MMA by one
// thread, D out. Columns: D from 0 on, scales of A at 256, of B at 260.
std::string kernel(const Problem& p) {
  std::ostringstream t;
  const bool scaled = p.kind->scale != nullptr;
  const uint64_t scales = kScales >> 4 | uint64_t{8} << 32 | uint64_t{1} << 46;  // no swizzle, stride 128
  t << ".version 9.0\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 sh[];\n"
       ".visible .entry k(.param .u64 image, .param .u64 c, .param .u64 d)\n{\n"
       ".reg .pred %p<8>;\n.reg .b32 %r<40>;\n.reg .b32 %v<8>;\n.reg .b64 %a<8>;\n.reg .b64 %x<4>;\n"
       ".shared .align 8 .b8 bar[8];\n.shared .align 4 .b32 base;\n"
       "ld.param.u64 %a0, [image];\nld.param.u64 %a1, [c];\nld.param.u64 %a2, [d];\nmov.u32 %r0, %tid.x;\n"
       "setp.lt.u32 %p0, %r0, 32;\nsetp.eq.u32 %p1, %r0, 0;\n"
       "@%p1 mbarrier.init.shared.b64 [bar], 1;\n"
       "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 512;\n"
       "mov.u32 %r1, %r0;\nmov.u32 %r2, sh;\n"
       "copy: mul.wide.u32 %a3, %r1, 16;\nadd.u64 %a4, %a0, %a3;\nld.global.v4.u32 {%v0,%v1,%v2,%v3}, "
       "[%a4];\n"
       "shl.b32 %r3, %r1, 4;\nadd.u32 %r3, %r2, %r3;\nst.shared.v4.u32 [%r3], {%v0,%v1,%v2,%v3};\n"
       "add.u32 %r1, %r1, 128;\nsetp.lt.u32 %p2, %r1, "
    << kImage / 16
    << ";\n@%p2 bra copy;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
       "ld.shared.b32 %r4, [base];\nand.b32 %r5, %r0, 96;\nshl.b32 %r5, %r5, 16;\nadd.u32 %r5, %r4, %r5;\n"
       "mul.lo.u32 %r6, %r0, "
    << 4 * p.n
    << ";\ncvt.u64.u32 %a5, %r6;\nadd.u64 %a1, %a1, %a5;\nadd.u64 %a2, %a2, %a5;\nmov.u32 %r7, 0;\n"
    << "more: shl.b32 %r8, %r7, 2;\ncvt.u64.u32 %a6, %r8;\nadd.u64 %a6, %a1, %a6;\n"
       "ld.global.v4.u32 {%v0,%v1,%v2,%v3}, [%a6];\nld.global.v4.u32 {%v4,%v5,%v6,%v7}, [%a6+16];\nadd.u32 "
       "%r9, %r5, %r7;\n"
       "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r9], {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7};\nadd.u32 %r7, %r7, "
       "8;\n"
       "setp.lt.u32 %p2, %r7, "
    << p.n
    << ";\n@%p2 bra more;\ntcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
       "@!%p1 bra issued;\ntcgen05.fence::after_thread_sync;\n"
    << "cvt.u64.u32 %x3, %r2;\nshr.u64 %x3, %x3, 4;\n"
    << "add.u64 %x0, %x3, " << descriptor(p, 0) << ";\nadd.u64 %x1, %x3, " << descriptor(p, kB) << ";\n"
    << "mov.u32 %r10, " << instruction_descriptor(p)
    << ";\nadd.u32 %r11, %r4, 256;\nadd.u32 %r12, %r4, 260;\n"
    << "setp.ne.u32 %p3, %r0, " << (p.accumulate ? 1 : 0) << ";\n";
  if (scaled) {
    t << "add.u64 %x2, %x3, " << scales << ";\ntcgen05.cp.cta_group::1.32x128b.warpx4 [%r11], %x2;\n";
    for (uint32_t atom = 0; atom * 128 < p.n; ++atom)
      t << "add.u64 %x2, %x2, 32;\ntcgen05.cp.cta_group::1.32x128b.warpx4 [%r12+" << 4 * atom << "], %x2;\n";
  }
  t << "tcgen05.mma.cta_group::1.kind::" << p.kind->name << " [%r4], %x0, %x1, %r10, "
    << (scaled ? "[%r11], [%r12], " : "") << "%p3;\n"
    << "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
       "issued:\nwait: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;\n@!%p4 bra wait;\nbar.warp.sync "
       "-1;\n"
       "tcgen05.fence::after_thread_sync;\nmov.u32 %r7, 0;\n"
       "out: shl.b32 %r8, %r7, 2;\ncvt.u64.u32 %a6, %r8;\nadd.u64 %a6, %a2, %a6;\nadd.u32 %r9, %r5, %r7;\n"
       "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}, [%r9];\n"
       "tcgen05.wait::ld.sync.aligned;\nst.global.v4.u32 [%a6], {%v0,%v1,%v2,%v3};\n"
       "st.global.v4.u32 [%a6+16], {%v4,%v5,%v6,%v7};\nadd.u32 %r7, %r7, 8;\nsetp.lt.u32 %p2, %r7, "
    << p.n
    << ";\n@%p2 bra out;\nbar.sync 0;\n@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, "
       "512;\nret;\n}\n";
  return t.str();
}

Launch launch_of(const Problem& p) {
  Launch l;
  l.entry = "k";
  l.shape.block = {128, 1, 1};
  l.shape.dynamic_shared = kImage;
  l.add_buffer({"image", image_of(p)});
  // Rows of a tile of 64 stand in the first 16 lanes of every 32.
  std::vector<uint32_t> lanes(128 * p.n, 0x7FC00000);
  for (uint32_t r = 0; r < p.m; ++r) {
    const uint32_t lane = p.m == 128 ? r : r / 16 * 32 + r % 16;
    std::copy_n(p.c.begin() + r * p.n, p.n, lanes.begin() + lane * p.n);
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(lanes.data());
  l.add_buffer({"c", {bytes, bytes + 4 * lanes.size()}});
  l.add_buffer({"d", std::vector<std::byte>(4 * lanes.size()), false, false, true});
  return l;
}

// D's words by row and column; throws as the simulator does.
std::vector<uint32_t> run(const Problem& p, isa::Policy policy = isa::Policy::lazy) {
  Launch l = launch_of(p);
  isa::Options options;
  options.schedule.policy = policy;
  simulate(isa::compile(ptx::parse(kernel(p)), "k"), l, options, true);
  std::vector<uint32_t> lanes(128 * p.n);
  std::memcpy(lanes.data(), l.buffers[2].bytes.data(), l.buffers[2].bytes.size());
  std::vector<uint32_t> out;
  for (uint32_t r = 0; r < p.m; ++r) {
    const uint32_t lane = p.m == 128 ? r : r / 16 * 32 + r % 16;
    out.insert(out.end(), lanes.begin() + lane * p.n, lanes.begin() + (lane + 1) * p.n);
  }
  return out;
}

uint32_t expected(const Problem& p, uint32_t row, uint32_t column) {
  const auto* rule = number::find_dot_rule("blackwell", p.kind->rule, *p.kind->a, *p.kind->b, *p.kind->d,
                                           p.kind->scale, p.kind->vector);
  const auto part = [](const auto& v, uint32_t at, uint32_t count) {
    return std::span(v).subspan(size_t{at} * count, count);
  };
  const uint32_t c = !p.accumulate ? 0 : p.c[row * p.n + column] & (p.kind->d == &number::f16 ? 0xFFFF : ~0u);
  return number::dot(*rule, {p.kind->a, part(p.a, row, p.kind->k), part(p.sa, row, p.scales())},
                     {p.kind->b, part(p.b, column, p.kind->k), part(p.sb, column, p.scales())}, c);
}

// All codes, infinities and NaN seldom so that sums keep something to say.
Problem draw(const Kind& kind, const Swizzle& swizzle, uint32_t m, uint32_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  Problem p{&kind, &swizzle, m, n, 0, 0, {}, {}, {}, {}, {}, random() % 4 != 0};
  if (swizzle.code != 0) p.step = static_cast<uint32_t>(random() % (swizzle.span / 32));
  if (kind.scale != nullptr)
    p.scale_id = p.scales() == 4 ? 0 : p.scales() == 2 ? 2 * (random() % 2) : random() % 4;
  const auto codes = [&](const Format& f, size_t count) {
    std::vector<uint32_t> out(count);
    for (uint32_t& c : out) {
      c = static_cast<uint32_t>(random() & ((uint64_t{1} << f.container) - 1));
      if (f.bits <= 8) continue;
      const int low = f.container - 1 - f.exponent_bits;  // exponents near one
      if (random() % 64 != 0)
        c = (c & ~(((1u << f.exponent_bits) - 1) << low)) |
            static_cast<uint32_t>(f.bias - 4 + static_cast<int>(random() % 9)) << low;
    }
    return out;
  };
  p.a = codes(*kind.a, size_t{m} * kind.k);
  p.b = codes(*kind.b, size_t{n} * kind.k);
  p.c = codes(*kind.d, size_t{m} * n);
  for (auto* v : {&p.sa, &p.sb}) {
    v->resize(size_t{v == &p.sa ? m : n} * p.scales());
    for (uint8_t& s : *v)
      s = static_cast<uint8_t>(random() % 64 == 0             ? random()
                               : kind.scale == &number::ue8m0 ? 120 + random() % 16
                                                              : random() % 127);
  }
  return p;
}

TEST(TensorMma, EveryKindSwizzleAndShapeReachesItsOperands) {
  uint64_t seed = 1;
  for (const Kind& kind : kKinds)
    for (const Swizzle& swizzle : kSwizzles)
      for (const uint32_t m : {64u, 128u}) {
        if (m == 64 && kind.scale != nullptr) continue;
        for (const uint32_t n : {8u, 40u, 256u}) {
          const Problem p = draw(kind, swizzle, m, n, ++seed);
          const std::vector<uint32_t> d = run(p, seed % 2 == 0 ? isa::Policy::lazy : isa::Policy::eager);
          for (uint32_t r = 0; r < m; ++r)
            for (uint32_t c = 0; c < n; c += n == 256 ? 7 : 1)
              ASSERT_EQ(d[r * n + c], expected(p, r, c))
                  << kind.name << ", swizzle " << swizzle.name << ", M " << m << ", N " << n << ", step "
                  << p.step << ", scale id " << p.scale_id << ", row " << r << ", column " << c << ", seed "
                  << seed;
        }
      }
}

// Words that a B200 returned, each alone in a random tile.
TEST(TensorMma, EveryFrozenWordOfAB200) {
  std::ifstream in(BITWELL_B200_WORDS);
  size_t words = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::vector<uint32_t>> f;
    std::string name;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '|');) {
      if (f.empty() && name.empty()) {
        name = part.substr(0, part.find(' '));
        continue;
      }
      std::istringstream hex(part);
      f.emplace_back();
      for (std::string w; hex >> w;) f.back().push_back(static_cast<uint32_t>(std::stoul(w, nullptr, 16)));
    }
    Kind kind{};
    const Format* of = nullptr;
    for (const Format* g : number::formats)
      if (name == g->name) of = g;
    if (name == "bf16")
      for (size_t v : {0, 1})
        for (uint32_t& x : f[v]) x >>= 16;
    if (name == "nvfp4")
      kind = kKinds[10];
    else if (name == "mxf4")
      kind = {"mxf4nvf4.block_scale.block16",
              "mxf4nvf4",
              &number::e2m1,
              &number::e2m1,
              &number::f32,
              &number::ue8m0,
              16,
              64,
              1,
              1,
              0};
    else if (name == "mxf8f6f4-e2m1")
      kind = {"mxf8f6f4.block_scale",
              "mxf8f6f4",
              &number::e2m1,
              &number::e2m1,
              &number::f32,
              &number::ue8m0,
              32,
              32,
              5,
              5,
              0};
    else if (of == &number::tf32)
      kind = kKinds[3];
    else if (of->bits == 16)
      kind = kKinds[of == &number::f16 ? 0 : 2];
    else {
      const uint32_t code = of == &number::e4m3   ? 0
                            : of == &number::e5m2 ? 1
                            : of == &number::e2m3 ? 3
                            : of == &number::e3m2 ? 4
                                                  : 5;
      kind = {"f8f6f4", "tcgen05", of, of, &number::f32, nullptr, 0, 32, code, code, 1};
    }
    if (name == "mxf4" && f[3].size() == 2) kind = kKinds[9];
    Problem p = draw(kind, kSwizzles[3], 128, 16, ++words);
    p.accumulate = true;
    const uint32_t row = words * 37 % 128;
    const uint32_t column = words * 5 % 16;
    ASSERT_EQ(f[0].size(), kind.k) << line;
    std::copy(f[0].begin(), f[0].end(), p.a.begin() + row * kind.k);
    std::copy(f[1].begin(), f[1].end(), p.b.begin() + column * kind.k);
    p.c[row * 16 + column] = f[2][0];
    if (kind.scale != nullptr) {
      ASSERT_EQ(f[3].size(), p.scales()) << line;
      std::copy(f[3].begin(), f[3].end(), p.sa.begin() + row * p.scales());
      std::copy(f[4].begin(), f[4].end(), p.sb.begin() + column * p.scales());
    }
    EXPECT_EQ(run(p)[row * 16 + column], f.back()[0]) << line;
  }
  EXPECT_EQ(words, 23u);
}

// Every active thread that executes an MMA issues one. Published dumps of a B200, of kernels in which 128
// threads do, show D = P0 + 128 * P1 in one build and P0 + 32 * P1 in another: P0 does not add, P1 does, and
// how many of the latter come after the last P0 is left to the warps.
TEST(TensorMma, EveryActiveThreadIssuesOne) {
  Problem p = draw(kKinds[0], kSwizzles[0], 128, 8, 1);
  std::fill(p.a.begin(), p.a.end(), 0x3C00);  // ones
  std::fill(p.b.begin(), p.b.end(), 0x3C00);
  p.accumulate = true;
  std::string text = kernel(p);
  const auto swap = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  swap("@!%p1 bra issued;", "");
  swap("mbarrier.init.shared.b64 [bar], 1;", "mbarrier.init.shared.b64 [bar], 128;");
  swap("setp.ne.u32 %p3, %r0, 1;",
       "setp.eq.u32 %p3, %r0, %r0;\nsetp.ne.u32 %p5, %r0, %r0;\n"
       "tcgen05.mma.cta_group::1.kind::f16 [%r4], %x0, %x1, %r10, %p5;");
  std::set<float> seen;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    isa::Options options;
    options.schedule = {seed == 0 ? isa::Policy::lazy : isa::Policy::random, seed};
    Launch l = launch_of(p);
    simulate(isa::compile(ptx::parse(text), "k"), l, options, true);
    std::vector<float> d(128 * 8);
    std::memcpy(d.data(), l.buffers[2].bytes.data(), l.buffers[2].bytes.size());
    for (const float v : d) ASSERT_EQ(v, d[0]);
    ASSERT_GE(d[0], 16 + 32 * 16) << "seed " << seed;
    ASSERT_LE(d[0], 16 + 128 * 16) << "seed " << seed;
    if (seed == 0) {
      EXPECT_EQ(d[0], 16 + 32 * 16);  // warp after warp
    }
    seen.insert(d[0]);
  }
  EXPECT_GT(seen.size(), 1u);
}

// A commit is for what its own thread has issued: with another's nothing waits for the MMA, and some schedule
// reads D too early.
TEST(TensorMma, ACommitIsForItsOwnThread) {
  const Problem p = draw(kKinds[10], kSwizzles[3], 128, 16, 2);
  std::string text = kernel(p);
  const std::string commit = "tcgen05.commit.cta_group::1";
  const size_t at = text.find(commit);
  ASSERT_NE(at, std::string::npos);
  // Thread 1 commits instead; thread 0 issues.
  text.insert(at, "issued:\nsetp.eq.u32 %p5, %r0, 1;\n@%p5 ");
  text.erase(text.find("issued:\nwait:"), 8);
  const auto early = [&](const std::string& kernel_text, uint64_t seed) {
    Launch l = launch_of(p);
    isa::Options options;
    options.schedule = {isa::Policy::random, seed};
    simulate(isa::compile(ptx::parse(kernel_text), "k"), l, options, true);
    std::vector<uint32_t> d(128 * p.n);
    std::memcpy(d.data(), l.buffers[2].bytes.data(), l.buffers[2].bytes.size());
    return d != run(p);
  };
  bool shown = false;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    EXPECT_FALSE(early(kernel(p), seed)) << "seed " << seed;
    shown = shown || early(text, seed);
  }
  EXPECT_TRUE(shown);
}

}  // namespace
}  // namespace bitwell::verify
