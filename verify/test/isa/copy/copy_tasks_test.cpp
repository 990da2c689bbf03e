// What a copy says of itself to whoever gives it a time: its bytes, the sectors of 32 bytes of global memory
// that it reaches, the lines of 128 in which it is fetched, where it begins and which CTAs get it.
#include <gtest/gtest.h>

#include <map>

#include "../../kernel.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "model/run/cluster.h"
#include "model/run/turns/chooser.h"

namespace bitwell::isa {
namespace {

using machine::Task;

constexpr size_t kIn = 8192, kOut = 8192;
constexpr uint64_t kInAt = machine::kBuffers;  // where the first buffer stands

// Operations go before warps, or behind them (`late`); of each is kept what it says when it is first asked,
// and what behind a turn of its own.
class Tasks final : public run::ByTime, public run::Timekeeper {
 public:
  explicit Tasks(bool late) : late_(late) {}
  std::vector<Task> first, later;
  uint64_t moved = 0;  // bytes, in all turns of operations
  run::Timekeeper& begins(const run::Grid&) override { return *this; }
  uint64_t residents() const override { return 1; }
  void starts(const run::Cluster&) override {}
  void ends(const run::Cluster&) override {}
  void looks_at(const run::Cluster&) override {}
  run::Instant ready(const run::Taker& taker, const machine::Agent* operation) override {
    if (operation == nullptr) return 2;
    if (!turns_.contains(taker.operation)) {
      turns_[taker.operation] = 0;
      first.push_back(operation->task());
    } else if (turns_[taker.operation] != 0) {
      later.push_back(operation->task());
    }
    return late_ ? 3 : 1;
  }
  run::Past has_turn(const run::Taker& taker, run::Instant&) override {
    if (taker.operation != 0) ++turns_[taker.operation];
    return run::Past::part;
  }
  void took(const run::Took& took) override { moved += took.work.bytes; }
  run::Reaches* reaches() override { return nullptr; }
  bool computed(int, uint32_t, uint32_t) override { return true; }
  run::Instant again(const run::Taker&, const machine::Agent*) override { return 2; }
  bool enough() const override { return false; }

