// Launches of a process that lives on, on bytes of the host.
#include "verify/session/process.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "verify/session/findings.h"
#include "verify/session/words.h"

namespace bitwell::session {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";
const std::string kRegisters = "{\n.reg .pred %p;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n";
const std::string kTwo =
    "ld.param.u64 %a0, [x];\nld.param.u64 %a1, [y];\nmov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %a2, %r0, 4;\nadd.u64 %a3, %a0, %a2;\nadd.u64 %a4, %a1, %a2;\n";

std::string entry(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + "(.param .u64 x, .param .u64 y)\n" + kRegisters + kTwo + body +
         "ret;\n}\n";
}

// x += y by word; in 16 bytes each; x = y; x = 2 x where y is read only to decide.
const std::string kAdd = entry("add",
                               "ld.global.u32 %r1, [%a3];\nld.global.u32 %r2, [%a4];\n"
                               "add.u32 %r1, %r1, %r2;\nst.global.u32 [%a3], %r1;\n");
const std::string kWide = entry("wide",
                                "mul.wide.u32 %a2, %r0, 16;\nadd.u64 %a3, %a0, %a2;\nadd.u64 %a4, %a1, %a2;\n"
                                "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a4];\n"
                                "st.global.v4.u32 [%a3], {%r1, %r2, %r3, %r4};\n");
// A flag of the module and a count of launches.
const std::string kCount = ".visible .global .align 4 .u32 launches = 0;\n" +
                           entry("count",
                                 "ld.global.u32 %r1, [launches];\nadd.u32 %r1, %r1, 1;\n"
                                 "st.global.u32 [launches], %r1;\nst.global.u32 [%a0], %r1;\n");
// All warps store their number to one word.
const std::string kLast = entry("last", "shr.u32 %r1, %r0, 5;\nst.global.u32 [%a0], %r1;\n");
// Lanes exchange words without __syncwarp().
const std::string kExchange =
    ".visible .entry exchange(.param .u64 x, .param .u64 y)\n{\n"
    ".shared .align 4 .b8 tile[128];\n" +
    kRegisters.substr(2) + kTwo +
    "ld.global.u32 %r1, [%a3];\nshl.b32 %r2, %r0, 2;\nmov.u32 %r3, tile;\n"
    "add.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], %r1;\nxor.b32 %r4, %r2, 4;\n"
    "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%a4], %r5;\nret;\n}\n";
// fp16: 60000 + 60000.
const std::string kHalf = entry("half",
                                "mov.b16 %h0, 0x7B53;\nadd.f16 %h1, %h0, %h0;\n"
                                "st.global.b16 [%a3], %h1;\n");

uint64_t address(const void* host) { return reinterpret_cast<uintptr_t>(host); }

struct Fixture {
  Process process;
  isa::ModuleHandle load(const std::string& bodies) { return process.context().load(kHead + bodies); }
  Answer run(const std::string& bodies, const std::string& name, uint32_t threads, uint64_t x, uint64_t y,
             const Judging& how = {}) {
    run::Shape shape;
    shape.block = {threads, 1, 1};
    return process.launch({load(bodies), name, shape, {isa::argument(x), isa::argument(y)}}, how);
  }
};

std::string fault_of(const Answer& answer) { return answer.fault ? answer.fault->what() : ""; }

TEST(Process, KernelsReadAndWriteTheHostsBytesInPlace) {
  for (const size_t shift : {size_t{0}, size_t{1}, size_t{5}}) {  // words from a boundary of 64 bytes
    alignas(64) std::array<uint32_t, 96> host{};
    std::iota(host.begin(), host.end(), 100);
    const std::array<uint32_t, 96> before = host;
    uint32_t *x = &host[shift], *y = &host[40 + shift];
    Fixture f;
    f.process.context().adopt("x", x, 128);
    f.process.context().adopt("y", y, 128);
    const Answer answer = f.run(kAdd, "add", 32, address(x), address(y));
    EXPECT_TRUE(answer.holds()) << describe(answer);
    EXPECT_FALSE(answer.ran);
    for (size_t i = 0; i < host.size(); ++i) {
      const bool inside = i >= shift && i < shift + 32;
      EXPECT_EQ(host[i], inside ? before[i] + before[i + 40] : before[i]) << i;
    }
  }
}

// Nothing beyond its end is touched, by the widest accesses neither: there a page is that nobody may read.
TEST(Process, NothingBehindAdoptedBytesIsTouched) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const from = static_cast<std::byte*>(pages);
  ASSERT_EQ(mprotect(from, page, PROT_READ | PROT_WRITE), 0);
  ASSERT_EQ(mprotect(from + 2 * page, page, PROT_READ | PROT_WRITE), 0);
  std::fill_n(from + 2 * page, page, std::byte{3});
  for (const size_t lanes : {size_t{1}, size_t{7}, size_t{32}}) {
    std::byte *x = from + page - 16 * lanes, *y = from + 3 * page - 16 * lanes;
    Fixture f;
    f.process.context().adopt("x", x, 16 * lanes);
    f.process.context().adopt("y", y, 16 * lanes);
    const Answer answer =
        f.run(kWide, "wide", static_cast<uint32_t>(lanes), address(x), address(y), {.races = true});
    EXPECT_TRUE(answer.holds()) << describe(answer);
    EXPECT_EQ(std::count(x, x + 16 * lanes, std::byte{3}), static_cast<std::ptrdiff_t>(16 * lanes));
    EXPECT_NE(fault_of(f.run(kWide, "wide", static_cast<uint32_t>(lanes + 1), address(x), address(y))), "");
  }
  munmap(pages, 4 * page);
}

