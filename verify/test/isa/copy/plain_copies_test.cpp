// Copies by a tensor map move lines at once where nobody listens, or who does is content to hear of many at
// once: they leave what pieces leave that are told one by one, and stop in the same words; and the same is
// told. One kernel runs by all three ways.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

#include "../../kernel.h"
#include "model/machine/tensor/tensor_map.h"

namespace bitwell::isa {
namespace {

using machine::TensorSwizzle;
using machine::TensorType;

constexpr uint32_t kRows = 12, kPitch = 256;  // of the tensor; bytes

struct PlainCopy {
  TensorType type;
  TensorSwizzle swizzle;
  uint32_t columns, rows;  // of the box
  uint32_t stride;         // of its rows
};

struct PlainCase {
  PlainCopy copy;
  int x, y;           // where the box stands
  int hole = -1;      // the byte of the tensor, or of the tile, that is not written
  int offset = 0;     // of the tile, from a multiple of 1024
  int mbarrier = -1;  // where another one stands, from the tile on
  bool multicast = false;
};

enum class Heard : uint8_t { nothing, each, pieces };
// Kind, address and bytes.
using Told = std::vector<std::tuple<machine::AccessKind, uint64_t, uint64_t>>;

machine::TensorMap tensor_of(const PlainCopy& c) {
  machine::TensorMap m;
  m.type = c.type;
  m.rank = 2;
  const auto bytes = static_cast<uint32_t>(m.bits()) / 8;
  m.dims = {kPitch / bytes - 16 / bytes, kRows, 1, 1, 1};
  m.strides = {bytes, kPitch, 0, 0, 0};
  m.box = {c.columns, c.rows, 1, 1, 1};
  m.element_strides[1] = c.stride;
  m.swizzle = c.swizzle;
  return m;
}

// Loads a box, shows what the tile holds, which needs bytes that are known, and stores the tile back as a box
// of `out`.
std::string plain_outcome(const PlainCase& of, bool loads, Heard heard, Told& told) {
  const machine::TensorMap map = tensor_of(of.copy);
  const auto tile = static_cast<uint32_t>(map.footprint());
  const std::string place = "{" + std::to_string(of.x) + ", " + std::to_string(of.y) + "}";
  const std::string size = std::to_string(tile), all = std::to_string(map.box_bytes());
  const std::string fill = [&] {  // of the bytes at %q4, %r4 of them, but for the hole
    return "mov.u32 %r1, %r0; cvt.u64.u32 %q5, %r0; add.u64 %q5, %q5, %q4;\nFill: setp.eq.s32 %p2, %r1, " +
           std::to_string(of.hole) +
           "; mul.lo.u32 %r2, %r1, 37; add.u32 %r2, %r2, 11;\n"
           "@!%p2 st.u8 [%q5], %r2; add.u64 %q5, %q5, 32; add.u32 %r1, %r1, 32; setp.lt.u32 %p2, %r1, %r4; "
           "@%p2 bra Fill;\nbar.sync 0; fence.proxy.async;\n";
  }();
  std::string body = "mov.u64 %q4, %q0; mov.u32 %r4, " + std::to_string(kRows * kPitch) + ";\n";
  if (!loads) body = "cvta.shared.u64 %q4, %q6; mov.u32 %r4, " + size + ";\n";
  body += fill;
  if (of.mbarrier >= 0)
    body += "@%p0 mbarrier.init.shared.b64 [%r3+" + std::to_string(of.mbarrier) + "], 1;\n";
  if (loads) {
    const std::string mask = of.multicast ? ", %h0;\n" : ";\n";
    body += "mov.u16 %h0, 3; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + all + ";\n" +
            std::string(of.multicast
                            ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
                              "@%p3 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
                              "bytes.multicast::cluster [%r3], [%q2, "
                            : "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
                              "bytes [%r3], [%q2, ") +
            place + "], [bar]" + mask +
            "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;\n"
            "mov.u32 %r1, %r0; add.u32 %r2, %r3, %r0; cvt.u64.u32 %q5, %r0; add.u64 %q5, %q5, %q1;\n"
            "Show: ld.shared.u8 %r5, [%r2]; setp.eq.u32 %p1, %r5, 256; @%p1 exit;\n"
            "st.global.u8 [%q5], %r5; add.u32 %r2, %r2, 32; add.u64 %q5, %q5, 32;\n"
            "add.u32 %r1, %r1, 32; setp.lt.u32 %p2, %r1, " +
            size + "; @%p2 bra Show;\n";
  } else {
    body += "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q3, " + place +
            "], [%r3];\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  }
  const uint32_t ctas = of.multicast ? 2 : 1;
  test::Kernel kernel{
      .parameters =
          ".param .u64 pin, .param .u64 pout, .param .align 128 .b8 min[128], .param .align 128 .b8 "
          "mout[128]",
      .registers = ".reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<9>; .reg .b64 %q<8>;",
      .shared = ".shared .align 1024 .b8 tile[8192]; .shared .align 8 .b64 bar;",
      .start =
          "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.b64 %q2, min; cvta.param.u64 %q2, %q2;\n"
          "mov.b64 %q3, mout; cvta.param.u64 %q3, %q3; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;\n"
          "mov.u32 %r6, %cluster_ctarank; mul.lo.u32 %r7, %r6, 4096; cvt.u64.u32 %q5, %r7; add.u64 %q1, %q1, "
          "%q5;\nsetp.eq.and.u32 %p3, %r6, 0, %p0;\n"
          "mov.u32 %r3, tile; add.u32 %r3, %r3, " +
          std::to_string(of.offset) +
          "; cvt.u64.u32 %q6, %r3; @%p0 mbarrier.init.shared.b64 [bar], 1;\n"
          "@%p0 fence.mbarrier_init.release.cluster; bar.sync 0;\n",
      .body = body,
      .finish = of.multicast ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : "",
      .shape = {.grid = {ctas, 1, 1}, .block = {32, 1, 1}, .cluster = {ctas, 1, 1}},
      .all_written = false};
  const auto tell = [&](const machine::Event& event) {
    const auto add = [&](const machine::Access& a, size_t piece) {
      if (a.operation != 0) told.emplace_back(a.kind, a.addresses[piece], a.bytes);
    };
    if (const auto* a = std::get_if<machine::Access>(&event.what))
      for (size_t i = 0; i < a->addresses.size(); ++i) add(*a, i);
    if (const auto* turns = std::get_if<machine::ByTurns>(&event.what))
      for (size_t i = 0; i < turns->of.front().addresses.size(); ++i)
        for (const machine::Access& a : turns->of) add(a, i);
  };
  if (heard != Heard::nothing)
    kernel.options.observers = {{.tell = tell, .accesses = true, .pieces = heard == Heard::pieces}};
  launch::Launch l;
  l.entry = "k";
  l.shape = kernel.shape;
  const size_t in = l.add_buffer({"in", std::vector<std::byte>(kRows * kPitch), false, false, true});
  const size_t out = l.add_buffer({"out", std::vector<std::byte>(8192), false, false, true});
  for (launch::Buffer& b : l.buffers) b.partly_written = true;
  l.add_tensor_map(in, map);
  l.add_tensor_map(out, map);
  const test::Left left = kernel.run(l);
  std::string text = left.fault + "|";
  for (const run::Note& note : left.notes) text += note.text + " " + std::to_string(note.times) + "|";
  for (const launch::Buffer& b : left.buffers)
    text.append(reinterpret_cast<const char*>(b.bytes.data()), b.bytes.size());
  return text;
}

const PlainCopy kPlainCopies[] = {
    {TensorType::u8, TensorSwizzle::none, 48, 5, 1},  {TensorType::u8, TensorSwizzle::none, 128, 3, 1},
    {TensorType::u16, TensorSwizzle::b32, 16, 4, 1},  {TensorType::f16, TensorSwizzle::b64, 32, 5, 1},
    {TensorType::f16, TensorSwizzle::b128, 64, 8, 1}, {TensorType::f32, TensorSwizzle::b128, 32, 9, 2},
    {TensorType::f32, TensorSwizzle::b128, 8, 6, 1},  {TensorType::tf32, TensorSwizzle::b128, 32, 4, 1}};

int expect_same(const PlainCase& of) {
  int held = 0;
  for (const bool loads : {true, false}) {
    Told nothing, each, pieces;
    const std::string slow = plain_outcome(of, loads, Heard::each, each);
    const std::string which = std::string(loads ? "load" : "store") + " type " +
                              std::to_string(static_cast<int>(of.copy.type)) + " swizzle " +
                              std::to_string(static_cast<int>(of.copy.swizzle)) + " at " +
                              std::to_string(of.x) + ", " + std::to_string(of.y) + " hole " +
                              std::to_string(of.hole) + " offset " + std::to_string(of.offset);
    for (const std::string& fast : {plain_outcome(of, loads, Heard::nothing, nothing),
                                    plain_outcome(of, loads, Heard::pieces, pieces)}) {
      EXPECT_EQ(fast.substr(0, fast.find('|')), slow.substr(0, slow.find('|')));
      EXPECT_TRUE(fast == slow) << which;
    }
    EXPECT_TRUE(each == pieces) << which;
    held += slow.front() == '|' ? 1 : 0;
  }
  return held;
}

TEST(PlainCopies, BoxesInsideAtTheEdgesAndBeyondThem) {
  for (const PlainCopy& c : kPlainCopies) {
    const int bytes = tensor_of(c).bits() / 8, unit = 16 / bytes, columns = static_cast<int>(c.columns);
    const int last = kPitch / bytes - unit;
    for (const int x : {0, unit, last - columns, last - columns + unit, last, -unit, -columns})
      for (const int y :
           {0, 3, static_cast<int>(kRows) - 1, -1, -static_cast<int>(c.rows), static_cast<int>(kRows)}) {
        const int held = expect_same({c, x, y});
        EXPECT_TRUE(held > 0 || x < 0 || y < 0);
      }
  }
}

TEST(PlainCopies, BytesThatWereNeverWritten) {
  for (const PlainCopy& c : kPlainCopies)
    for (const int hole : {0, 1, 15, 16, 127, static_cast<int>(kPitch) + 3}) expect_same({c, 0, 0, hole});
}

TEST(PlainCopies, TilesThatStandOtherwise) {
  for (const PlainCopy& c : kPlainCopies)
    for (const int offset : {16, 128, 256, 640, 1024}) expect_same({c, 0, 1, -1, offset});
}

TEST(PlainCopies, AnMbarrierInTheTile) {
  for (const PlainCopy& c : kPlainCopies)
    for (const int at : {0, 8, 120, 128, 136}) expect_same({c, 0, 0, -1, 0, at});
}

TEST(PlainCopies, ToTwoCtas) {
  for (const PlainCopy& c : kPlainCopies)
    for (const int hole : {-1, 17}) expect_same({c, 0, 2, hole, 0, -1, true});
}

}  // namespace
}  // namespace bitwell::isa
