// Whoever reaches memory is told of, with place, size and order; and nothing changes that nobody was told of.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>

#include "../../kernel.h"
#include "verify/probe/async.h"
#include "verify/probe/wgmma.h"

namespace bitwell::isa {
namespace {

using machine::AccessKind;
using machine::Order;
using machine::Proxy;
using machine::Scope;
using machine::Semantics;

// What an observer keeps of an access.
struct Told {
  AccessKind kind;
  uint64_t at;  // offset in its window, of the lowest lane
  uint64_t bytes;
  int lanes;  // 0: an operation
  Order order;

  bool operator==(const Told&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Told& t) {
  constexpr const char* kinds[] = {"read", "write", "update"};
  return out << kinds[static_cast<int>(t.kind)] << " of " << t.bytes << " bytes at " << t.at << " by "
             << t.lanes << " lanes, semantics " << static_cast<int>(t.order.semantics) << ", scope "
             << static_cast<int>(t.order.scope) << ", proxy " << static_cast<int>(t.order.proxy);
}

uint64_t in_window(uint64_t address) {
  const uint64_t offset = address % (uint64_t{1} << 40);
  return address >= machine::kModuleGlobals ? address : offset;
}

// What one warp tells that executes the instructions, with a buffer of 256 bytes at machine::kBuffers in %a0,
// an mbarrier `bar` at 0 of shared memory that `thread` 0 has initialised for `count`, and 256 bytes `tile`
// at 128.
std::vector<Told> told_of(
    const std::string& body,
    const std::function<void(const machine::Access&)>& also = [](const machine::Access&) {}) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{\n"
      ".reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .pred %p<2>;\n.reg .b32 %z;\nmov.u32 %z, 0;\n"
      ".shared .align 128 .b8 all[512];\n"
      "ld.param.u64 %a0, [buffer];\nmov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\ncvt.u64.u32 %a1, %r1;\n"
      "add.u64 %a1, %a0, %a1;\nsetp.eq.u32 %p0, %r0, 0;\n"
      "mov.u32 %r2, all;\nadd.u32 %r3, %r2, 128;\nadd.u32 %r4, %r3, %r1;\n"
      "@%p0 mbarrier.init.shared.b64 [all], 1;\nst.shared.u32 [%r4], %z;\nst.shared.u32 [%r4+128], %z;\n"
      "bar.warp.sync -1;\nmov.u32 %r7, 77;\n" +
      body + "\nret;\n}\n";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  launch::Buffer buffer;
  buffer.name = "buffer";
  buffer.bytes.resize(256);
  l.add_buffer(buffer);
  std::vector<Told> out;
  int line = 1;  // of `body`
  for (const char c : text.substr(0, text.find(body))) line += c == '\n' ? 1 : 0;
  run::Options options;
  options.observers.push_back({[&](const machine::Event& event) {
                                 const auto* a = std::get_if<machine::Access>(&event.what);
                                 if (a == nullptr || a->ptx_line < line) return;
                                 also(*a);
                                 const int lowest = a->lanes == 0 ? 0 : __builtin_ctz(a->lanes);
                                 out.push_back({a->kind, in_window(a->addresses[static_cast<size_t>(lowest)]),
                                                a->bytes, __builtin_popcount(a->lanes), a->order});
                               },
                               true});
  test::run_ptx(text, l, options);
  return out;
}

struct Row {
  const char* body;
  std::vector<Told> told;
};
constexpr uint64_t kBuffer = machine::kBuffers;
constexpr Order kWeak{};
constexpr Order kAsync{Semantics::weak, Scope::cta, Proxy::async};
const Row kRows[] = {
    {"ld.global.u32 %r7, [%a1];", {{AccessKind::read, kBuffer, 4, 32, kWeak}}},
    {"ld.acquire.gpu.global.u32 %r7, [%a1+4];",
     {{AccessKind::read, kBuffer + 4, 4, 32, {Semantics::acquire, Scope::gpu}}}},
    {"@%p0 ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%a0+16];", {{AccessKind::read, kBuffer + 16, 16, 1, kWeak}}},
    {"st.volatile.global.u32 [%a1], %r0;",
     {{AccessKind::write, kBuffer, 4, 32, {Semantics::volatile_, Scope::sys}}}},
    {"st.shared.u32 [%r4], %r0;", {{AccessKind::write, 128, 4, 32, kWeak}}},
    {"cvta.shared.u64 %a2, %a3;\ncvt.u64.u32 %a3, %r4;\ncvta.shared.u64 %a2, %a3;\nst.u32 [%a2], %r0;",
     {{AccessKind::write, 128, 4, 32, kWeak}}},
    {"ld.param.u64 %a2, [buffer];", {{AccessKind::read, 0, 8, 32, kWeak}}},
    {"red.release.gpu.global.add.u32 [%a0], 1;",
     {{AccessKind::update, kBuffer, 4, 32, {Semantics::release, Scope::gpu}}}},
    {"@%p0 atom.shared.exch.b32 %r7, [%r3+8], 1;",
     {{AccessKind::update, 136, 4, 1, {Semantics::relaxed, Scope::gpu}}}},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r3];",
     std::vector<Told>(8, {AccessKind::read, 128, 16, 1, kWeak})},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r0};",
     std::vector<Told>(8, {AccessKind::write, 128, 16, 1, kWeak})},
    {"@%p0 mbarrier.arrive.shared.b64 _, [all];",
     {{AccessKind::update, 0, 8, 1, {Semantics::release, Scope::cta}}}},
    {"@%p0 mbarrier.test_wait.parity.relaxed.cluster.shared.b64 %p1, [all], 0;",
     {{AccessKind::read, 0, 8, 1, {Semantics::relaxed, Scope::cluster}}}},
    {"@%p0 cp.async.ca.shared.global [%r3], [%a0], 16;\ncp.async.wait_all;",
     {{AccessKind::read, kBuffer, 16, 0, kWeak}, {AccessKind::write, 128, 16, 0, kWeak}}},
    {"@%p0 mbarrier.arrive.expect_tx.relaxed.cta.shared.b64 %a4, [all], 32;\n"
     "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%a0], 32, [all];\n"
     "@!%p0 bra done;\nwait: mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p1, [all], 0;\n@!%p1 bra "
     "wait;\ndone:",
     {{AccessKind::update, 0, 8, 1, {Semantics::relaxed, Scope::cta}},
      {AccessKind::read, 0, 8, 1, {Semantics::relaxed, Scope::cta}},
      {AccessKind::read, kBuffer, 32, 0, kAsync},
      {AccessKind::write, 128, 32, 0, kAsync},
      {AccessKind::update, 0, 8, 0, kAsync},
      {AccessKind::read, 0, 8, 1, {Semantics::relaxed, Scope::cta}}}},
    {"@%p0 cp.async.bulk.global.shared::cta.bulk_group [%a0], [%r3], 16;\ncp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group 0;",
     {{AccessKind::read, 128, 16, 0, kAsync}, {AccessKind::write, kBuffer, 16, 0, kAsync}}},
    {"@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%a0], [%r3], 16;\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
     {{AccessKind::read, 128, 16, 0, kAsync},
      {AccessKind::update, kBuffer, 8, 0, kAsync},
      {AccessKind::update, kBuffer + 8, 8, 0, kAsync}}},
};

