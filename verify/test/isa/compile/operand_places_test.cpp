// Three ways to one byte: where the drawn layout says that an operand's element stands in shared memory,
// where TMA puts it, and where an MMA reads it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "../../kernel.h"
#include "model/isa/family/mma/shared_matrix.h"
#include "model/layout/operands.h"
#include "model/number/format.h"

namespace bitwell::isa {
namespace {

using layout::Major;
using layout::SharedSwizzle;
using machine::TensorType;

struct Tile {
  int64_t rows, k;  // M or N, and K
  Major major;
  int bits;  // of an element
  SharedSwizzle swizzle;
  uint32_t offset;  // in shared memory, bytes

  int64_t span() const { return std::max<int64_t>(layout::row_of(swizzle).span, 16); }
  int64_t across() const { return span() * 8 / bits; }  // elements of a row of the swizzle
  int64_t inner() const { return major == Major::k ? k : rows; }
  int64_t outer() const { return major == Major::k ? rows : k; }
  int64_t bytes() const { return rows * k * bits / 8; }
};
std::ostream& operator<<(std::ostream& out, const Tile& t) {
  return out << t.rows << " x " << t.k << " of " << t.bits << " bits, " << (t.major == Major::k ? "K" : "MN")
             << "-major, " << layout::row_of(t.swizzle).name << ", at " << t.offset;
}

TensorType type_of(int bits) {
  return bits == 4    ? TensorType::u4x16_align8b
         : bits == 8  ? TensorType::u8
         : bits == 16 ? TensorType::u16
                      : TensorType::u32;
}

uint32_t element(std::span<const std::byte> bytes, int64_t i, int bits) {
  uint32_t word = 0;
  const int64_t at = i * bits / 8;
  std::memcpy(&word, &bytes[static_cast<size_t>(at)], static_cast<size_t>(std::max(bits / 8, 1)));
  return bits == 4 ? word >> (i % 2 * 4) & 15 : word;
}

// Shared memory after a box of TMA for every `across` elements of the inner dimension, one after the other.
std::vector<std::byte> copied(const Tile& t, const std::vector<std::byte>& tensor) {
  const auto boxes = static_cast<uint32_t>(t.inner() / t.across());
  const auto box_bytes = static_cast<uint32_t>(t.outer() * t.span());
  std::string copies;
  for (uint32_t i = 0; i < boxes; ++i)
    copies += "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile+" +
              std::to_string(t.offset + i * box_bytes) + "], [%q2, {" + std::to_string(i * t.across()) +
              ", 0}], [bar];\n";
  const std::string text = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .align 128 .b8 map[128], .param .u64 tensor) {
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %q<4>;
.shared .align 1024 .b8 tile[)" +
                           std::to_string(t.offset + t.bytes()) +
                           R"(]; .shared .align 8 .b64 bar;
ld.param.u64 %q1, [out]; mov.b64 %q2, map; cvta.param.u64 %q2, %q2;
mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared.b64 [bar], 1;
fence.proxy.async.shared::cta;
bar.sync 0;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], )" +
                           std::to_string(t.bytes()) + ";\n" + copies +
                           R"(W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
@!%p1 bra W;
mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; cvt.u64.u32 %q3, %r2; add.u64 %q1, %q1, %q3; add.u32 %r1, %r1, %r2;
L: setp.ge.u32 %p1, %r2, )" +
                           std::to_string(t.bytes()) + ";\n@%p1 bra E;\nld.shared.b32 %r3, [%r1+" +
                           std::to_string(t.offset) +
                           R"(]; st.global.b32 [%q1], %r3;
add.u32 %r1, %r1, 512; add.u64 %q1, %q1, 512; add.u32 %r2, %r2, 512;
bra L;
E: ret;
}
)";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {128, 1, 1};
  l.add_buffer({"out", std::vector<std::byte>(static_cast<size_t>(t.bytes())), false, false, true});
  machine::TensorMap m;
  m.type = type_of(t.bits);
  m.rank = 2;
  m.dims = {static_cast<uint64_t>(t.inner()), static_cast<uint64_t>(t.outer()), 1, 1, 1};
  m.strides = {0, static_cast<uint64_t>(t.inner() * t.bits / 8), 0, 0, 0};
  m.box = {static_cast<uint32_t>(t.across()), static_cast<uint32_t>(t.outer()), 1, 1, 1};
  m.swizzle = t.swizzle;
  l.add_tensor_map(l.add_hidden_buffer({"tensor", tensor, true, true, false}), m);
  l.add_scalar(uint64_t{0});
  test::run_ptx(text, l);
  return l.buffers[0].bytes;
}

