// Bulk and tensor copies that several lanes of a warp issue, each the same: an H200 carries out one for each
// (a reduction adds as often). Their bytes are moved once where that cannot be told from as many times.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "../../kernel.h"
#include "model/machine/failure.h"
#include "verify/findings/watch.h"
#include "verify/schedules/schedules.h"

namespace bitwell::isa {
namespace {

constexpr size_t kBytes = 256;

// What came of a launch: its fault or "held", the words of `out`, what its copies read of global and of
// shared memory, in bytes, how often the note came, and what the race check says.
struct Outcome {
  std::string end = "held";
  std::vector<uint32_t> out = std::vector<uint32_t>(kBytes / 4);
  uint64_t global = 0, shared = 0, notes = 0;
  std::vector<std::string> races;
};

struct Subject {
  std::string body;      // of 32 threads a CTA
  uint32_t cluster = 1;  // CTAs, which are all
  uint32_t rank = 2;     // of the tensor maps
};

machine::TensorMap map_of(uint32_t rank, uint32_t box) {
  machine::TensorMap m;
  m.type = machine::TensorType::u32;
  m.rank = rank;
  m.dims[0] = 2 * kBytes / 4;
  m.box[0] = box;
  for (size_t d = 1; d < rank; ++d) m.strides[d] = 2 * kBytes;
  return m;
}

// The body finds its lane in %r0, %p0 for lane 0, 'in' (512 bytes: words 1 to 128) at %q0 and as a tensor at
// %q2, 'out' (256 bytes of zeros) at %q1 and as a tensor at %q3, `tile` of 512 bytes, the mbarriers `bar` and
// `other` for one arrival each.
Outcome outcome(const Subject& s, const run::Schedule& schedule = {}, bool strict = false) {
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout, "
      ".param .align 128 .b8 min[128], .param .align 128 .b8 mout[128]) {\n"
      ".reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<16>; .reg .b64 %q<8>;\n"
      ".shared .align 128 .b8 tile[512]; .shared .align 8 .b64 bar; .shared .align 8 .b64 other;\n"
      "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.b64 %q2, min; cvta.param.u64 %q2, %q2;\n"
      "mov.b64 %q3, mout; cvta.param.u64 %q3, %q3;\n"
      "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r3, 0;\n"
      "mov.u32 %r4, %cluster_ctarank; shl.b32 %r5, %r0, 2; add.u32 %r6, %r1, %r5; cvt.u64.u32 %q4, %r5;\n"
      "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 mbarrier.init.shared.b64 [other], 1;\n"
      "@%p0 fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive.aligned; "
      "barrier.cluster.wait.aligned;\n" +
      s.body + "\nret;\n}\n";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  l.shape.grid = l.shape.cluster = {s.cluster, 1, 1};
  std::vector<uint32_t> words(2 * kBytes / 4);
  std::iota(words.begin(), words.end(), 1u);
  std::vector<std::byte> bytes(2 * kBytes);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  const size_t in = l.add_buffer({"in", bytes, true, true, false});
  const size_t out = l.add_buffer({"out", std::vector<std::byte>(kBytes), true, false, true});
  l.add_tensor_map(in, map_of(s.rank, kBytes / 4));
  l.add_tensor_map(out, map_of(s.rank, kBytes / 4));
  Outcome o;
  run::Options options;
  options.schedule = schedule;
  options.strict = strict;
  findings::Watch watch;
  const test::Module module = test::module_of(text);
  options.observers.push_back(watch.observer());
  watch.begin(*module->program("k"), l.shape);
  options.observers.push_back({[&](const machine::Event& event) {
                                 const auto* a = std::get_if<machine::Access>(&event.what);
                                 if (a == nullptr || a->operation == 0 || a->mbarrier ||
                                     a->kind != machine::AccessKind::read)
                                   return;
                                 (a->addresses[0] >= machine::kBuffers ? o.global : o.shared) += a->bytes;
                               },
                               true});
  try {
    const run::RunResult result = test::run_ptx(module, l, options);
    for (const run::Note& n : result.notes)
      if (n.text.find("start the same copy") != std::string::npos) o.notes += n.times;
  } catch (const machine::Fault& fault) {
    o.end = fault.what();
  }
  std::memcpy(o.out.data(), l.buffers[out].bytes.data(), kBytes);
  for (const findings::Found& f : watch.findings())
    o.races.push_back(std::string(hazard::row_of(f.finding.kind).name));
  return o;
}

const std::string kWait =
    "\nbar.warp.sync -1;\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n";
// Each lane stores its two words of `tile`.
const std::string kStore =
    "ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r6+128]; add.u64 %q5, %q1, %q4;\n"
    "st.global.u32 [%q5], %r7; st.global.u32 [%q5+128], %r8;\n";

std::string expect(uint64_t bytes) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) +
         ";\nbar.warp.sync -1;\n";
}
std::string lanes_below(uint32_t count) {
  return "setp.lt.u32 %p2, %r0, " + std::to_string(count) + ";\n@%p2 ";
}
std::string coordinates(uint32_t rank, const std::string& first) {
  std::string out = "{" + first;
  for (uint32_t d = 1; d < rank; ++d) out += ", 0";
  return out + "}";
}
// A load of 256 bytes into `to` from `from`: a place in %q0, or a coordinate of the tensor.
std::string bulk_load(const std::string& to, const std::string& from, const std::string& barrier) {
  return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to + "], [" + from +
         "], 256, [" + barrier + "];\n";
}
std::string tensor_load(uint32_t rank, const std::string& to, const std::string& at,
                        const std::string& barrier) {
  return "cp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.mbarrier::complete_tx::bytes [" + to + "], [%q2, " +
         coordinates(rank, at) + "], [" + barrier + "];\n";
}