 private:
  bool late_;
  std::map<uint64_t, int> turns_;
};

struct Asked {
  std::string body;
  uint32_t ctas = 1;
  std::optional<machine::TensorMap> map{};
  bool late = false;
  const char* end = "held";
  const char* target = "sm_90a";
};

machine::TensorMap rows_of(uint32_t columns, uint32_t rows, uint64_t stride) {
  machine::TensorMap m;
  m.type = machine::TensorType::u8;
  m.rank = 2;
  m.dims = {stride, 16, 1, 1, 1};
  m.strides = {0, stride, 0, 0, 0};
  m.box = {columns, rows, 1, 1, 1};
  return m;
}

// %r0: the lane; %r1: `tile`, all of which is written; %r2: `bar`, of one arrival; %r3: 0; %r4: the CTA's
// rank; %d0: `in`; %d1: `out`; %d2 and %d3: the map of either; %p0: lane 0; %p1: it of rank 0.
Tasks tasks(const Asked& c) {
  test::Kernel k{
      .target = c.target,
      .parameters =
          ".param .u64 pin, .param .u64 pout, .param .align 128 .b8 m0[128], .param .align 128 .b8 m1[128]",
      .registers = ".reg .pred %p<6>; .reg .b16 %h<6>; .reg .b32 %r<20>; .reg .b64 %d<10>;",
      .shared =
          ".shared .align 1024 .b8 tile[4096]; .shared .align 16 .b64 bar; .shared .align 16 .b64 other;",
      .start =
          "ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; mov.b64 %d2, m0; cvta.param.u64 %d2, %d2;\n"
          "mov.b64 %d3, m1; cvta.param.u64 %d3, %d3; mov.u32 %r0, %tid.x; mov.u32 %r1, tile;\n"
          "mov.u32 %r2, bar; setp.eq.u32 %p0, %r0, 0; mov.u32 %r3, 0; mov.u32 %r4, %cluster_ctarank;\n"
          "setp.eq.and.u32 %p1, %r4, 0, %p0; mad.lo.u32 %r9, %r0, 16, %r1;\n"
          "F: st.shared.v4.u32 [%r9], {%r3, %r3, %r3, %r3}; add.u32 %r9, %r9, 512;\n"
          "add.u32 %r10, %r1, 4096; setp.lt.u32 %p2, %r9, %r10; @%p2 bra F;\n"
          "@%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 mbarrier.init.shared.b64 [other], 1;\n"
          "fence.proxy.async; @%p0 fence.mbarrier_init.release.cluster;\n"
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
      .body = c.body,
      .finish = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
      .shape = {.grid = {c.ctas, 1, 1}, .block = {32, 1, 1}, .cluster = {c.ctas, 1, 1}},
      .buffers = {test::input(std::vector<std::byte>(kIn)), test::output(kOut)},
      .all_written = false};
  Tasks seen(c.late);
  k.options.chooser = &seen;
  launch::Launch l = k.launch();
  const machine::TensorMap map = c.map.value_or(rows_of(16, 1, 64));
  l.add_tensor_map(0, map);
  l.add_tensor_map(1, map);
  const std::string end = k.run(std::move(l)).end();
  EXPECT_NE(end.find(c.end), std::string::npos) << c.body << end;
  return seen;
}

uint64_t sectors(uint64_t at, uint64_t bytes) { return bytes == 0 ? 0 : (at + bytes - 1) / 32 - at / 32 + 1; }

std::string expect(uint64_t bytes) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) +
         ";\nbar.warp.sync -1;\n";
}
std::string wait(int parity = 0) {
  const std::string p = std::to_string(parity);
  return "bar.warp.sync -1;\nW" + p + ": mbarrier.try_wait.parity.shared.b64 %p4, [bar], " + p +
         "; @!%p4 bra W" + p + ";\n";
}
const std::string kLoad = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
const std::string kStore = "cp.async.bulk.global.shared::cta.bulk_group ";
const std::string kStored = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";

TEST(CopyTasks, ARunOfBytes) {
  for (const uint64_t bytes : {16u, 32u, 48u, 128u, 144u, 512u, 528u, 1040u, 1552u})
    for (const uint64_t offset : {0u, 16u, 32u, 112u})
      for (const bool loads : {true, false}) {
        const std::string size = std::to_string(bytes), at = std::to_string(offset);
        const Tasks seen =
            tasks({loads ? expect(bytes) + "@%p0 " + kLoad + "[tile], [%d0+" + at + "], " + size +
                               ", [bar];\n" + wait()
                         : "@%p0 " + kStore + "[%d1+" + at + "], [tile], " + size + ";\n" + kStored});
        ASSERT_EQ(seen.first.size(), 1u);
        const Task& t = seen.first[0];
        EXPECT_EQ(t.kind, loads ? Task::Kind::load : Task::Kind::store);
        EXPECT_EQ(t.bytes, bytes);
        EXPECT_EQ(t.sectors, sectors(offset, bytes)) << bytes << " at " << offset;
        EXPECT_EQ(t.lines, (bytes + 127) / 128) << bytes << " at " << offset;
        EXPECT_FALSE(t.tensor_map);
        EXPECT_EQ(t.ranks, loads ? 1u : 0u);
        EXPECT_EQ(t.global % 4096, (loads ? kInAt : kInAt + kIn) % 4096 + offset);
      }
}