// The descriptor's bits: what the canonical layouts of the manual want for such a tile.
uint64_t descriptor(const Tile& t, machine::DescriptorForm form, int64_t start) {
  const bool plain = t.swizzle == SharedSwizzle::none;
  const int64_t next_box = t.outer() * t.span();
  const int64_t atom = t.swizzle == SharedSwizzle::b128_atom_32b ? 4 * t.span() : 8 * t.span();
  // Without a swizzle, MN-major exchanges what the two offsets mean.
  const int64_t leading = plain && t.major == Major::mn ? atom : next_box;
  const int64_t stride = plain && t.major == Major::mn ? next_box : atom;
  const uint64_t bits = static_cast<uint64_t>(start) >> 4 | static_cast<uint64_t>(leading >> 4) << 16 |
                        static_cast<uint64_t>(stride >> 4) << 32;
  const auto s = static_cast<size_t>(t.swizzle);
  if (form == machine::DescriptorForm::wgmma) {
    constexpr uint64_t codes[] = {0, 3, 2, 1};
    return bits | codes[s] << 62;
  }
  constexpr uint64_t codes[] = {0, 6, 4, 2, 1};
  return bits | uint64_t{1} << 46 | codes[s] << 61;
}

SharedBytes bytes_of(const machine::Region& region) {
  return {region.size(),
          [&region](std::span<const uint32_t> places, std::byte* bytes, uint8_t* defined) {
            for (size_t i = 0; i < places.size(); ++i) {
              std::memcpy(bytes + 16 * i, region.raw_bytes() + places[i], 16);
              if (region.raw_defined() == nullptr)
                std::memset(defined + 16 * i, machine::kWritten, 16);
              else
                std::memcpy(defined + 16 * i, region.raw_defined() + places[i], 16);
            }
          },
          [](uint64_t) { return std::string(); }};
}

// The codes, [row][k], as MMAs read them. A K-major descriptor with a swizzle reaches no further than one row
// of the swizzle: MMAs of 32 bytes of K step their start through it, as CUTLASS does, then to the next box.
std::vector<uint32_t> by_steps(const Tile& t, machine::DescriptorForm form, const machine::Region& shared) {
  const bool steps = t.major == Major::k && t.swizzle != SharedSwizzle::none;
  const int64_t k_step = steps ? 32 * 8 / t.bits : t.k;
  std::vector<uint32_t> out(static_cast<size_t>(t.rows * t.k));
  for (int64_t k = 0; k < t.k; k += k_step) {
    const int64_t box = steps ? k / t.across() : 0;
    const int64_t start = t.offset + box * t.outer() * t.span() + (k - box * t.across()) * t.bits / 8;
    const SharedMatrix m{machine::decode_matrix_descriptor(form, descriptor(t, form, start)),
                         t.major == Major::mn, static_cast<int>(t.bits), static_cast<size_t>(t.rows),
                         static_cast<size_t>(k_step)};
    const std::vector<uint32_t> codes = isa::read_matrix(bytes_of(shared), m);
    for (int64_t r = 0; r < t.rows; ++r)
      std::copy_n(&codes[static_cast<size_t>(r * k_step)], k_step, &out[static_cast<size_t>(r * t.k + k)]);
  }
  return out;
}

TEST(Operand, LayoutTmaAndMmaReachTheSameBytes) {
  size_t tiles = 0;
  const auto law = [&] {
    Tile t{};
    t.major = *rc::gen::element(Major::k, Major::mn);
    t.bits = t.major == Major::k ? *rc::gen::element(4, 8, 16, 32) : *rc::gen::element(8, 16, 32);
    // 32-byte atoms are for 32-bit elements side by side along M or N, and tcgen05 alone has them.
    t.swizzle = t.major == Major::mn && t.bits == 32
                    ? *rc::gen::element(SharedSwizzle::none, SharedSwizzle::b128_atom_32b)
                    : *rc::gen::element(SharedSwizzle::none, SharedSwizzle::b32, SharedSwizzle::b64,
                                        SharedSwizzle::b128);
    const int64_t inner = t.across() * *rc::gen::inRange<int64_t>(1, std::max<int64_t>(2, 512 / t.span()));
    const int64_t outer = 8 * *rc::gen::inRange<int64_t>(1, 17);
    t.rows = t.major == Major::k ? outer : inner;
    t.k = t.major == Major::k ? inner : outer;
    t.offset = *rc::gen::inRange<uint32_t>(0, 4) * 1024;
    // A core matrix has 8 rows; the layout tool counts rows by 8.
    RC_PRE(t.rows % 8 == 0 && t.bytes() <= 40960);
    ++tiles;
    RC_LOG() << t << "\n";
    std::mt19937_64 random(*rc::gen::arbitrary<uint64_t>());
    std::vector<std::byte> tensor(static_cast<size_t>(t.bytes()));
    for (std::byte& b : tensor) b = static_cast<std::byte>(random());
    const std::vector<std::byte> shared = copied(t, tensor);
    const layout::Hardware drawn = layout::operand_tile(t.rows, t.k, t.bits, t.swizzle, t.major);
    RC_ASSERT(drawn.region * drawn.unit_bits / 8 == t.bytes());
    machine::Region region("shared", 0, t.offset + shared.size(), true);
    std::memcpy(region.raw_bytes() + t.offset, shared.data(), shared.size());
    for (const auto form : {machine::DescriptorForm::wgmma, machine::DescriptorForm::tcgen05}) {
      if (form == machine::DescriptorForm::wgmma && t.swizzle == SharedSwizzle::b128_atom_32b) continue;
      const std::vector<uint32_t> read = by_steps(t, form, region);
      for (int64_t r = 0; r < t.rows; ++r)
        for (int64_t k = 0; k < t.k; ++k) {
          const uint32_t given = element(tensor, t.major == Major::k ? r * t.k + k : k * t.rows + r, t.bits);
          const int64_t at = drawn.layout(layout::Tuple(std::vector<layout::Tuple>{r, k}));
          if (element(shared, at, t.bits) != given)
            RC_FAIL("TMA puts another element where the layout has (" + std::to_string(r) + ", " +
                    std::to_string(k) + ")");
          if (read[static_cast<size_t>(r * t.k + k)] != given)
            RC_FAIL("the MMA reads another element as (" + std::to_string(r) + ", " + std::to_string(k) +
                    ")");
        }
    }
  };
  EXPECT_TRUE(rc::check("layout, TMA and MMA agree", law));
  EXPECT_GE(tiles, 100u);
}

