// Kernels that wait in other ways than a warp asleep on one mbarrier: each ends under every schedule; and
// misuse of asynchronous instructions is found and named.
#include <gtest/gtest.h>

#include <cstring>
#include <ostream>

#include "../../kernel.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::isa {
namespace {

struct Setting {
  uint32_t threads = 64;
  uint32_t ctas = 1;  // of the cluster
  uint32_t dynamic_shared = 0;
  std::optional<machine::TensorMap> map{};
  std::vector<std::byte> raw_map{};  // bytes in place of a tensor map
  bool strict = false;
};

// %q0 the buffer 'in' of 4,096 bytes, %q1 'out', %q2 the tensor map's address; %p0 thread 0.
std::string scheduled(const std::string& body, run::Policy policy = run::Policy::lazy,
                      const Setting& setting = {}) {
  test::Kernel k{
      .module = ".extern .shared .align 1024 .b8 dynamic[];",
      .parameters = ".param .u64 pin, .param .u64 pout, .param .align 128 .b8 map[128]",
      .registers = ".reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %q<16>;",
      .shared =
          ".shared .align 1024 .b8 tile[2048];\n"
          ".shared .align 8 .b64 bar; .shared .align 8 .b64 bars[64];",
      .start =
          "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.b64 %q2, map; cvta.param.u64 %q2, %q2;\n"
          "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r15, 0;\n"
          "@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;",
      .body = body,
      .shape = {.grid = {setting.ctas, 1, 1},
                .block = {setting.threads, 1, 1},
                .cluster = {setting.ctas, 1, 1},
                .dynamic_shared = setting.dynamic_shared},
      .buffers = {test::input(std::vector<std::byte>(4096, std::byte{1})), test::output(4096)}};
  k.options.schedule = {policy, 5};
  k.options.step_limit = 1 << 26;
  k.options.strict = setting.strict;
  launch::Launch l = k.launch();
  if (setting.map)
    l.add_tensor_map(0, *setting.map);
  else
    l.arguments.push_back({setting.raw_map.empty() ? std::vector<std::byte>(128) : setting.raw_map, 0});
  const test::Left left = k.run(l);
  std::string notes;
  for (const run::Note& n : left.notes)
    notes += "; note: line " + std::to_string(n.place.ptx_line) + ", " + std::to_string(n.times) +
             " times, " + n.text;
  return left.end() + notes;
}

const std::string kCopy =
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;\n"
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%q0], 1024, [bar];\n";
const std::string kTensorCopy =
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
    "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dynamic], [%q2, "
    "{%r15, "
    "%r15}], [bar];\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n";

struct ScheduleCase {
  const char* name;
  std::string body;
  Setting setting{};
};
void PrintTo(const ScheduleCase& c, std::ostream* out) { *out << c.name; }