// Programs that stand low have their heap below all windows.
TEST(Process, BytesOfALowProgramAreGlobalMemory) {
  constexpr uint64_t kLow = 0x20000000;
  void* const page = mmap(reinterpret_cast<void*>(kLow), 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (address(page) != kLow) GTEST_SKIP() << "the host has something there";
  Fixture f;
  f.process.context().adopt("x", page, 256);
  const std::string where = entry("where",
                                  "isspacep.global %p, %a0;\nselp.u32 %r1, 1, 2, %p;\n"
                                  "st.u32 [%a3], %r1;\n");
  EXPECT_TRUE(f.run(where, "where", 32, kLow, kLow).holds());
  EXPECT_EQ(*static_cast<uint32_t*>(page), 1u);
  const Answer answer = f.run(kLast, "last", 64, kLow, kLow, {.races = true});
  EXPECT_EQ(answer.findings.size(), 1u) << describe(answer);
  munmap(page, 4096);
}

TEST(Process, BetweenTwoArraysNothingIs) {
  alignas(16) std::array<uint32_t, 80> host{};
  Fixture f;
  f.process.context().adopt("x", host.data(), 128);
  f.process.context().adopt("y", &host[40], 128);
  const Answer answer = f.run(kAdd, "add", 33, address(host.data()), address(&host[40]));
  ASSERT_TRUE(answer.fault);
  EXPECT_NE(fault_of(answer).find("128 bytes into 'x' of 128 bytes, 32 bytes before 'y' of 128 bytes"),
            std::string::npos)
      << fault_of(answer);
  EXPECT_EQ(answer.fault->access->object, "x");
}

TEST(Process, WhatWasNeverWrittenIsNotRead) {
  std::array<uint32_t, 64> host{};
  isa::Context* context = nullptr;
  Fixture f;
  context = &f.process.context();
  context->adopt("x", host.data(), 128);
  context->adopt("y", &host[32], 128, false);
  const auto run = [&] { return f.run(kAdd, "add", 32, address(host.data()), address(&host[32])); };
  EXPECT_NE(fault_of(run()).find("'y'"), std::string::npos) << fault_of(run());
  context->mark(address(&host[32]), 128, true);
  EXPECT_EQ(fault_of(run()), "");
  context->mark(address(&host[35]), 4, false);
  EXPECT_NE(fault_of(run()).find("thread (3,0,0)"), std::string::npos) << fault_of(run());
  // What a kernel writes is written.
  const Answer written = f.run(kAdd, "add", 32, address(host.data()), address(host.data()));
  EXPECT_TRUE(written.holds()) << describe(written);
}

TEST(Process, OutputsAreToBeWritten) {
  std::array<uint32_t, 64> host{};
  Fixture f;
  Judging how;
  how.all_written = true;
  how.outputs = {f.process.context().adopt("x", host.data(), 128, false)};
  f.process.context().adopt("y", &host[32], 128);
  const Answer answer = f.run(kWide, "wide", 7, address(host.data()), address(&host[32]), how);
  EXPECT_EQ(fault_of(answer), "byte 112 of output 'x' was never written");
  EXPECT_TRUE(f.run(kWide, "wide", 8, address(host.data()), address(&host[32]), how).holds());
}

TEST(Process, ModulesKeepTheirVariables) {
  std::array<uint32_t, 2> host{};
  Fixture f;
  f.process.context().adopt("x", host.data(), 8);
  const isa::ModuleHandle m = f.load(kCount);
  for (uint32_t i = 1; i <= 3; ++i) {
    Judging how;
    how.races = i == 2;  // the second from a snapshot
    how.schedules = i == 3 ? 4 : 1;
    const Answer answer = f.process.launch(
        {m, "count", {}, {isa::argument(address(host.data())), isa::argument(uint64_t{0})}}, how);
    EXPECT_TRUE(answer.holds()) << describe(answer);
    EXPECT_EQ(host[0], i);
  }
  EXPECT_EQ(f.process.launches(), 3u);
}

TEST(Process, AFaultLeavesItUsable) {
  std::array<uint32_t, 64> host{};
  Fixture f;
  f.process.context().adopt("x", host.data(), 128);
  EXPECT_NE(fault_of(f.run(kAdd, "add", 32, address(host.data()), 64)), "");
  EXPECT_TRUE(f.run(kAdd, "add", 32, address(host.data()), address(host.data())).holds());
  EXPECT_THROW(f.run(kAdd, "none", 32, 0, 0), machine::InputError);
  EXPECT_THROW(f.run(kAdd, "add", 2000, 0, 0), machine::InputError);
  EXPECT_EQ(f.process.launches(), 2u);
}

TEST(Process, RacesHaveBothPlacesAndALevel) {
  std::array<uint32_t, 64> host{};
  Fixture f;
  f.process.context().adopt("x", host.data(), 128);
  f.process.context().adopt("y", &host[32], 128);
  Judging how;
  how.races = true;
  const Answer answer = f.run(kExchange, "exchange", 32, address(host.data()), address(&host[32]), how);
  EXPECT_FALSE(answer.holds());
  const Findings all = findings_of(answer, {});
  ASSERT_EQ(all.fresh.size(), 1u) << describe(answer);
  const Told& told = all.fresh[0].pairs.at(0);
  EXPECT_EQ(told.level, Level::error);
  EXPECT_EQ(told.earlier.instruction, "st.shared.u32");
  EXPECT_EQ(told.later.instruction, "ld.shared.u32");
  EXPECT_EQ(told.launches, std::vector<size_t>{1});
  EXPECT_NE(describe(answer).find("would order them: "), std::string::npos);
  // What it comes to was followed: the launch was made again, and the host's bytes are the first run's.
  Judging explained = how;
  explained.explain = true;
  int again = 0;
  explained.again = [&](int) { ++again; };
  const Answer second = f.run(kExchange, "exchange", 32, address(host.data()), address(&host[32]), explained);
  EXPECT_GT(again, 0);
  EXPECT_NE(describe(second).find("on this run 128 bytes of 'y' come of it"), std::string::npos)
      << describe(second);
}

// A programmatic launch that does not wait reads what the one before may still write.
TEST(Process, LaunchesThatMayOverlapRace) {
  std::array<uint32_t, 64> host{};
  for (const bool programmatic : {false, true}) {
    Fixture f;
    f.process.context().adopt("x", host.data(), 128);
    f.process.context().adopt("y", &host[32], 128);
    Judging how;
    how.races = true;
    EXPECT_TRUE(f.run(kLast, "last", 32, address(host.data()), address(host.data()), how).holds());
    EXPECT_TRUE(f.run(kAdd, "add", 32, address(&host[32]), address(host.data()), how).holds());
    how.programmatic = programmatic;
    const Answer answer = f.run(kAdd, "add", 32, address(host.data()), address(&host[32]), how);
    ASSERT_EQ(answer.findings.empty(), !programmatic) << describe(answer);
    if (!programmatic) continue;
    EXPECT_EQ(answer.findings[0].found.finding.kind, hazard::Kind::grid_wait);
    EXPECT_NE(describe(answer).find("launch 2, 'add'"), std::string::npos) << describe(answer);
    EXPECT_NE(describe(answer).find("launch 3, 'add'"), std::string::npos) << describe(answer);
    // The one behind them overlaps neither.
    how.programmatic = false;
    EXPECT_TRUE(f.run(kAdd, "add", 32, address(host.data()), address(&host[32]), how).holds());
  }
}

// Many CTAs with two warps each, which race in shared memory; long enough for several host threads.
const std::string kMany =
    ".visible .entry many(.param .u64 x, .param .u64 y)\n{\n.shared .align 4 .b8 word[4];\n" +
    kRegisters.substr(2) +
    "ld.param.u64 %a0, [x];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %a2, %r0, 4;\nadd.u64 %a3, %a0, %a2;\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
    "count: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, 2000;\n@%p bra count;\n"
    "setp.lt.u32 %p, %r1, 32;\n@%p st.shared.u32 [word], %r0;\n@!%p ld.shared.u32 %r3, [word];\n"
    "@%p st.global.u32 [%a3], %r0;\nret;\n}\n";

// Its clusters are checked each by itself, until a launch that overlaps it is to be held against it.
TEST(Process, RacesAreTheSameOnAnyNumberOfThreads) {
  constexpr uint32_t kCtas = 96;
  std::string of_one;
  std::vector<uint32_t> host(2 * kCtas);  // findings have its address
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::fill(host.begin(), host.end(), 0);
    Fixture f;
    f.process.context().adopt("x", host.data(), 4 * kCtas);
    f.process.context().adopt("y", &host[kCtas], 4 * kCtas);
    Judging how;
    how.races = true;
    how.options.threads = threads;
    std::string said;
    const auto many = [&](bool programmatic) {
      how.programmatic = programmatic;
      run::Shape shape;
      shape.grid = {kCtas, 1, 1};
      shape.block = {64, 1, 1};
      Answer out = f.process.launch(
          {f.load(kMany), "many", shape, {isa::argument(address(host.data())), isa::argument(uint64_t{0})}},
          how);
      said += describe(out);
      return out;
    };
    const Answer first = many(false);
    ASSERT_EQ(first.findings.size(), 1U) << said;
    EXPECT_EQ(first.findings[0].found.finding.count, kCtas);
    EXPECT_EQ(first.result.host.clusters, threads == 1 ? 0 : kCtas) << first.result.host.why_not_all;
    // Reads what it wrote without a wait: all CTAs of the launch before, by their numbers.
    how.programmatic = true;
    const Answer reads = f.run(kAdd, "add", 32, address(&host[kCtas]), address(host.data()), how);
    said += describe(reads);
    ASSERT_EQ(reads.findings.size(), 1U) << said;
    EXPECT_EQ(reads.findings[0].found.finding.kind, hazard::Kind::grid_wait);
    EXPECT_EQ(reads.findings[0].found.earlier->number, 1U);
    EXPECT_EQ(reads.findings[0].found.later->number, 2U);
    // A third one overlaps both; what follows overlaps nothing, but one check sees it now.
    EXPECT_EQ(many(true).result.host.clusters, 0U);
    EXPECT_EQ(many(false).result.host.clusters, 0U);
    EXPECT_EQ(host[kCtas - 1], kCtas - 1);
    if (threads == 1) of_one = said;
    EXPECT_EQ(said, of_one) << threads << " threads";
  }
}