TEST(Port, TellsWhoWhereHowManyBytesAndInWhichOrder) {
  for (const Row& row : kRows) {
    std::vector<Told> told = told_of(row.body);
    EXPECT_EQ(told, row.told) << row.body;
  }
}

// Tensor memory has addresses of its own: rank << 32 | lane << 16 | column, behind machine::kTensorWindow.
TEST(Port, TellsOfTensorMemoryToo) {
  const std::string text =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<8>;\n"
      ".shared .align 4 .b32 base;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;\nld.shared.b32 %r0, [base];\n"
      "tcgen05.st.sync.aligned.16x64b.x1.b32 [%r0+3], {%r0};\ntcgen05.wait::st.sync.aligned;\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 32;\nret;\n}\n";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  std::vector<uint64_t> cells;
  run::Options options;
  options.observers.push_back({[&](const machine::Event& event) {
                                 const auto* a = std::get_if<machine::Access>(&event.what);
                                 if (a == nullptr || a->addresses[0] < machine::kTensorWindow) return;
                                 if (a->kind == AccessKind::update) return;  // the dealloc
                                 EXPECT_EQ(a->kind, AccessKind::write);
                                 EXPECT_EQ(a->bytes, 8u);
                                 for (uint64_t lane = 0; lane < a->rows; ++lane)
                                   cells.push_back(a->addresses[0] - machine::kTensorWindow + (lane << 16));
                               },
                               true});
  test::run_ptx(text, l, options);
  ASSERT_EQ(cells.size(), 16u);
  for (uint64_t lane = 0; lane < 16; ++lane) EXPECT_EQ(cells[lane], lane << 16 | 3);
}