class EverySchedule : public testing::TestWithParam<ScheduleCase> {};
TEST_P(EverySchedule, Ends) {
  for (const run::PolicyName& p : run::kPolicies)
    EXPECT_EQ(scheduled(GetParam().body, p.policy, GetParam().setting), "held") << p.name;
}
INSTANTIATE_TEST_SUITE_P(
    Schedule, EverySchedule,
    testing::Values(
        ScheduleCase{"ALoopAroundTestWait",
                     kCopy + "L: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n"},
        ScheduleCase{"ALoopThatCounts",
                     "mov.u32 %r1, 0;\n" + kCopy +
                         "L: add.u32 %r1, %r1, 1; mbarrier.test_wait.parity.shared.b64 %p1, "
                         "[bar], 0;\n@!%p1 bra L;\n"},
        ScheduleCase{
            "AFlagThatFollowsACopy",
            "setp.ge.u32 %p2, %r0, 32;\n@%p2 bra P;\n" + kCopy +
                "L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra "
                "L;\nst.volatile.global.u32 [%q1], 7;\n"
                "bra E;\nP: ld.volatile.global.u32 %r1, [%q1]; setp.ne.u32 %p1, %r1, 7;\n@%p1 bra P;\nE:\n"},
        ScheduleCase{
            "AFlagPolledByAtomics",
            "setp.ge.u32 %p2, %r0, 32;\n@%p2 bra P;\n" + kCopy +
                "L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra "
                "L;\nst.volatile.global.u32 [%q1], 7;\n"
                "bra E;\nP: atom.global.or.b32 %r1, [%q1], 0; setp.ne.u32 %p1, %r1, 7;\n@%p1 bra P;\nE:\n"},
        ScheduleCase{
            "ABarrierForEachLane",
            "mov.u32 %r1, bars; shl.b32 %r2, %r0, 3; add.u32 %r1, %r1, %r2; mbarrier.init.shared.b64 [%r1], "
            "1;\n"
            "shl.b32 %r3, %r0, 4; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4;\n"
            "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%q0], 16, [%r1];\n"
            "L: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n@!%p1 bra L;\n"},
        ScheduleCase{"AnAlignedClusterBarrierInAPartialWarp",
                     kCopy +
                         "@!%p0 bra J;\nL: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n"
                         "J: barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
                     {16}},
        ScheduleCase{
            "BytesBeforeTheirExpectation",  // expect_tx ends phase 0, and the arrival counts for phase 1
            "setp.ge.u32 %p2, %r0, 32;\n@%p2 bra W;\n@!%p0 bra E;\nmbarrier.init.shared.b64 [bars], 2;\n"
            "mbarrier.arrive.shared.b64 _, [bar];\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bars], "
            "16;\n"
            "mbarrier.arrive.shared.b64 _, [bars], 2;\nmbarrier.arrive.expect_tx.shared.b64 _, [bars], "
            "16;\nbra E;\n"
            "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n"
            "X: mbarrier.try_wait.parity.shared.b64 %p1, [bars], 0;\n@!%p1 bra X;\nE:\n"}),
    [](const auto& c) { return std::string(c.param.name); });

struct Misuse {
  const char* name;
  std::string body;
  std::string part;  // of the report
  Setting setting{};
};
void PrintTo(const Misuse& c, std::ostream* out) { *out << c.name; }
machine::TensorMap box(machine::TensorSwizzle swizzle, machine::TensorType type = machine::TensorType::f32) {
  machine::TensorMap m;
  m.type = type;
  m.rank = 2;
  m.dims = {64, 16, 1, 1, 1};
  m.strides = {0, 256, 0, 0, 0};
  m.box = {4, 8, 1, 1, 1};
  m.swizzle = swizzle;
  return m;
}
machine::TensorMap cube() {
  machine::TensorMap m = box(machine::TensorSwizzle::none);
  m.rank = 3;
  m.strides[2] = 4096;
  return m;
}
std::vector<std::byte> hostile(size_t at, uint8_t value) {
  const machine::TensorMapBytes good = machine::encode(box(machine::TensorSwizzle::none));
  std::vector<std::byte> out(good.begin(), good.end());
  out[at] = std::byte{value};
  return out;
}

// Thread 0 copies the map to 'out' and replaces a field; %q2 is then its copy.
std::string replaced(const std::string& field, const std::string& type, const std::string& values) {
  std::string text;
  for (int at = 0; at < 128; at += 8)
    text += "@%p0 ld.b64 %q3, [%q2+" + std::to_string(at) + "]; @%p0 st.global.b64 [%q1+" +
            std::to_string(at) + "], %q3;\n";
  return text + "@%p0 tensormap.replace.tile." + field + ".global.b1024." + type + " [%q1], " + values +
         ";\nmov.b64 %q2, %q1;\n";
}