std::vector<uint32_t> words_from(uint32_t first) {
  std::vector<uint32_t> out(kBytes / 4);
  std::iota(out.begin(), out.end(), first);
  return out;
}

struct Load {
  uint32_t rank;  // 0: no tensor
  std::string text;
};
std::vector<Load> loads() {
  std::vector<Load> out{{0, bulk_load("%r1", "%q0", "%r2")}};
  for (const uint32_t rank : {1u, 2u, 5u}) out.push_back({rank, tensor_load(rank, "%r1", "%r3", "%r2")});
  return out;
}

TEST(SameCopies, TheirBytesAreMovedOnceAndCountedForEach) {
  for (const Load& load : loads())
    for (const uint32_t lanes : {1u, 2u, 16u, 32u})
      for (const run::Schedule& schedule : launch::schedules(8)) {
        const Outcome o = outcome({expect(lanes * kBytes) + lanes_below(lanes) + load.text + kWait + kStore,
                                   1, std::max(load.rank, 1u)},
                                  schedule);
        const std::string where = load.text + std::to_string(lanes) + " lanes, " + launch::describe(schedule);
        EXPECT_EQ(o.end, "held") << where;
        EXPECT_EQ(o.out, words_from(1)) << where;
        EXPECT_EQ(o.global, kBytes) << where;
        EXPECT_EQ(o.notes, lanes > 1 ? 1u : 0u) << where;
        EXPECT_EQ(o.races, std::vector<std::string>{}) << where;
      }
}

TEST(SameCopies, UnderStrictTheyAreAFault) {
  const std::string body = expect(2 * kBytes) + lanes_below(2) + loads()[0].text + kWait + kStore;
  EXPECT_NE(outcome({body}, {}, true).end.find("threads of one warp start the same copy"), std::string::npos);
}

// Lanes whose copies differ in one operand, by whether the lane is even.
TEST(SameCopies, ThoseThatDifferAreCarriedOutEach) {
  const std::string odd =
      "and.b32 %r9, %r0, 1; shl.b32 %r10, %r9, 8; cvt.u64.u32 %q6, %r10; add.u64 %q6, %q0, %q6;\n"
      "add.u32 %r11, %r1, %r10; shl.b32 %r12, %r9, 6; shl.b32 %r13, %r9, 3; add.u32 %r13, %r2, %r13;\n"
      "mov.u32 %r14, 256; sub.u32 %r14, %r14, %r10; shr.u32 %r14, %r14, 1; add.u32 %r14, %r14, 128;\n";
  const std::string both = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [other], 256;\n";
  struct Row {
    std::string what, before, copy;
    uint64_t bytes, global;
  };
  const std::string sized =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q0], %r14, [%r2];\n";
  for (const Row& r : {Row{"source", "", bulk_load("%r1", "%q6", "%r2"), 512, 512},
                       Row{"destination", "", bulk_load("%r11", "%q0", "%r2"), 512, 512},
                       Row{"mbarrier", both, bulk_load("%r1", "%q0", "%r13"), 256, 512},
                       Row{"size", "", sized, 256 + 128, 256 + 128},
                       Row{"coordinate", "", tensor_load(2, "%r1", "%r12", "%r2"), 512, 512},
                       Row{"destination of a tensor", "", tensor_load(2, "%r11", "%r3", "%r2"), 512, 512}}) {
    const Outcome o =
        outcome({odd + r.before + expect(r.bytes) + lanes_below(2) + r.copy + kWait + "bar.warp.sync -1;"});
    EXPECT_EQ(o.end, "held") << r.what;
    EXPECT_EQ(o.global, r.global) << r.what;
    EXPECT_EQ(o.notes, 0u) << r.what;
  }
  // 16 lanes each: once for each half.
  const Outcome o =
      outcome({odd + expect(32 * kBytes) + lanes_below(32) + bulk_load("%r11", "%q6", "%r2") + kWait});
  EXPECT_EQ(o.end, "held");
  EXPECT_EQ(o.global, 2 * kBytes);
  EXPECT_EQ(o.notes, 2u);
}