TEST(CopyTasks, ThoseOfOtherCtas) {
  // From one CTA's shared memory to the other's: nothing of it is in global memory.
  const Tasks across = tasks(
      {"mapa.shared::cluster.u32 %r9, %r1, 1; mapa.shared::cluster.u32 %r10, %r2, 1; setp.eq.u32 %p3, %r4, "
       "1;\n"
       "@%p3 bra E;\n@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r9+512], "
       "[tile], 256, [%r10];\nbra Z;\nE: " +
           expect(256) + wait() + "Z: bar.warp.sync -1;\n",
       2});
  ASSERT_EQ(across.first.size(), 1u);
  EXPECT_EQ(across.first[0].kind, Task::Kind::load);
  EXPECT_EQ(across.first[0].bytes, 256u);
  EXPECT_EQ(across.first[0].sectors, 0u);
  EXPECT_EQ(across.first[0].global, 0u);
  EXPECT_EQ(across.first[0].lines, 2u);
  EXPECT_EQ(across.first[0].ranks, 2u);
  // To several at once.
  for (const uint32_t mask : {1u, 2u, 5u, 6u, 15u}) {
    const std::string m = std::to_string(mask);
    const Tasks seen = tasks(
        {"mov.u16 %h1, " + m + "; mov.u32 %r9, " + m +
             "; shr.b32 %r9, %r9, %r4; and.b32 %r9, %r9, 1;\n"
             "setp.eq.u32 %p3, %r9, 1; setp.eq.and.u32 %p5, %r9, 1, %p0;\n"
             "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64; bar.warp.sync -1;\n"
             "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
             "[tile], [%d0], 64, [bar], %h1;\n@!%p3 bra E;\n" +
             wait() + "E: bar.warp.sync -1;\n",
         4});
    ASSERT_EQ(seen.first.size(), 1u);
    EXPECT_EQ(seen.first[0].ranks, mask);
    EXPECT_EQ(seen.first[0].bytes, 64u);
    EXPECT_EQ(seen.first[0].sectors, 2u);
  }
}

// Of a box each row has lines and sectors of its own; what is outside the tensor comes from nowhere.
TEST(CopyTasks, ABoxOfATensor) {
  struct Box {
    uint32_t columns, rows;
    int x, y;
    uint64_t stride = 256, width = 256;
  };
  for (const Box& b : {Box{16, 1, 0, 0}, Box{48, 4, 16, 2}, Box{144, 3, 0, 0}, Box{32, 4, 0, 14},
                       Box{16, 8, 16, 0}, Box{16, 8, 0, 0, 16}, Box{48, 2, 240, 0}, Box{64, 4, 0, -2},
                       Box{48, 3, 0, 0, 256, 33}, Box{48, 3, 0, 0, 256, 1}}) {
    for (const bool loads : {true, false}) {
      if (!loads && (b.y < 0 || b.width % 16 != 0))
        continue;  // a device stops there, or stores in whole units
      const uint64_t width = std::min(b.width, b.stride);
      const std::string at = "{" + std::to_string(b.x) + ", " + std::to_string(b.y) + "}";
      const uint64_t bytes = uint64_t{b.columns} * b.rows;
      machine::TensorMap map = rows_of(b.columns, b.rows, b.stride);
      map.dims[0] = width;
      const Tasks seen = tasks(
          {loads ? expect(bytes) +
                       "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[tile], [%d2, " +
                       at + "], [bar];\n" + wait()
                 : "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d3, " + at + "], [tile];\n" +
                       kStored,
           1, map});
      ASSERT_EQ(seen.first.size(), 1u);
      uint64_t want = 0, last = ~uint64_t{0}, inside = 0;
      for (int y = b.y; y < b.y + static_cast<int>(b.rows); ++y) {
        if (y < 0 || y >= 16) continue;
        const uint64_t from = static_cast<uint64_t>(y) * b.stride + static_cast<uint64_t>(b.x);
        const uint64_t length = std::min<uint64_t>(b.columns, width - static_cast<uint64_t>(b.x));
        inside += length;
        for (uint64_t s = from / 32; s <= (from + length - 1) / 32; ++s) {
          want += s != last ? 1 : 0;
          last = s;
        }
      }
      const Task& t = seen.first[0];
      EXPECT_TRUE(t.tensor_map);
      EXPECT_EQ(t.sectors, want) << at << " of " << b.columns << " x " << b.rows;
      EXPECT_EQ(t.bytes, loads ? bytes : inside);
      if (inside == bytes) {
        EXPECT_EQ(t.lines, (b.columns + 127) / 128 * b.rows);
      }
    }
  }
}