// 4- and 6-bit elements of kinds f8f6f4 and mxf8f6f4: 16 of them in 16 bytes, padding behind them, which may
// hold nothing; and E2M1 without padding, low nibble first.
TEST(Operand, ElementsBelowAByteAreUnpacked) {
  std::mt19937_64 random(3);
  struct Kind {
    const number::Format* format;
    Packing packing;
  };
  for (const Kind& kind : {Kind{&number::e2m1, Packing::padded},
                           {&number::e2m3, Packing::padded},
                           {&number::e3m2, Packing::padded},
                           {&number::e2m1, Packing::dense},
                           {&number::e4m3, Packing::padded}}) {
    const auto bits = static_cast<size_t>(kind.format->container);
    const size_t each = kind.packing == Packing::padded ? 16 : 128 / bits;
    const size_t rows = 16;
    const size_t k = 2 * each;
    std::vector<uint32_t> codes(rows * k);
    for (uint32_t& c : codes) c = static_cast<uint32_t>(random()) & ((1u << bits) - 1);
    machine::Region region("shared", 0, rows * k / each * 16, false);
    const machine::MatrixDescriptor d{0, 16 * rows, 128, SharedSwizzle::none, 0};
    for (size_t row = 0; row < rows; ++row)
      for (size_t first = 0; first < k; first += each) {
        // A long binary number, the first element in its low bits.
        const size_t at = row / 8 * 128 + row % 8 * 16 + first / each * 16 * rows;
        for (size_t bit = 0; bit < each * bits; ++bit) {
          const bool set = (codes[row * k + first + bit / bits] >> bit % bits & 1) != 0;
          region.raw_bytes()[at + bit / 8] |= static_cast<std::byte>(static_cast<unsigned>(set) << bit % 8);
        }
        region.mark_defined(at, each * bits / 8);
      }
    SharedMatrix m{d, false, kind.format->container, rows, k, kind.packing, "tcgen05.mma", "A"};
    EXPECT_EQ(isa::read_matrix(bytes_of(region), m), codes) << kind.format->name;
    region.mark_undefined(0, 1);
    try {
      isa::read_matrix(bytes_of(region), m);
      ADD_FAILURE() << "read what was never written";
    } catch (const machine::Fault& f) {
      EXPECT_STREQ(f.what(), "tcgen05.mma reads A at byte 0 of shared memory, which was never written");
    }
  }
  machine::Region region("shared", 0, 4096, true);
  const SharedMatrix six{{0, 16, 128, SharedSwizzle::none, 0}, false, 6, 8, 32};
  EXPECT_THROW(isa::read_matrix(bytes_of(region), six), machine::ModelBug);
}

// Bytes, 32 rows by 8 or 32: what is skipped may hold nothing; 16 rows stand together where rows are
// contiguous.
TEST(Operand, RowsThatAreSkippedAreNotRead) {
  for (const bool mn_major : {false, true}) {
    machine::Region region("shared", 0, 1024, false);
    region.mark_defined(0, 1024);
    const size_t k = mn_major ? 8 : 32;
    // Rows 16 to 31: K-major the third and fourth 8 rows of each 16 bytes of k.
    const machine::MatrixDescriptor d = mn_major
                                            ? machine::MatrixDescriptor{0, 256, 128, SharedSwizzle::none, 0}
                                            : machine::MatrixDescriptor{0, 512, 128, SharedSwizzle::none, 0};
    if (mn_major) {
      region.mark_undefined(128, 128);
    } else {
      region.mark_undefined(256, 256);
      region.mark_undefined(768, 256);
    }
    SharedMatrix m{d, mn_major, 8, 32, k, Packing::dense, "tcgen05.mma", "B"};
    EXPECT_THROW(isa::read_matrix(bytes_of(region), m), machine::Fault);
    m.skipped.assign(32, false);
    std::fill(m.skipped.begin() + 16, m.skipped.end(), true);
    EXPECT_NO_THROW(isa::read_matrix(bytes_of(region), m));
    m.skipped[31] = false;
    EXPECT_THROW(isa::read_matrix(bytes_of(region), m), machine::Fault);
  }
}

}  // namespace
}  // namespace bitwell::isa