// That lanes reach bytes side by side is said of no others, and where it is found at no cost.
TEST(Port, SaysWhichLanesReachBytesSideBySide) {
  const std::string body =
      "ld.global.u32 %r7, [%a1];\nld.global.u32 %r7, [%a0];\nld.global.v2.u32 {%r6, %r7}, [%a0];\n"
      "ld.global.u16 %r7, [%a1];\n@%p0 ld.global.u32 %r7, [%a1];\n@!%p0 ld.global.u32 %r7, [%a1];\n"
      "st.shared.u32 [%r4], %z;\nst.shared.u16 [%r4], %z;\nld.shared.u32 %r7, [%r3];\n"
      "ld.u32 %r7, [%a1+128];\nred.global.add.u32 [%a1], %z;\nst.volatile.global.u32 [%a1], %z;\n"
      "sub.u32 %r6, %r2, %r1;\nadd.u32 %r6, %r6, 252;\nld.shared.u32 %r7, [%r6];\n";
  size_t beside = 0, others = 0, ends = 0;
  told_of(body, [&](const machine::Access& a) {
    bool expected = a.lanes == ~0u;
    for (size_t i = 0; i < a.addresses.size(); ++i)
      expected = expected && a.addresses[i] == a.addresses[0] + i * a.bytes;
    EXPECT_LE(a.consecutive, expected) << "PTX line " << a.ptx_line;
    ++(a.consecutive ? beside : others);
    if (a.high == 0) return;
    std::set<uint64_t> reached;
    for (size_t i = 0; i < a.addresses.size(); ++i)
      if ((a.lanes >> i & 1) != 0) reached.insert(a.addresses[i]);
    EXPECT_EQ(a.low, *reached.begin()) << "PTX line " << a.ptx_line;
    EXPECT_EQ(a.high, *reached.rbegin()) << "PTX line " << a.ptx_line;
    ++ends;
  });
  EXPECT_GE(ends, 12u);
  EXPECT_GE(beside, 5u);
  EXPECT_GE(others, 8u);
}

// Who wants pieces is told of the same accesses as who does not, in their order, of fewer at once: copies,
// and MMAs whose matrices lie in every swizzle.
TEST(Port, AccessesOfOneOperationAreToldTogetherToWhoWantsThat) {
  using Read = std::tuple<AccessKind, uint64_t, uint64_t, uint64_t>;  // address, bytes, operation
  size_t together = 0, by_turns = 0;
  const auto compare = [&](const std::string& ptx, launch::Launch launch, uint64_t seed,
                           const std::string& what) {
    std::vector<Read> all[2];
    for (const bool pieces : {false, true}) {
      run::Options options;
      options.schedule = {seed % 4 == 0 ? run::Policy::lazy : run::Policy::random, seed};
      machine::Observer observer;
      const auto add = [&](const machine::Access& a, size_t piece) {
        all[pieces ? 1 : 0].emplace_back(a.kind, a.addresses[piece], a.bytes, a.operation);
      };
      observer.tell = [&](const machine::Event& event) {
        if (const auto* turns = std::get_if<machine::ByTurns>(&event.what)) {
          ASSERT_TRUE(pieces && !turns->of.empty() && turns->of.size() <= machine::ByTurns::kMost);
          EXPECT_EQ(turns->between, 0u);
          ++by_turns;
          for (size_t i = 0; i < turns->of.front().addresses.size(); ++i)
            for (const machine::Access& a : turns->of) add(a, i);
        }
        const auto* a = std::get_if<machine::Access>(&event.what);
        if (a == nullptr || a->operation == 0) return;
        EXPECT_TRUE(a->addresses.size() == 1 || pieces);
        EXPECT_LE(a->addresses.size(), machine::Access::kMostPieces);
        together += a->addresses.size() > 1 ? 1 : 0;
        for (size_t i = 0; i < a->addresses.size(); ++i) add(*a, i);
      };
      observer.accesses = true;
      observer.pieces = pieces;
      options.observers.push_back(observer);
      launch::Launch own = launch;
      try {
        test::run_ptx(ptx, own, options, false);
      } catch (const machine::Fault&) {
      }
    }
    EXPECT_EQ(all[0], all[1]) << what;
  };
  for (const probe::AsyncFamily& family : probe::async_families())
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      const probe::AsyncCase c = family.draw(seed);
      compare(c.ptx, c.launch, seed, family.name + c.description);
    }
  for (const probe::WgmmaVariant& v : probe::wgmma_variants())
    compare(probe::wgmma_module(v), probe::wgmma_launch(v, 4, 1), 1, v.name);
  EXPECT_GT(together, 100u);
  EXPECT_GT(by_turns, 30u);
}