// Threads that start the same copy: a load counts for each of them, as an mbarrier counts its bytes, and
// behind the first for those that are left. A store counts once: ptxas makes one of it.
TEST(CopyTasks, ThatOfSeveralThreads) {
  for (const uint32_t lanes : {2u, 3u, 32u})
    for (const bool loads : {true, false}) {
      const uint32_t times = loads ? lanes : 1;
      const std::string those = "setp.lt.u32 %p2, %r0, " + std::to_string(lanes) + ";\n@%p2 ";
      const Tasks seen =
          tasks({loads ? expect(lanes * 144) + those + kLoad + "[tile], [%d0], 144, [bar];\n" + wait()
                       : those + kStore + "[%d1], [tile], 144;\n" + kStored});
      ASSERT_EQ(seen.first.size(), 1u);
      EXPECT_EQ(seen.first[0].bytes, times * 144u);
      EXPECT_EQ(seen.first[0].sectors, times * 5u);
      EXPECT_EQ(seen.first[0].lines, times * 2u);
      EXPECT_EQ(seen.moved, lanes * 144u);
    }
  // The barrier's phase is over with the first one's bytes: two are left.
  const Tasks seen = tasks({expect(144) + "setp.lt.u32 %p2, %r0, 3;\n@%p2 " + kLoad +
                            "[tile], [%d0], 144, [bar];\n" + wait() + expect(288) + wait(1)});
  ASSERT_EQ(seen.first.size(), 1u);
  EXPECT_EQ(seen.first[0].bytes, 432u);
  ASSERT_FALSE(seen.later.empty());
  EXPECT_EQ(seen.later[0].bytes, 288u);
  EXPECT_EQ(seen.later[0].sectors, 10u);
  EXPECT_EQ(seen.later[0].lines, 4u);
}

// A warp's cp.async: lines and sectors by the lanes in their order, `row` of which follow each other.
TEST(CopyTasks, ThoseOfLanes) {
  struct Case {
    int bytes, row;  // of a lane; lanes
    uint64_t lines, sectors;
  };
  for (const Case& c : {Case{4, 32, 1, 4}, Case{8, 32, 2, 8}, Case{16, 32, 4, 16}, Case{16, 8, 4, 16},
                        Case{16, 4, 8, 16}, Case{16, 2, 16, 16}, Case{4, 1, 32, 32}}) {
    const std::string bytes = std::to_string(c.bytes), row = std::to_string(c.row);
    const Tasks seen =
        tasks({"rem.u32 %r5, %r0, " + row + "; div.u32 %r6, %r0, " + row + "; mul.lo.u32 %r5, %r5, " + bytes +
               "; mad.lo.u32 %r5, %r6, 256, %r5; cvt.u64.u32 %d5, %r5; add.u64 %d5, %d5, %d0;\n" +
               "mad.lo.u32 %r6, %r0, " + bytes + ", %r1; cp.async.ca.shared.global [%r6], [%d5], " + bytes +
               "; cp.async.wait_all;"});
    ASSERT_EQ(seen.first.size(), 1u);
    EXPECT_EQ(seen.first[0].kind, Task::Kind::lanes);
    EXPECT_EQ(seen.first[0].bytes, 32u * static_cast<uint64_t>(c.bytes));
    EXPECT_EQ(seen.first[0].lines, c.lines) << bytes << " bytes, rows of " << row;
    EXPECT_EQ(seen.first[0].sectors, c.sectors) << bytes << " bytes, rows of " << row;
  }
}

