#include "verify/probe/tensor_mma.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <sstream>

namespace bitwell::probe {
namespace {

constexpr uint32_t kB = 16384, kScales = kB + 36 * 1024, kImage = kScales + 512 + 1024;
constexpr uint32_t kATensor = 272, kAWords = 8;  // A's columns in tensor memory

// The banks of lanes that hold the columns of D one after the other: all lanes have all of them, or two times
// 64 lanes half of them (data paths B and E), or four times 32 a quarter (G).
uint32_t banks(const MmaCase& p) { return p.stationary ? 128 / p.m : p.ctas == 2 && p.m == 128 ? 2 : 1; }
uint32_t columns(const MmaCase& p) { return p.n / banks(p); }

struct Cell {
  uint32_t cta, lane, column;
};
Cell cell_of(const MmaCase& p, uint32_t row, uint32_t column) {
  const uint32_t cta = row / p.rows();
  const uint32_t r = row % p.rows();
  if (banks(p) == 1 && p.rows() == 64) return {cta, p.lane + r / 16 * 32 + r % 16, column};  // F
  return {cta, r + column / columns(p) * p.rows(), column % columns(p)};                     // the others
}

bool padded(const MmaCase& p) { return std::string(p.kind->name).find("f8f6f4") != std::string::npos; }

// Where byte `byte` of row r's 32 bytes stands, K-major; as the manual's canonical layouts have it.
uint32_t k_major(const MmaCase& p, uint32_t r, uint32_t byte) {
  const uint32_t span = p.swizzle->span;
  if (p.swizzle->code == 0) return r / 8 * 256 + byte / 16 * 128 + r % 8 * 16 + byte % 16;
  const uint32_t at = r * span + 32 * p.step + byte;
  return at ^ (at >> 7 & (span / 16 - 1)) << 4;
}
// Where byte `byte` of row r at k stands, MN-major: rows one behind the other, so many bytes of them as the
// swizzle spans, 8 or 4 such lines of one k each in an atom.
uint32_t mn_major(const MmaCase& p, uint32_t bytes, uint32_t r, uint32_t k, uint32_t byte) {
  const uint32_t span = p.swizzle->span;
  const uint32_t lines = p.swizzle == &kAtomsOf32 ? 4 : 8;
  const uint32_t along = r * bytes + byte;
  const uint32_t at =
      along / span * (p.kind->k * span) + k / lines * (lines * span) + k % lines * span + along % span;
  if (p.swizzle == &kAtomsOf32) return at ^ (at >> 7 & 3) << 5;
  return p.swizzle->code == 0 ? at : at ^ (at >> 7 & (span / 16 - 1)) << 4;
}

// One K step of an operand, 32 bytes a row.
void place(const MmaCase& p, const MmaType& f, bool transposed, std::span<const uint32_t> codes,
           std::vector<std::byte>& image, size_t base) {
  const uint32_t k = p.kind->k;
  for (uint32_t r = 0; r < codes.size() / k; ++r)
    for (uint32_t i = 0; i < k; ++i) {
      const auto bits = static_cast<uint32_t>(padded(p) ? f.bits : f.container);
      const uint32_t bit = padded(p) ? i / 16 * 128 + i % 16 * bits : i * bits;  // in the row's 32 bytes
      for (uint32_t j = 0; j < bits; ++j) {
        const uint32_t at = transposed ? mn_major(p, bits / 8, r, i, j / 8) : k_major(p, r, (bit + j) / 8);
        const auto one = static_cast<uint8_t>((codes[r * k + i] >> j & 1) << (bit + j) % 8);
        image[base + at] |= std::byte{one};
      }
    }
}

// The shared memory that a CTA is given: its rows of A, its columns of B, scales of its rows of A at kScales,
// of all of B behind them, as tcgen05.cp wants them.
std::vector<std::byte> image_of(const MmaCase& p, uint32_t cta) {
  std::vector<std::byte> image(kImage);
  const uint32_t k = p.kind->k;
  place(p, *p.kind->a, p.transpose_a,
        std::span(p.a).subspan(size_t{cta} * p.rows() * k, size_t{p.rows()} * k), image, 0);
  const size_t share = p.b.size() / p.ctas;
  place(p, *p.kind->b, p.transpose_b, std::span(p.b).subspan(cta * share, share), image, kB);
  for (uint32_t j = 0; j < p.scales(); ++j) {
    for (uint32_t r = 0; r < p.rows(); ++r)
      image[kScales + r % 32 * 16 + r / 32 * 4 + p.scale_id + j] =
          std::byte{p.sa[(cta * p.rows() + r) * p.scales() + j]};
    for (uint32_t c = 0; c < p.n; ++c) {
      // Each half of the columns is for one half of the lanes: 64 rows for .64x128b.warpx2::01_23.
      const uint32_t in_bank = c % columns(p);
      const uint32_t at = banks(p) == 2 ? c / columns(p) * 512 + in_bank % 32 * 16 + in_bank / 32 * 4
                                        : c / 128 * 512 + c % 32 * 16 + c % 128 / 32 * 4;
      image[kScales + 512 + at + p.scale_id + j] = std::byte{p.sb[c * p.scales() + j]};
    }
  }
  return image;
}

uint64_t descriptor(const MmaCase& p, uint32_t base, bool transposed) {
  const bool none = p.swizzle->code == 0;
  if (transposed) {
    const uint64_t atom = (p.swizzle == &kAtomsOf32 ? 4 : 8) * p.swizzle->span;
    const uint64_t next = p.kind->k * p.swizzle->span;  // of the rows
    return base >> 4 | (none ? atom : next) >> 4 << 16 | (none ? next : atom) >> 4 << 32 | uint64_t{1} << 46 |
           uint64_t{p.swizzle->code} << 61;
  }
  const uint64_t start = base + (p.swizzle->code == 0 ? 0 : 32 * p.step);
  const uint64_t leading = p.swizzle->code == 0 ? 128 : 16;
  const uint64_t stride = p.swizzle->code == 0 ? 256 : 8 * p.swizzle->span;
  return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | uint64_t{1} << 46 |
         uint64_t{p.swizzle->code} << 61;
}

uint32_t instruction_descriptor(const MmaCase& p) {
  const MmaKindOf& k = *p.kind;
  const uint32_t out = k.a_code << 7 | k.b_code << 10 | p.n >> 3 << 17 | p.m >> 4 << 24 |
                       (p.saturate ? 1u : 0u) << 3 | (p.negate_a ? 1u : 0u) << 13 |
                       (p.negate_b ? 1u : 0u) << 14 | (p.transpose_a ? 1u : 0u) << 15 |
                       (p.transpose_b ? 1u : 0u) << 16 | p.max_shift << 30;
  if (k.scale == nullptr) return out | k.d_code << 4;
  return out | p.scale_id << 4 | p.scale_id << 29 | (k.scale == &kUe8m0 ? 1u : 0u) << 23;
}

// A row of A as tensor memory holds it: elements from the low bits up, 4 and 6 bits of the kinds with padding
// in bytes, E2M1 in bits 5 to 2 of them.
std::vector<uint32_t> packed(const MmaCase& p, uint32_t row) {
  std::vector<uint32_t> out(kAWords);
  const auto bits = static_cast<uint32_t>(padded(p) ? 8 : p.kind->a->container);
  for (uint32_t i = 0; i < p.kind->k; ++i) {
    uint32_t code = p.a[row * p.kind->k + i];
    if (padded(p) && p.kind->a == &kE2m1) code <<= 2;
    out[i * bits / 32] |= code << i * bits % 32;
  }
  return out;
}

}  // namespace

std::string kernel(const MmaCase& p) {
  std::ostringstream t;
  const bool pair = p.ctas == 2;
  const std::string group = ".cta_group::" + std::to_string(p.ctas);
  const bool scaled = p.kind->scale != nullptr;
  const uint64_t scales = kScales >> 4 | uint64_t{8} << 32 | uint64_t{1} << 46;  // no swizzle, stride 128
  const std::string all =
      pair ? "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" : "bar.sync 0;\n";
  const uint32_t words = columns(p) + kAWords;
  t << ".version 9.0\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 sh[];\n"
       ".visible .entry k(.param .u64 image, .param .u64 c, .param .u64 d)\n{\n"
       ".reg .pred %p<8>;\n.reg .b32 %r<40>;\n.reg .b32 %v<8>;\n.reg .b64 %a<8>;\n.reg .b64 %x<4>;\n"
       ".reg .b16 %h<2>;\n.shared .align 8 .b8 bar[8];\n.shared .align 4 .b32 base;\n"
       "ld.param.u64 %a0, [image];\nld.param.u64 %a1, [c];\nld.param.u64 %a2, [d];\nmov.u32 %r0, %tid.x;\n"
       "mov.u32 %r20, %cluster_ctarank;\nmul.wide.u32 %a3, %r20, "
    << kImage << ";\nadd.u64 %a0, %a0, %a3;\nmul.wide.u32 %a3, %r20, " << 512 * words
    << ";\nadd.u64 %a1, %a1, %a3;\nmul.wide.u32 %a3, %r20, " << 512 * columns(p)
    << ";\nadd.u64 %a2, %a2, %a3;\n"
       "setp.lt.u32 %p0, %r0, 32;\nsetp.eq.u32 %p1, %r0, 0;\nsetp.eq.and.u32 %p6, %r20, "
    << p.issuer
    << ", %p1;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n"
       "@%p0 tcgen05.alloc"
    << group
    << ".sync.aligned.shared::cta.b32 [base], 512;\n"
       "mov.u32 %r1, %r0;\nmov.u32 %r2, sh;\n"
       "copy: mul.wide.u32 %a3, %r1, 16;\nadd.u64 %a4, %a0, %a3;\nld.global.v4.u32 {%v0,%v1,%v2,%v3}, "
       "[%a4];\n"
       "shl.b32 %r3, %r1, 4;\nadd.u32 %r3, %r2, %r3;\nst.shared.v4.u32 [%r3], {%v0,%v1,%v2,%v3};\n"
       "add.u32 %r1, %r1, 128;\nsetp.lt.u32 %p2, %r1, "
    << kImage / 16
    << ";\n@%p2 bra copy;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
       "ld.shared.b32 %r4, [base];\nand.b32 %r5, %r0, 96;\nshl.b32 %r5, %r5, 16;\nadd.u32 %r5, %r4, %r5;\n"
       "mul.wide.u32 %a5, %r0, "
    << 4 * words << ";\nadd.u64 %a1, %a1, %a5;\nmul.wide.u32 %a5, %r0, " << 4 * columns(p)
    << ";\nadd.u64 %a2, %a2, %a5;\nmov.u32 %r7, 0;\n"
    << "more: shl.b32 %r8, %r7, 2;\ncvt.u64.u32 %a6, %r8;\nadd.u64 %a6, %a1, %a6;\n"
       "ld.global.v4.u32 {%v0,%v1,%v2,%v3}, [%a6];\nld.global.v4.u32 {%v4,%v5,%v6,%v7}, [%a6+16];\nadd.u32 "
       "%r9, %r5, %r7;\nsetp.eq.u32 %p2, %r7, "
    << columns(p) << ";\n@%p2 add.u32 %r9, %r5, " << kATensor
    << ";\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r9], {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7};\nadd.u32 %r7, "
       "%r7, 8;\n"
       "setp.lt.u32 %p2, %r7, "
    << (p.a_in_tensor ? words : columns(p))
    << ";\n@%p2 bra more;\ntcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n"
    << all << "@!%p6 bra issued;\ntcgen05.fence::after_thread_sync;\n"
    << "and.b32 %r14, %r2, 0x3FFFF;\ncvt.u64.u32 %x3, %r14;\nshr.u64 %x3, %x3, 4;\n"
    << "add.u64 %x0, %x3, " << descriptor(p, 0, p.transpose_a) << ";\nadd.u64 %x1, %x3, "
    << descriptor(p, kB, p.transpose_b) << ";\n"
    << "mov.u32 %r10, " << instruction_descriptor(p)
    << ";\nadd.u32 %r11, %r4, 256;\nadd.u32 %r12, %r4, 260;\nadd.u32 %r13, %r4, " << (p.lane << 16 | kATensor)
    << ";\nadd.u32 %r4, %r4, " << (p.lane << 16) << ";\nsetp.ne.u32 %p3, %r0, " << (p.accumulate ? 1 : 0)
    << ";\n";
  if (scaled) {
    t << "add.u64 %x2, %x3, " << scales << ";\ntcgen05.cp" << group
      << ".32x128b.warpx4 [%r11], %x2;\nadd.u64 %x2, %x2, 32;\n";
    if (banks(p) == 2) t << "tcgen05.cp" << group << ".64x128b.warpx2::01_23 [%r12], %x2;\n";
    for (uint32_t atom = 0; banks(p) == 1 && atom * 128 < p.n; ++atom)
      t << "tcgen05.cp" << group << ".32x128b.warpx4 [%r12+" << 4 * atom
        << "], %x2;\nadd.u64 %x2, %x2, 32;\n";
  }
  std::string lanes;
  for (size_t i = 0; i < p.keep.size(); ++i) {
    t << "mov.u32 %r" << 24 + i << ", " << p.keep[i] << ";\n";
    lanes += (i == 0 ? "{%r" : ", %r") + std::to_string(24 + i);
  }
  if (!lanes.empty()) lanes += "}, ";
  if (p.mask) t << "mov.b64 %x2, " << *p.mask << ";\n";
  t << "tcgen05.mma" << (p.stationary ? ".ws" : "") << group << ".kind::" << p.kind->name << p.collector
    << " [%r4], " << (p.a_in_tensor ? "[%r13]" : "%x0") << ", %x1, %r10, "
    << (scaled ? "[%r11], [%r12], " : "") << lanes << "%p3"
    << (p.mask           ? ", %x2"
        : p.scale_d >= 0 ? ", " + std::to_string(p.scale_d)
                         : "")
    << ";\n"
    << "mov.u16 %h0, 3;\ntcgen05.commit" << group << ".mbarrier::arrive::one.shared::cluster"
    << (pair ? ".multicast::cluster.b64 [bar], %h0;\n" : ".b64 [bar];\n")
    << "issued:\nwait: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;\n@!%p4 bra wait;\nbar.warp.sync "
       "-1;\n"
       "tcgen05.fence::after_thread_sync;\nmov.u32 %r7, 0;\n"
       "out: shl.b32 %r8, %r7, 2;\ncvt.u64.u32 %a6, %r8;\nadd.u64 %a6, %a2, %a6;\nadd.u32 %r9, %r5, %r7;\n"
       "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}, [%r9];\n"
       "tcgen05.wait::ld.sync.aligned;\nst.global.v4.u32 [%a6], {%v0,%v1,%v2,%v3};\n"
       "st.global.v4.u32 [%a6+16], {%v4,%v5,%v6,%v7};\nadd.u32 %r7, %r7, 8;\nsetp.lt.u32 %p2, %r7, "
    << columns(p) << ";\n@%p2 bra out;\n"
    << all << "ld.shared.b32 %r4, [base];\n@%p0 tcgen05.dealloc" << group
    << ".sync.aligned.b32 %r4, 512;\nret;\n}\n";
  return t.str();
}

launch::Launch launch_of(const MmaCase& p) {
  launch::Launch l;
  l.entry = "k";
  l.shape.grid = {p.ctas, 1, 1};
  l.shape.cluster = {p.ctas, 1, 1};
  l.shape.block = {128, 1, 1};
  l.shape.dynamic_shared = kImage;
  std::vector<std::byte> images;
  for (uint32_t cta = 0; cta < p.ctas; ++cta) {
    const std::vector<std::byte> one = image_of(p, cta);
    images.insert(images.end(), one.begin(), one.end());
  }
  l.add_buffer({"image", images});
  // What no element is for holds NaN.
  const uint32_t words = columns(p) + kAWords;
  std::vector<uint32_t> lanes(size_t{p.ctas} * 128 * words, 0x7FC00000);
  for (uint32_t row = 0; row < p.m; ++row) {
    for (uint32_t column = 0; column < p.n; ++column) {
      const Cell at = cell_of(p, row, column);
      lanes[(at.cta * 128 + at.lane) * words + at.column] = p.c[row * p.n + column];
    }
    if (!p.a_in_tensor) continue;
    const std::vector<uint32_t> its = packed(p, row);
    for (uint32_t bank = 0; bank < banks(p); ++bank) {  // A stands where its rows of D do
      const Cell at = cell_of(p, row, bank * columns(p));
      std::copy(its.begin(), its.end(), lanes.begin() + (at.cta * 128 + at.lane) * words + columns(p));
    }
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(lanes.data());
  l.add_buffer({"c", {bytes, bytes + 4 * lanes.size()}});
  l.add_buffer({"d", std::vector<std::byte>(size_t{4} * p.ctas * 128 * columns(p)), false, false, true});
  return l;
}

std::vector<uint32_t> run(const MmaCase& p, run::Schedule schedule, const std::string& text, bool strict) {
  launch::Launch l = launch_of(p);
  run::Options options;
  options.schedule = schedule;
  options.strict = strict;
  if (strict) options.schedule.kept = machine::Promise::manual;
  l.module = std::make_shared<const isa::Module>(text.empty() ? kernel(p) : text);
  launch::simulate(l, options, true).keep(l);
  std::vector<uint32_t> lanes(l.buffers[2].bytes.size() / 4);
  std::memcpy(lanes.data(), l.buffers[2].bytes.data(), l.buffers[2].bytes.size());
  std::vector<uint32_t> out;
  for (uint32_t row = 0; row < p.m; ++row)
    for (uint32_t column = 0; column < p.n; ++column) {
      const Cell at = cell_of(p, row, column);
      out.push_back(lanes[(at.cta * 128 + at.lane) * columns(p) + at.column]);
    }
  return out;
}

uint32_t expected(const MmaCase& p, uint32_t row, uint32_t column) {
  const auto part = [](const auto& v, uint32_t at, uint32_t count) {
    return std::span(v).subspan(size_t{at} * count, count);
  };
  const MmaKindOf& kind = *p.kind;
  const bool half = kind.d == &kF16;
  const Cell at = cell_of(p, row, column);
  if (!p.keep.empty() && (p.keep[at.cta * 4 + at.lane / 32] >> at.lane % 32 & 1) != 0)
    return p.c[row * p.n + column];
  uint32_t c = p.accumulate ? p.c[row * p.n + column] & (half ? 0xFFFF : ~0u) : 0;
  const auto signs_turned = [](const MmaType& type, std::span<const uint32_t> codes, bool turn) {
    std::vector<uint32_t> out(codes.begin(), codes.end());
    for (uint32_t& x : out) x ^= turn ? 1u << (type.container - 1) : 0;
    return out;
  };
  const auto source = source_column(p, column);
  const std::vector<uint32_t> a = signs_turned(*kind.a, part(p.a, row, kind.k), p.negate_a);
  const std::vector<uint32_t> b =
      source ? signs_turned(*kind.b, part(p.b, *source, kind.k), p.negate_b) : std::vector<uint32_t>(kind.k);
  if (kind.d == &kS32) return oracle::integer_dot(kind.a == &kS8, a, kind.b == &kS8, b, c, p.saturate);
  if (p.scale_d > 0) {  // a normal number that stays one: its exponent is less by so much
    const int fraction = kind.d->fields.fraction_bits;
    const uint32_t top = (1u << kind.d->fields.exponent_bits) - 1;
    const uint32_t exponent = c >> fraction & top;
    if (exponent > static_cast<uint32_t>(p.scale_d) && exponent != top)
      c -= static_cast<uint32_t>(p.scale_d) << fraction;
  }
  const auto sa = part(p.sa, row, p.scales());
  const auto sb = part(p.sb, column, p.scales());
  if (kind.a == &kE2m1 && kind.k == 64) return oracle::scaled_fp4_dot(a, b, c, kind.scale == &kUe8m0, sa, sb);
  int scale = 0;
  if (kind.scale != nullptr) {
    if (sa[0] == 0xFF || sb[0] == 0xFF) return 0x7FFFFFFF;
    scale = sa[0] + sb[0] - 254;
  }
  return oracle::fused_dot({static_cast<int>(kind.k), 25, half ? 2 : 0, half ? -21 : -133}, kind.a->fields, a,
                           kind.b->fields, b, c, scale);
}

// As the manual writes a mask: from its first column on, span after span.
std::optional<uint32_t> source_column(const MmaCase& p, uint32_t column) {
  if (!p.mask) return column;
  const auto byte = [&](int at) { return static_cast<uint32_t>(*p.mask >> at & 0xFF); };
  const uint32_t shift = byte(56) & 63;
  if ((byte(32) >> 7 & 1) != 0) {
    const uint32_t bank = column / columns(p);
    bool zeros = (byte(32) >> bank & 1) != 0;
    const auto span = [&] { return zeros ? byte(40) + 1 : byte(48) + 1; };
    uint32_t left = span() - std::min(byte(static_cast<int>(8 * bank)), span() - 1);
    for (uint32_t c = 0; c < column % columns(p); ++c)
      if (--left == 0) {
        zeros = !zeros;
        left = span();
      }
    if (zeros) return std::nullopt;
  }
  return column + shift;
}

std::string difference(const MmaCase& p, const std::vector<uint32_t>& d) {
  std::ostringstream out;
  const uint32_t step = p.n > 48 ? 7 : 1;  // of so many columns each row has every 7th looked at
  for (uint32_t row = 0; row < p.m; ++row)
    for (uint32_t column = row % step; column < p.n; column += step)
      if (const uint32_t want = expected(p, row, column); d[row * p.n + column] != want) {
        out << p.kind->name << " of " << p.kind->a->name << " and " << p.kind->b->name << ", swizzle "
            << p.swizzle->name << ", M " << p.m << ", N " << p.n << ", cta_group " << p.ctas << " by CTA "
            << p.issuer << ", step " << p.step << ", scale id " << p.scale_id
            << (p.a_in_tensor ? ", A in tensor memory" : "") << (p.stationary ? ", .ws" : "")
            << (p.saturate ? ", saturating" : "") << (p.transpose_a ? ", A transposed" : "")
            << (p.transpose_b ? ", B transposed" : "") << ", mask " << std::hex << p.mask.value_or(0)
            << std::dec << ", D scaled by " << p.scale_d << ", lane " << p.lane << ": row " << row
            << ", column " << column << std::hex << " is " << d[row * p.n + column] << ", not " << want;
        return out.str();
      }
  return "";
}

void fill(MmaCase& p, uint64_t seed) {
  std::mt19937_64 random(seed);
  const MmaKindOf& kind = *p.kind;
  p.accumulate = random() % 4 != 0;
  if (p.swizzle->code != 0) p.step = static_cast<uint32_t>(random() % (p.swizzle->span / 32));
  if (kind.scale != nullptr)
    p.scale_id = static_cast<uint32_t>(p.scales() == 4   ? 0
                                       : p.scales() == 2 ? 2 * (random() % 2)
                                                         : random() % 4);
  const auto codes = [&](const MmaType& f, size_t count) {
    std::vector<uint32_t> out(count);
    for (uint32_t& c : out) {
      c = static_cast<uint32_t>(random() & ((uint64_t{1} << f.container) - 1));
      if (f.bits <= 8 || &f == &kS32) continue;
      const int low = f.container - 1 - f.fields.exponent_bits;  // exponents near one
      if (random() % 64 != 0)
        c = (c & ~(((1u << f.fields.exponent_bits) - 1) << low)) |
            static_cast<uint32_t>(f.fields.bias - 4 + static_cast<int>(random() % 9)) << low;
    }
    return out;
  };
  p.a = codes(*kind.a, size_t{p.m} * kind.k);
  p.b = codes(*kind.b, size_t{p.n + (p.stationary ? 32 : 0)} * kind.k);
  p.c = codes(*kind.d, size_t{p.m} * p.n);
  for (auto* v : {&p.sa, &p.sb}) {
    v->resize(size_t{v == &p.sa ? p.m : p.n} * p.scales());
    for (uint8_t& s : *v)
      s = static_cast<uint8_t>(random() % 64 == 0      ? random()
                               : kind.scale == &kUe8m0 ? 120 + random() % 16
                                                       : random() % 127);
  }
}

MmaCase draw(const MmaKindOf& kind, const MmaSwizzle& swizzle, uint32_t m, uint32_t n, uint64_t seed,
             uint32_t ctas) {
  MmaCase p;
  p.kind = &kind;
  p.swizzle = &swizzle;
  p.m = m;
  p.n = n;
  p.ctas = ctas;
  fill(p, seed);
  return p;
}

}  // namespace bitwell::probe