TEST(SameCopies, AMulticastCountsForEachInEveryCta) {
  const std::string copy = "mov.u16 %h0, 3;\n" + lanes_below(32) +
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                           "cluster [%r1], [%q0], 256, "
                           "[%r2], %h0;\n";
  const std::string only_first = "setp.ne.u32 %p3, %r4, 0;\n@%p3 bra T;\n" + copy + "T:\n";
  const std::string met = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  const std::string second_stores = "setp.eq.u32 %p3, %r4, 0;\n@%p3 bra E;\n" + kStore + "E:\n";
  for (const run::Schedule& schedule : launch::schedules(8)) {
    const Outcome o =
        outcome({expect(32 * kBytes) + met + only_first + kWait + second_stores + met, 2}, schedule);
    EXPECT_EQ(o.end, "held") << launch::describe(schedule);
    EXPECT_EQ(o.out, words_from(1)) << launch::describe(schedule);
    EXPECT_EQ(o.global, kBytes) << launch::describe(schedule);
    EXPECT_EQ(o.races, std::vector<std::string>{}) << launch::describe(schedule);
  }
}

// The first copy ends the phase that expects the bytes of one: the others are under way when the tile is
// written.
TEST(SameCopies, APhaseThatExpectsTheBytesOfOneEndsBeforeTheOthers) {
  for (const Load& load : loads()) {
    const Outcome o =
        outcome({expect(kBytes) + lanes_below(32) + load.text + kWait + "st.shared.u32 [%r6], %r0;", 1,
                 std::max(load.rank, 1u)});
    EXPECT_NE(o.end.find("which the copy of PTX line 18 is still to write"), std::string::npos)
        << load.text << o.end;
  }
}

const std::string kFill =
    "add.u32 %r7, %r0, 1; add.u32 %r8, %r0, 33; st.shared.u32 [%r6], %r7; st.shared.u32 [%r6+128], %r8;\n"
    "fence.proxy.async.shared::cta;\nbar.warp.sync -1;\n";
const std::string kZero = "mov.u32 %r7, 0; st.shared.v2.u32 [tile], {%r7, %r7};\n";

std::vector<std::string> stores() {
  return {"cp.async.bulk.global.shared::cta.bulk_group [%q1], [%r1], 256;\n",
          "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q3, {0, 0}], [%r1];\n"};
}

TEST(SameCopies, StoresAreWaitedForByEachLane) {
  for (const std::string& store : stores())
    for (const char* read : {"", ".read"})
      for (const run::Schedule& schedule : launch::schedules(8)) {
        const Outcome o = outcome({kFill + store + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group" +
                                   read + " 0;\nbar.warp.sync -1;\n@%p0 " + "bra T;\nbra E;\nT:\n" + kZero +
                                   "E: cp.async.bulk.wait_group 0;\n"},
                                  schedule);
        EXPECT_EQ(o.end, "held") << store << launch::describe(schedule);
        EXPECT_EQ(o.out, words_from(1)) << store << launch::describe(schedule);
        EXPECT_EQ(o.shared, kBytes) << store << launch::describe(schedule);
        EXPECT_EQ(o.races, std::vector<std::string>{}) << store << launch::describe(schedule);
      }
}

// One lane waits for its own copy alone, and writes: those of the others read what it has written.
TEST(SameCopies, AWaitOfOneLaneIsForItsOwn) {
  for (const std::string& store : stores())
    for (const char* read : {"", ".read"}) {
      const Outcome o =
          outcome({kFill + store + "cp.async.bulk.commit_group;\n@!%p0 bra E;\ncp.async.bulk.wait_group" +
                   read + " 0;\n" + kZero + "E: bar.warp.sync -1;\ncp.async.bulk.wait_group 0;\n"});
      EXPECT_EQ(o.end, "held") << store;
      EXPECT_EQ(o.out[0], 0u) << store;
      EXPECT_EQ(o.out[2], 3u) << store;
      ASSERT_FALSE(o.races.empty()) << store;
      EXPECT_EQ(o.races[0], "operation-race") << store;
    }
}

// An H200 gave these sums, by reductions of bytes and of tensors.
TEST(SameCopies, ReductionsAreCarriedOutForEachLane) {
  const std::vector<std::string> reductions{
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%q1], [%r1], 256;\n",
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%q3, {0, 0}], [%r1];\n"};
  for (const std::string& reduction : reductions)
    for (const uint32_t lanes : {32u, 16u}) {
      const Outcome o = outcome({kFill + lanes_below(lanes) + reduction +
                                 "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"});
      EXPECT_EQ(o.end, "held") << reduction;
      for (uint32_t i = 0; i < kBytes / 4; ++i) EXPECT_EQ(o.out[i], lanes * (i + 1)) << reduction;
      EXPECT_EQ(o.notes, 0u) << reduction;
      EXPECT_EQ(o.races, std::vector<std::string>{}) << reduction;
    }
}

}  // namespace
}  // namespace bitwell::isa