// One thread waits for its own before the others do: the bytes of each are moved once, whoever waits first.
TEST(CopyTasks, ThoseThatThreadsWaitForOneByOne) {
  for (const char* first :
       {"setp.eq.u32 %p3, %r0, 0;", "setp.lt.u32 %p3, %r0, 2;", "setp.eq.u32 %p3, %r0, 2;"}) {
    Asked asked{"setp.lt.u32 %p2, %r0, 3;\n@%p2 " + kStore + "[%d1], [tile], 144;\n" +
                "cp.async.bulk.commit_group;\n" + std::string(first) +
                "\n@%p3 cp.async.bulk.wait_group 0;\n@!%p3 cp.async.bulk.wait_group 0;\n"};
    asked.late = true;
    const Tasks seen = tasks(asked);
    EXPECT_EQ(seen.moved, 432u) << first;
  }
}

// An mbarrier that comes to stand where a copy is to write, in a CTA of any rank.
TEST(CopyTasks, AnMbarrierIsFoundInEveryCta) {
  for (const char* rank : {"0", "1", "3"}) {
    Asked asked{"setp.eq.and.u32 %p5, %r4, " + std::string(rank) + ", %p0;\n" +
                    "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n@%p5 " + kLoad +
                    "[tile], [%d0], 64, [bar];\n@%p5 mbarrier.init.shared.b64 [tile+16], 1;\n" +
                    "setp.eq.u32 %p3, %r4, " + rank + "; @!%p3 bra E;\n" + wait() + "E:\n",
                4};
    asked.late = true;
    asked.end = "mbarrier";
    tasks(asked);
  }
}

// A store into a copy under way is found in a CTA of any rank, and beside the copy there is none.
TEST(CopyTasks, StoresMeetACopyInEveryCta) {
  for (const char* rank : {"0", "1", "3"})
    for (const int at : {48, 60, 64, 76, 80, 128}) {
      Asked asked{"setp.eq.u32 %p3, %r4, " + std::string(rank) + "; @!%p3 bra E;\n" + expect(16) + "@%p0 " +
                      kLoad + "[tile+64], [%d0], 16, [bar];\n@%p0 st.shared.u32 [tile+" + std::to_string(at) +
                      "], %r3;\n" + wait() + "E:\n",
                  4};
      asked.late = true;
      if (at >= 64 && at < 80) asked.end = "a write to 'tile'";
      tasks(asked);
    }
}

// Without a multicast a copy's barrier is in the CTA of its destination, or with .cta_group::2 in either of
// that one's pair (PTX ISA 9.0, cp.async.bulk.tensor).
TEST(CopyTasks, TheBarrierIsOfTheDestinationsCtaOrPair) {
  for (const bool pair : {false, true})
    for (const uint32_t issuer : {0u, 1u, 2u})
      for (const uint32_t barrier : {0u, 1u, 2u, 3u}) {
        const std::string i = std::to_string(issuer), b = std::to_string(barrier);
        Asked asked{"setp.eq.and.u32 %p3, %r4, " + i + ", %p0; setp.eq.and.u32 %p5, %r4, " + b + ", %p0;\n" +
                        "mapa.shared::cluster.u32 %r10, %r2, " + b + "; mapa.shared::cluster.u32 %r9, %r1, " +
                        i + ";\n" +
                        "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
                        "@%p3 cp.async.bulk.tensor.2d" +
                        (pair ? ".cta_group::2" : "") +
                        ".shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d2, {0, 0}], [%r10];\n"
                        "setp.eq.u32 %p2, %r4, " +
                        b + "; @!%p2 bra E;\n" + wait() + "E:\n",
                    4};
        asked.target = "sm_100a";
        if (barrier != issuer && !(pair && barrier == (issuer ^ 1)))
          asked.end = "the mbarrier of a copy is in another CTA than its destination";
        tasks(asked);
      }
}