TEST(Process, OtherSchedulesReachNoByteOfTheHost) {
  std::array<uint32_t, 64> host{};
  std::iota(host.begin(), host.end(), 0);
  const std::array<uint32_t, 64> before = host;
  Fixture f;
  f.process.context().adopt("x", host.data(), 128);
  f.process.context().adopt("y", &host[32], 128);
  Judging how;
  how.schedules = 8;
  const Answer added = f.run(kAdd, "add", 32, address(host.data()), address(&host[32]), how);
  EXPECT_TRUE(added.holds()) << describe(added);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(host[i], before[i] + (i < 32 ? before[i + 32] : 0)) << i;

  const Answer last = f.run(kLast, "last", 96, address(host.data()), address(host.data()), how);
  ASSERT_TRUE(last.parting) << describe(last);
  EXPECT_FALSE(last.holds());
  EXPECT_EQ(host[0], 2u);  // warps in order
  EXPECT_EQ(last.parting->first, "lazy");
  EXPECT_EQ(last.parting->buffer, "x");
  EXPECT_EQ(last.parting->address, address(host.data()));
  EXPECT_EQ(last.parting->of_first, std::byte{2});
  EXPECT_NE(last.parting->of_second, std::byte{2});
  EXPECT_NE(describe(last).find("'x' differs at byte 0: 0x02 under lazy"), std::string::npos)
      << describe(last);
  // Where it is no output, nobody compares it.
  how.outputs = {{address(&host[32]), 128, 0}};
  EXPECT_TRUE(f.run(kLast, "last", 96, address(host.data()), address(host.data()), how).holds());
}