class Misused : public testing::TestWithParam<Misuse> {};
TEST_P(Misused, IsNamed) {
  for (const run::PolicyName& p : run::kPolicies) {
    const std::string text = scheduled(GetParam().body, p.policy, GetParam().setting);
    EXPECT_NE(text.find(GetParam().part), std::string::npos) << p.name << ": " << text;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Schedule, Misused,
    testing::Values(
        Misuse{"AnOrdinaryStoreToABarrier", "st.shared.b64 [bar], %q0;\n",
               "an ordinary write of an mbarrier"},
        Misuse{"AnOrdinaryLoadOfABarrier", "ld.shared.b64 %q3, [bar];\n", "an ordinary read of an mbarrier"},
        Misuse{"AnAtomicOnABarrier", "atom.shared.add.u64 %q3, [bar], %q0;\n",
               "an ordinary atomic of an mbarrier"},
        Misuse{"ACopyOverABarrier",
               "mov.u32 %r1, bar; and.b32 %r1, %r1, 0xFFFFFFF0;\n@%p0 mbarrier.arrive.expect_tx.shared.b64 "
               "_, [bar], 16;\n"
               "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q0], 16, "
               "[bar];\n"
               "L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n",
               "writes over an mbarrier"},
        Misuse{"MoreDroppedThanExpected",
               "@%p0 mbarrier.init.shared.b64 [bars], 1;\n@%p0 cp.async.mbarrier.arrive.shared.b64 [bars];\n"
               "@%p0 mbarrier.arrive_drop.shared.b64 _, [bars], 2;\n",
               "which expects 1 arrivals a phase"},
        Misuse{"AWaitForTheClusterTwice",
               "barrier.cluster.arrive;\nbarrier.cluster.wait;\nbarrier.cluster.wait;\n",
               "barrier.cluster.wait without a barrier.cluster.arrive"},
        Misuse{"AVectorOf32Bytes",
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [tile], {%q0,%q0,%q0,%q0}, "
               "[bar];\n",
               "a vector of 32 bytes"},
        Misuse{"ABarrierInAnotherCta",
               "mov.u32 %r1, tile; mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1; "
               "mapa.shared::cluster.u32 %r3, %r1, "
               "%r2;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
               "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%q0], 16, "
               "[bar];\n"
               "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
               "in another CTA than its destination",
               {64, 2}},
        Misuse{"WaitingForAnotherCtasBarrier",
               "mov.u32 %r1, bar; cvt.u64.u32 %q3, %r1; cvta.shared.u64 %q3, %q3; mov.u32 %r2, "
               "%cluster_ctarank;\n"
               "xor.b32 %r2, %r2, 1; mapa.u64 %q4, %q3, %r2;\nmbarrier.try_wait.parity.b64 %p1, [%q4], 1;\n",
               "shared memory of its own CTA",
               {64, 2}},
        Misuse{"ABoxBeyondSharedMemory",
               kTensorCopy,
               "out-of-bounds access of 1024 bytes",
               {64, 1, 912, box(machine::TensorSwizzle::b128)}},
        Misuse{"NoTensorMap", kTensorCopy, "there is no tensor map at this address", {64, 1, 1024}},
        Misuse{"AnUnknownElementType",
               kTensorCopy,
               "type u4x16_align8b in bytes that bitwell has not made",
               {64, 1, 1024, {}, hostile(9, 6)}},
        Misuse{"AnUnknownInterleave",
               kTensorCopy,
               "interleave is 3, it must be 0 to 2",
               {64, 1, 1024, {}, hostile(9, 0x1B)}},
        Misuse{"AnUnknownBit", kTensorCopy, "bit 83 (byte 10) is set", {64, 1, 1024, {}, hostile(10, 0x0E)}},
        Misuse{"AReplacedFieldBeyondItsLimit",
               replaced("box_dim", "b32", "0, 6") + kTensorCopy,
               "boxDim[0] in bytes is 24, it must be a multiple of 16",
               {64, 1, 1024, box(machine::TensorSwizzle::none)}},
        Misuse{"AReplacedFieldOfNoMap",
               "mov.u32 %r1, 8;\n@%p0 st.global.u8 [%q1+10], %r1;\n@%p0 "
               "tensormap.replace.tile.rank.global.b1024.b32 [%q1], 1;\n",
               "is set, which no driver has been seen to write"},
        Misuse{"AReplacedMapThatIsReadOnly", "@%p0 tensormap.replace.tile.rank.global.b1024.b32 [%q0], 1;\n",
               "'in', which is read-only"},
        Misuse{"AnInterleavedLayout",
               replaced("interleave_layout", "b32", "1") + kTensorCopy,
               "tensor maps with interleave 16b",
               {64, 1, 1024, cube()}},
        Misuse{"ATf32MapMadeAnother",
               replaced("elemtype", "b32", "6") + kTensorCopy,
               "a tf32 map's elemtype cannot be replaced by f16",
               {64, 1, 1024, box(machine::TensorSwizzle::none, machine::TensorType::tf32)}}),
    [](const auto& m) { return std::string(m.param.name); });

// What devices take is a note, and a fault where that is asked for.
void expect_note(const std::string& body, const std::string& note, const std::string& what) {
  const std::string held = scheduled(body);
  EXPECT_EQ(held.find("held; note: line "), 0u) << held;
  EXPECT_NE(held.find(note), std::string::npos) << held;
  Setting strict;
  strict.strict = true;
  const std::string fault = scheduled(body, run::Policy::lazy, strict);
  EXPECT_EQ(fault.find("PTX line "), 0u) << fault;
  EXPECT_NE(fault.find(what), std::string::npos) << fault;
}
// Found where the copy is late; a schedule under which it is not shows nothing.
TEST(Notes, ACtaMayEndBeforeItsCopies) {
  expect_note(kCopy, " times, cp.async.bulk", "is under way when its CTA ends");
  expect_note("@%p0 cp.async.ca.shared.global [tile], [%q0], 4;\n", "1 times, cp.async",
              "is under way when its CTA ends");
  EXPECT_EQ(scheduled(kCopy, run::Policy::eager), "held");
}
// Its shared memory is kept: the store of a CTA that has ended brings what the CTA wrote.
TEST(Notes, AnEndedCtasStoreBringsItsBytes) {
  expect_note(
      "@%p0 st.shared.u32 [tile], 7; @%p0 st.shared.u32 [tile+4], 7; @%p0 st.shared.u64 [tile+8], 7;\n"
      "fence.proxy.async;\n@%p0 cp.async.bulk.global.shared::cta.bulk_group [%q1], [tile], 16;\n",
      "cp.async.bulk", "is under way when its CTA ends");
}
TEST(Notes, SeveralLanesMayInitialiseABarrierWithOneCount) {
  expect_note("mbarrier.init.shared.b64 [bars], 3;\n", "63 times, mbarrier.init of a barrier that is live",
              "mbarrier.init of a barrier that is live");
  EXPECT_NE(scheduled("add.u32 %r1, %r0, 1;\nmbarrier.init.shared.b64 [bars], %r1;\n")
                .find("mbarrier.inval comes first"),
            std::string::npos);
  EXPECT_NE(scheduled("@%p0 mbarrier.init.shared.b64 [bars], 3;\n@%p0 mbarrier.arrive.shared.b64 _, [bars];\n"
                      "@%p0 mbarrier.init.shared.b64 [bars], 3;\n")
                .find("mbarrier.inval comes first"),
            std::string::npos);
}
// The box of the misuse above fits when there is room for its last line.
TEST(Schedule, ASwizzledBoxAtTheEndOfSharedMemoryHolds) {
  EXPECT_EQ(scheduled(kTensorCopy, run::Policy::lazy, {64, 1, 1024, box(machine::TensorSwizzle::b128)}),
            "held");
}
// An arrival of cp.async.mbarrier.arrive stands for the copies before it, not for those after.
TEST(Schedule, AnArrivalDoesNotWaitForLaterCopies) {
  const std::string body =
      "@!%p0 bra E;\ncp.async.ca.shared.global [tile], [%q0], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 "
      "[bar];\n"
      "cp.async.ca.shared.global [tile+64], [%q0+64], 4;\n"
      "L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n"
      "ld.shared.u32 %r1, [tile+64];\nst.global.u32 [%q1], %r1;\ncp.async.wait_all;\nE:\n";
  EXPECT_NE(scheduled(body).find("a read of 'tile' + 64"), std::string::npos) << scheduled(body);
}

}  // namespace
}  // namespace bitwell::isa