// Threads that multicast to others make other copies.
TEST(CopyTasks, MasksThatDifferMakeTwo) {
  for (const bool differ : {false, true}) {
    Asked asked{
        "setp.eq.u32 %p3, %r4, 0; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
            std::string(differ ? "16" : "32") +
            "; barrier.cluster.arrive.aligned; "
            "barrier.cluster.wait.aligned;\nsetp.lt.and.u32 %p2, %r0, 2, %p3; mov.u32 %r9, 1;\n" +
            (differ ? "add.u32 %r9, %r9, %r0;\n" : "mov.u32 %r9, 3;\n") +
            "cvt.u16.u32 %h1, %r9;\n@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
            ".multicast::cluster [tile], [%d0], 16, [bar], %h1;\n" +
            wait(),
        2};
    EXPECT_EQ(tasks(asked).first.size(), differ ? 2u : 1u);
  }
}

// A cache policy says nothing of a copy: threads whose policies differ start the same one.
TEST(CopyTasks, PoliciesMakeNoOther) {
  const std::string two =
      "setp.lt.u32 %p2, %r0, 2; cvt.u64.u32 %d4, %r0; mov.u16 %h1, 1;\nadd.u64 %d4, %d4, "
      "0x123456789ABCDEF0;\n@%p2 ";
  const std::string load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  for (const std::string& body :
       {expect(64) + two + load + ".L2::cache_hint [tile], [%d0], 32, [bar], %d4;\n" + wait(),
        expect(64) + two + load + ".multicast::cluster.L2::cache_hint [tile], [%d0], 32, [bar], %h1, %d4;\n" +
            wait(),
        two + "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d1], [tile], 32, %d4;\n" +
            kStored})
    EXPECT_EQ(tasks({body}).first.size(), 1u) << body;
}

TEST(CopyTasks, AFewBytesOfEachLane) {
  for (const uint32_t lanes : {1u, 7u, 32u})
    for (const uint32_t size : {4u, 8u, 16u})
      for (const uint32_t offset : {0u, 16u}) {
        const std::string s = std::to_string(size);
        const Tasks seen = tasks(
            {"setp.lt.u32 %p2, %r0, " + std::to_string(lanes) + "; mad.lo.u32 %r9, %r0, " + s +
             ", %r1; mul.wide.u32 %d4, %r0, " + s + "; add.u64 %d4, %d4, %d0;\n@%p2 cp.async.ca" +
             ".shared.global [%r9], [%d4+" + std::to_string(offset) + "], " + s + ";\ncp.async.wait_all;\n"});
        ASSERT_EQ(seen.first.size(), 1u);
        EXPECT_EQ(seen.first[0].kind, Task::Kind::lanes);
        EXPECT_EQ(seen.first[0].bytes, lanes * size);
        EXPECT_EQ(seen.first[0].global % 4096, kInAt % 4096 + offset);
      }
  // A store into the other CTA's shared memory comes from registers.
  const Tasks seen = tasks(
      {"mapa.shared::cluster.u32 %r9, %r1, 1; mapa.shared::cluster.u32 %r10, %r2, 1; setp.eq.u32 %p3, %r4, "
       "1;\n"
       "setp.lt.u32 %p2, %r0, 4; mad.lo.u32 %r9, %r0, 8, %r9; @%p3 bra E;\n@%p2 "
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r9], %d0, [%r10];\nbra Z;\nE: " +
           expect(32) + wait() + "Z: bar.warp.sync -1;\n",
       2});
  ASSERT_EQ(seen.first.size(), 1u);
  EXPECT_EQ(seen.first[0].kind, Task::Kind::lanes);
  EXPECT_EQ(seen.first[0].bytes, 32u);
  EXPECT_EQ(seen.first[0].global, 0u);
}

}  // namespace
}  // namespace bitwell::isa