// Likewise of lanes that look at one mbarrier, and of warps that come out of a barrier at one instruction.
TEST(Port, LanesThatLookAndWarpsThatPassAreToldTogetherToWhoWantsThat) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<8>;\n"
      ".reg .pred %p<4>;\n.shared .align 16 .b8 bars[16];\nmov.u32 %r0, %tid.x;\n"
      "setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r1, bars;\nshr.u32 %r2, %r0, 5;\nsetp.eq.u32 %p1, %r2, 1;\n"
      "and.b32 %r3, %r0, 8;\nadd.u32 %r3, %r3, %r1;\nand.b32 %r4, %r0, 1;\n"
      "@%p0 mbarrier.init.shared.b64 [%r1], 1;\n@%p0 mbarrier.init.shared.b64 [%r1+8], 1;\n"
      "bar.sync 0;\n"
      "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 1;\n"         // all look, and all pass
      "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;\n"         // nobody passes
      "mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 1;\n"         // at two of them
      "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], %r4;\n"       // some pass
      "@%p1 mbarrier.test_wait.parity.shared.b64 %p2, [%r1+8], 1;\n"  // some look
      "@%p1 bra other;\nbar.sync 1;\nbra done;\nother:\nbar.sync 1;\ndone:\nbar.sync 2, 160;\nret;\n}\n";
  using Act =
      std::tuple<int, int, uint32_t, int, uint64_t>;  // what, the warp, its lanes, the line, and where
  for (const run::Policy policy : {run::Policy::lazy, run::Policy::random}) {
    std::vector<Act> all[2];
    size_t events[2] = {};
    for (const bool pieces : {false, true}) {
      launch::Launch l;
      l.entry = "k";
      l.shape.block = {160, 1, 1};
      run::Options options;
      options.schedule = {policy, 3};
      machine::Observer observer;
      observer.tell = [&](const machine::Event& event) {
        const auto add = [&](int what, int warp, uint32_t lanes, int line, uint64_t where) {
          all[pieces ? 1 : 0].emplace_back(what, warp, lanes, line, where);
        };
        using Sync = machine::Synchronisation::Kind;
        if (const auto* a = std::get_if<machine::Access>(&event.what)) {
          EXPECT_TRUE(a->mbarrier && (pieces || std::has_single_bit(a->lanes)));
          for (uint32_t rest = a->lanes; rest != 0; rest &= rest - 1)
            add(-1, a->warp, rest & -rest, a->ptx_line,
                a->addresses[static_cast<size_t>(std::countr_zero(rest))]);
          ++events[pieces ? 1 : 0];
        }
        const auto* s = std::get_if<machine::Synchronisation>(&event.what);
        if (s == nullptr || (s->kind != Sync::cta_passed && s->kind != Sync::mbarrier_passed)) return;
        ++events[pieces ? 1 : 0];
        EXPECT_EQ(s->amount != 0, pieces && s->kind == Sync::cta_passed);
        for (uint32_t rest = s->amount != 0 ? s->amount : 1u << s->warp; rest != 0; rest &= rest - 1)
          add(static_cast<int>(s->kind), std::countr_zero(rest), s->lanes, s->ptx_line, s->which);
      };
      observer.accesses = true;
      observer.steps = false;
      observer.pieces = pieces;
      options.observers.push_back(observer);
      test::run_ptx(text, l, options);
    }
    EXPECT_EQ(all[0], all[1]);
    // Of five warps: 32 looks a warp, four times, and once of one; what they pass; and three barriers.
    EXPECT_GT(all[0].size(), 4 * 5 * 32u + 32u);
    EXPECT_GT(events[0], events[1] + 300);
  }
}

// The law that makes observers sure: every byte of global memory that a launch leaves changed was told of as
// written. Copies of every kind, sizes, swizzles and reductions; tensor maps that kernels change.
TEST(Port, NothingChangesThatNobodyWasToldOf) {
  for (const probe::AsyncFamily& family : probe::async_families())
    for (uint64_t seed = 1; seed <= 16; ++seed) {
      const probe::AsyncCase c = family.draw(seed);
      launch::Launch launch = c.launch;
      std::set<uint64_t> written;
      run::Options options;
      options.schedule = {seed % 2 == 0 ? run::Policy::lazy : run::Policy::random, seed};
      options.observers.push_back({[&](const machine::Event& event) {
                                     const auto* a = std::get_if<machine::Access>(&event.what);
                                     if (a == nullptr || a->kind == AccessKind::read) return;
                                     for (size_t i = 0; i < a->addresses.size(); ++i)
                                       if (a->lanes == 0 || (a->lanes >> i & 1) != 0)
                                         for (uint64_t b = 0; b < a->bytes; ++b)
                                           written.insert(a->addresses[i] + b);
                                   },
                                   true});
      try {
        test::run_ptx(c.ptx, launch, options, false);
      } catch (const machine::Fault&) {
        continue;  // nothing is left to look at
      }
      machine::Memory same;  // gives the same addresses
      for (size_t n = 0; n < launch.buffers.size(); ++n) {
        const launch::Buffer& before = c.launch.buffers[n];
        const launch::Buffer& after = launch.buffers[n];
        const uint64_t base = same.allocate(before.name, before.size()).base();
        for (size_t i = 0; i < before.bytes.size(); ++i)
          ASSERT_TRUE(before.bytes[i] == after.bytes[i] || written.count(base + i) != 0)
              << family.name << ", seed " << seed << ", byte " << i << " of '" << before.name
              << "': " << c.description;
      }
    }
}

}  // namespace
}  // namespace bitwell::isa