TEST(Process, CountsWhatArithmeticLoses) {
  std::array<uint32_t, 64> host{};
  Fixture f;
  f.process.context().adopt("x", host.data(), 128);
  Judging how;
  how.numeric = true;
  const Answer answer = f.run(kHalf, "half", 32, address(host.data()), 0, how);
  EXPECT_TRUE(answer.holds()) << describe(answer);
  ASSERT_EQ(answer.losses.size(), 1u);
  EXPECT_EQ(answer.losses[0].overflowed.count, 32u);
  EXPECT_TRUE(f.run(kHalf, "half", 32, address(host.data()), 0).losses.empty());
}

// An answer refers to nothing that later launches change.
TEST(Process, AnswersOutliveIt) {
  std::array<uint32_t, 64> host{};
  std::vector<Answer> answers;
  {
    Fixture f;
    f.process.context().adopt("x", host.data(), 128);
    f.process.context().adopt("y", &host[32], 128);
    Judging how;
    how.races = true;
    for (int i = 0; i < 2; ++i)
      answers.push_back(f.run(kExchange, "exchange", 32, address(host.data()), address(&host[32]), how));
  }
  for (const Answer& a : answers) EXPECT_EQ(findings_of(a, {}).errors, 1u) << describe(a);
}

}  // namespace
}  // namespace bitwell::session
