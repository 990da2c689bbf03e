// What a Chooser that counts is told of turns.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "../kernel.h"
#include "model/run/turns/chooser.h"

namespace bitwell::run {
namespace {

using isa::Unit;

// The first that can go on does.
class Counting : public Chooser {
 public:
  explicit Counting(bool counts) : counts_(counts) {}
  size_t choose(std::span<const Taker> can) override {
    operation_ = can[0].operation != 0;
    return 0;
  }
  void took(const Took& turn) override {
    changes.push_back(turn.changes);
    uint64_t issued = 0;
    for (size_t i = 0; i < isa::kUnits.size(); ++i) {
      if (turn.instructions[i] != 0) by_unit[static_cast<Unit>(i)] += turn.instructions[i];
      issued += turn.instructions[i];
    }
    bytes += turn.work.bytes;
    products += turn.work.products;
    EXPECT_TRUE(!operation_ || issued == 0);
    EXPECT_TRUE(operation_ || (turn.work.bytes == 0 && turn.work.products == 0));
  }
  bool counts() const override { return counts_; }

  std::map<Unit, uint64_t> by_unit;
  uint64_t bytes = 0, products = 0;
  std::vector<uint64_t> changes;

 private:
  bool counts_;
  bool operation_ = false;
};

// Runs it twice, with counts and without: all else is the same.
Counting counted(const std::string& text, uint32_t threads, std::vector<int> stops = {}) {
  const test::Module module = test::module_of(text);
  std::vector<Counting> both{Counting(true), Counting(false)};
  std::vector<launch::Launch> left;
  for (Counting& chooser : both) {
    launch::Launch l;
    l.entry = "k";
    l.shape.block = {threads, 1, 1};
    l.add_buffer({"x", std::vector<std::byte>(4096), true, false, true});
    run::Options options;
    options.chooser = &chooser;
    if (!stops.empty()) {
      options.observers.emplace_back().lines = stops;
      options.observers.back().tell = [](const machine::Event&) {};
    }
    const RunResult result = test::run_ptx(module, l, options);
    if (&chooser == &both[0]) {
      EXPECT_EQ(std::accumulate(chooser.by_unit.begin(), chooser.by_unit.end(), uint64_t{0},
                                [](uint64_t sum, const auto& u) { return sum + u.second; }),
                result.warp_instructions);
    }
    left.push_back(std::move(l));
  }
  EXPECT_EQ(both[0].changes, both[1].changes);
  EXPECT_EQ(left[0].buffers[0].bytes, left[1].buffers[0].bytes);
  EXPECT_TRUE(both[1].by_unit.empty());
  EXPECT_EQ(both[1].bytes + both[1].products, 0U);
  return both[0];
}

// `body` of a kernel of sm_90a: %a0 is where x is, %r0 the thread.
std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %a<4>;\n.reg .f32 %f<8>;\n.reg .f64 %d<4>;\n"
         ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n"
         "ld.param.u64 %a0, [x];\nmov.u32 %r0, %tid.x;\n" +
         body + "ret;\n}\n";
}

// Two warps go four times round a loop: 2 * (1 ld.param, 1 ret, 4 bra), and so on.
const std::string kLoop = kernel(R"(mov.u32 %r1, 0;
mov.f32 %f0, 0f3F800000;
loop:
fma.rn.f32 %f0, %f0, %f0, %f0;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, 4;
@%p0 bra loop;
ex2.approx.f32 %f1, %f0;
cvt.f64.f32 %d0, %f0;
add.f64 %d0, %d0, %d0;
shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
mul.wide.u32 %a1, %r0, 8;
add.u64 %a1, %a0, %a1;
st.global.f64 [%a1], %d0;
bar.sync 0;
)");

const std::map<Unit, uint64_t> kOfLoop{{Unit::alu, 2 * (3 + 4 * 2 + 1)},
                                       {Unit::fma, 2 * (4 + 1)},
                                       {Unit::fp64, 2},
                                       {Unit::sfu, 2},
                                       {Unit::convert, 2},
                                       {Unit::warp, 2},
                                       {Unit::load_store, 2 * 2},
                                       {Unit::barrier, 2},
                                       {Unit::control, 2 * (4 + 1)}};

TEST(Took, InstructionsByUnit) { EXPECT_EQ(counted(kLoop, 64).by_unit, kOfLoop); }

// So they are where an observer asks for PTX lines, among them the head of the loop.
TEST(Took, InstructionsWhereLinesAreToldOf) { EXPECT_EQ(counted(kLoop, 64, {16, 19, 24}).by_unit, kOfLoop); }

// A bulk copy of 512 bytes, and 16 of each of 32 threads.
TEST(Took, BytesOfCopies) {
  const Counting all = counted(kernel(R"(setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared.b64 [bar], 1;
fence.proxy.async;
bar.warp.sync -1;
@!%p0 bra issued;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a0], 512, [bar];
issued:
wait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
@!%p1 bra wait;
shl.b32 %r1, %r0, 4;
mov.u32 %r2, tile;
add.u32 %r2, %r2, %r1;
mul.wide.u32 %a1, %r0, 16;
add.u64 %a1, %a0, %a1;
cp.async.cg.shared.global [%r2+1024], [%a1], 16;
cp.async.wait_all;
)"),
                               32);
  EXPECT_EQ(all.bytes, 512U + 32U * 16U);
  EXPECT_EQ(all.products, 0U);
  EXPECT_EQ(all.by_unit.at(Unit::copy), 1U);
}

// Two of m64n8k16.
TEST(Took, ProductsOfMatrices) {
  const Counting all = counted(kernel(R"(mov.u32 %r1, tile;
shl.b32 %r2, %r0, 5;
add.u32 %r1, %r1, %r2;
mov.b32 %r3, 0;
st.shared.v4.b32 [%r1], {%r3,%r3,%r3,%r3};
st.shared.v4.b32 [%r1+16], {%r3,%r3,%r3,%r3};
fence.proxy.async.shared::cta;
bar.sync 0;
mov.u64 %a1, 0x4000000000010000;
mov.f32 %f0, 0f00000000;
mov.f32 %f1, %f0;
mov.f32 %f2, %f0;
mov.f32 %f3, %f0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %a1, %a1, 1, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %a1, %a1, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
)"),
                               128);
  EXPECT_EQ(all.products, 2U * 64 * 8 * 16);
  EXPECT_EQ(all.bytes, 0U);
  EXPECT_EQ(all.by_unit.at(Unit::tensor), 4U * 2);
}

}  // namespace
}  // namespace bitwell::run
