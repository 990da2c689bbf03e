// What a run seldom meets: an access over the end of a frame, stores of which some lanes' memory is followed
// and others' is not, a barrier that another warp has long passed, printf of what nobody wrote.
#include <gtest/gtest.h>

#include "../kernel.h"
#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"
#include "model/run/watch/follow.h"
#include "model/run/watch/numeric.h"

namespace bitwell::run {
namespace {

// %r0: the thread; %a0: `out`, 64 words; %p1: odd threads.
test::Kernel seldom(const std::string& body, uint32_t threads = 32) {
  return {
      .parameters = ".param .u64 out",
      .registers = ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b32 %u; .reg .b64 %a<8>;",
      .shared = ".shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;",
      .start = "ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.ne.u32 %p1, %r1, 0;",
      .body = body,
      .shape = {.block = {threads, 1, 1}},
      .buffers = {test::output(256)},
      .all_written = false};
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SeldomRuns, AnAccessThatLeavesItsFrame) {
  for (const auto& [at, held] :
       {std::pair{"0", true}, {"16", true}, {"32", false}, {"24", false}, {"28", false}}) {
    const std::string end = seldom(
                                ".local .align 16 .b8 frame[32];\nmov.u64 %a2, frame; st.local.v4.u32 [%a2], "
                                "{%r0, %r0, %r0, %r0}; st.local.v4.u32 [%a2+16], {%r0, %r0, %r0, %r0};\n"
                                "ld.local.v4.u32 {%r2, %r3, %r4, %r5}, [%a2+" +
                                std::string(at) + "];")
                                .run()
                                .end();
    EXPECT_EQ(end == "held", held) << at << ": " << end;
  }
  const std::string over = seldom(
                               ".local .align 8 .b8 frame[24];\nmov.u64 %a2, frame; st.local.v4.u32 "
                               "[%a2+16], {%r0, %r0, %r0, %r0};")
                               .run()
                               .end();
  EXPECT_TRUE(has(over, "of local memory, which has 24 bytes")) << over;
}

// Even lanes store into shared memory, odd ones into a variable, which counts as written as a whole: what
// stands there already, but lanes 4 and 5, and lane 6, into whose word nobody has written.
TEST(SeldomRuns, LanesThatStoreWhatIsThereAreTold) {
  test::Kernel k = seldom(
      "mov.u32 %r2, tile; mad.lo.u32 %r2, %r0, 4, %r2; setp.ne.u32 %p2, %r0, 6; @%p2 st.shared.u32 [%r2], "
      "%r0;\n"
      "mov.u64 %a2, variable; cvta.global.u64 %a2, %a2; mul.wide.u32 %a3, %r0, 4; add.u64 %a2, %a2, %a3;\n"
      "@%p1 st.u32 [%a2], %r0;\n"
      "cvt.u64.u32 %a4, %r2; cvta.shared.u64 %a4, %a4; selp.b64 %a4, %a2, %a4, %p1;\n"
      "and.b32 %r3, %r0, 30; setp.eq.u32 %p2, %r3, 4; mov.u32 %r4, %r0; @%p2 mov.u32 %r4, 99;\n\n\n"
      "st.u32 [%a4], %r4;");
  k.module = ".global .align 4 .u32 variable[32] = {1};";
  std::vector<uint32_t> unchanged;
  const int line = k.first_line() + 7;
  k.options.observers.push_back({[&](const machine::Event& event) {
                                   const auto* a = std::get_if<machine::Access>(&event.what);
                                   if (a != nullptr && a->ptx_line == line) unchanged.push_back(a->unchanged);
                                 },
                                 true,
                                 {},
                                 false});
  for (const bool checked : {true, false}) {
    k.options.checked = checked;
    unchanged.clear();
    EXPECT_EQ(k.run().end(), "held");
    EXPECT_EQ(unchanged, std::vector<uint32_t>{~(1u << 4 | 1u << 5 | 1u << 6)}) << checked;
  }
}

// Warp 0 has passed barrier 1, and waits for an mbarrier when warp 1 meets there without half of its threads.
TEST(SeldomRuns, ANoteOfABarrierIsOfWhoWaitsThere) {
  for (const char* ends : {"@%p1", "@!%p1"}) {
    const test::Left left =
        seldom(
            "setp.ge.u32 %p2, %r0, 32; setp.eq.u32 %p3, %r0, 0; @%p3 mbarrier.init.shared.b64 [bar], 1;\n"
            "barrier.sync 0;\n@%p2 bra second;\nbar.sync 1, 32;\n"
            "wait: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra wait; ret;\n"
            "second: mov.u32 %r2, 0; count: add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 3000; @%p3 bra "
            "count;\n" +
                std::string(ends) +
                " exit;\nbar.sync 1, 32;\nand.b32 %r3, %r0, 30; setp.eq.u32 %p3, %r3, 0; @%p3 "
                "mbarrier.arrive.shared.b64 _, [bar];",
            64)
            .run();
    ASSERT_EQ(left.end(), "held") << ends;
    ASSERT_EQ(left.notes.size(), 1u) << ends;
    EXPECT_TRUE(has(left.notes[0].text, "have ended without it")) << left.notes[0].text;
    EXPECT_EQ(left.notes[0].place.thread[0], ends[1] == '%' ? 32u : 33u);
  }
}

// %d of the word at tile + 16; the format stands in a variable.
test::Kernel printing(const std::string& before) {
  test::Kernel k = seldom("setp.ne.u32 %p2, %r0, 0; @%p2 ret;\n" + before +
                          "\nmov.u64 %a2, format; cvta.global.u64 %a2, %a2; mov.u64 %a3, tile; "
                          "cvta.shared.u64 %a3, %a3; add.u64 %a3, "
                          "%a3, 16;\n{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %a2; "
                          "st.param.b64 [v], %a3;\n"
                          "call.uni (r), vprintf, (f, v); }");
  k.module =
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
      ".global .align 1 .b8 format[4] = {37, 100, 33, 0};";
  return k;
}

TEST(SeldomRuns, WhatPrintfPrintsWasWritten) {
  for (const bool checked : {true, false})
    for (const bool written : {true, false}) {
      test::Kernel k = printing(written ? "st.shared.u32 [tile+16], 7;" : "");
      std::string printed;
      k.options.print = [&](std::string_view text) { printed += text; };
      k.options.checked = checked;
      const std::string end = k.run().end();
      EXPECT_EQ(end == "held", written || !checked) << end;
      EXPECT_EQ(printed, written ? "7!" : checked ? "" : "0!");
      if (checked && !written) {
        EXPECT_TRUE(has(end, "printf prints argument 1, of 4 bytes, which was never written")) << end;
      }
    }
}

// The word that is printed comes from the store of access 2, behind the parameter's.
TEST(SeldomRuns, WhatIsPrintedIsAUse) {
  test::Kernel k = printing("st.shared.u32 [tile+16], 7;");
  std::string printed;
  k.options.print = [&](std::string_view text) { printed += text; };
  Follow follow({{2, machine::kSharedWindow + 16, 4}});
  k.options.follow = &follow;
  EXPECT_EQ(k.run().end(), "held");
  EXPECT_EQ(follow.met(), 1u);
  ASSERT_EQ(follow.uses().size(), 1u);
  EXPECT_EQ(follow.uses()[0].as, "what printf prints");
  EXPECT_EQ(printed, "7!");
}

// Where nothing is known of what was written nothing is followed.
TEST(SeldomRuns, AnUncheckedLaunchFollowsNothingInSharedMemory) {
  test::Kernel k = seldom("mov.u32 %r2, tile; mad.lo.u32 %r2, %r0, 4, %r2; st.shared.u32 [%r2], %r0;");
  for (const bool checked : {true, false}) {
    Follow follow({{2, machine::kSharedWindow, 4}});
    k.options.follow = &follow;
    k.options.checked = checked;
    EXPECT_EQ(k.run().end(), "held");
    EXPECT_EQ(follow.met(), checked ? 1u : 0u);
  }
}

// What a table of three inputs says where some of them are known (PTX ISA 9.0, 9.7.8.7: the table's bit is
// that of a, b and c as 0xF0, 0xCC and 0xAA have them): bit 0 of the result alone is looked at.
TEST(SeldomRuns, ATableOfThreeInputsIsKnownWhereTheOthersDoNotMatter) {
  struct Case {
    const char *a, *b, *c, *table;
    bool known;
  };
  for (const Case& c : {Case{"%u", "%u", "%u", "0x00", true}, {"%u", "%u", "%u", "0xFF", true},
                        {"%u", "%u", "%u", "0x96", false},    {"%u", "0", "%u", "0x80", true},
                        {"%u", "2", "%u", "0x80", true},      {"%u", "1", "%u", "0x80", false},
                        {"%u", "-1", "%u", "0xFE", true},     {"%u", "1", "%u", "0xFE", true},
                        {"%u", "2", "%u", "0xFE", false},     {"5", "%u", "%u", "0xF0", true},
                        {"%u", "5", "%u", "0xCC", true},      {"%u", "%u", "5", "0xAA", true},
                        {"%u", "5", "5", "0xF0", false},      {"5", "%u", "5", "0xCC", false},
                        {"5", "5", "%u", "0xAA", false},      {"1", "%u", "7", "0xCA", false},
                        {"0", "%u", "7", "0xCA", true},       {"1", "7", "%u", "0xCA", true},
                        {"%u", "7", "7", "0xCA", true},       {"%u", "6", "7", "0xCA", false}}) {
    const std::string end = seldom("lop3.b32 %r2, " + std::string(c.a) + ", " + c.b + ", " + c.c + ", " +
                                   c.table + "; and.b32 %r2, %r2, 1; setp.eq.u32 %p2, %r2, 0; @%p2 exit;")
                                .run()
                                .end();
    EXPECT_EQ(end == "held", c.known) << c.a << " " << c.b << " " << c.c << " " << c.table << ": " << end;
  }
}

// Of several CTAs, on several host threads, as many bits as the one that loses most: 2048 and 1, of which 2
// is the last place; 1.5 in CTA 5.
TEST(SeldomRuns, LostBitsAreTheMostOfAllClusters) {
  const test::Kernel k{
      .parameters = ".param .u64 out",
      .registers = ".reg .pred %p; .reg .b16 %h<4>; .reg .b32 %r; .reg .b64 %a<2>;",
      .start =
          "ld.param.u64 %a0, [out]; mov.u32 %r, %ctaid.x; mul.wide.u32 %a1, %r, 2; add.u64 %a0, %a0, %a1;",
      .body =
          "mov.b16 %h0, 0x6800; mov.b16 %h1, 0x3C00; setp.eq.u32 %p, %r, 5; @%p mov.b16 %h1, 0x3E00;\n"
          "add.rn.f16 %h2, %h0, %h1; st.global.b16 [%a0], %h2;",
      .shape = {.grid = {8, 1, 1}, .block = {1, 1, 1}},
      .buffers = {test::output(16)}};
  for (const unsigned threads : {1u, 2u, 4u}) {
    const auto program = std::make_shared<isa::Program>(isa::compile(ptx::parse(k.text()), "k"));
    const NumericWatch watch(*program, Bound{0});
    launch::Launch l = k.launch();
    Options options;
    options.threads = threads;
    test::run_ptx(std::make_shared<const isa::Module>(program), l, options);
    const std::vector<Losses> losses = watch.losses();
    ASSERT_EQ(losses.size(), 1u);
    EXPECT_EQ(losses[0].shortened.count, 8u) << threads;
    EXPECT_EQ(losses[0].shortened.bits, 2) << threads;
    EXPECT_EQ(losses[0].shortened.first.cta[0], 0u) << threads;
  }
}

// Tiles of whole lines go to and from shared memory, of which an unchecked launch does not know what was
// written: rows 0 to 15 of columns 0 to 31 into rows 16 to 31 of columns 32 to 63.
TEST(SeldomRuns, TilesOfAnUncheckedLaunch) {
  test::Kernel k{
      .parameters = ".param .u64 words, .param .align 128 .b8 map[128]",
      .registers = ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %a<4>;",
      .shared = ".shared .align 1024 .b8 tile[2048]; .shared .align 8 .b64 bar;",
      .start = "mov.b64 %a1, map; cvta.param.u64 %a1, %a1; mov.u32 %r0, 0; mov.u32 %r1, 32; mov.u32 %r2, 16;",
      .body =
          "mbarrier.init.shared.b64 [bar], 1; fence.proxy.async;\n"
          "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n"
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%a1, "
          "{%r0, "
          "%r0}], [bar];\n"
          "wait: mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0; @!%p0 bra wait;\n"
          "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%a1, {%r1, %r2}], [tile];\n"
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
      .shape = {.block = {1, 1, 1}},
      .buffers = {{"words", std::vector<std::byte>(64 * 32 * 4), true, false, true}}};
  std::vector<uint32_t> words(64 * 32);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = 1000 + i;
  std::memcpy(k.buffers[0].bytes.data(), words.data(), 4 * words.size());
  for (uint32_t y = 0; y < 16; ++y)
    for (uint32_t x = 0; x < 32; ++x) words[(16 + y) * 64 + 32 + x] = 1000 + y * 64 + x;
  for (const bool checked : {true, false})
    for (const machine::TensorSwizzle swizzle :
         {machine::TensorSwizzle::none, machine::TensorSwizzle::b128}) {
      launch::Launch l = k.launch();
      machine::TensorMap map;
      map.type = machine::TensorType::u32;
      map.rank = 2;
      map.dims[0] = 64;
      map.dims[1] = 32;
      map.strides[0] = 4;
      map.strides[1] = 256;
      map.box[0] = 32;
      map.box[1] = 16;
      map.swizzle = swizzle;
      l.add_tensor_map(0, map);
      k.options.checked = checked;
      const test::Left left = k.run(std::move(l));
      EXPECT_EQ(left.end(), "held");
      EXPECT_EQ(left.all<uint32_t>(0), words) << checked;
    }
}

}  // namespace
}  // namespace bitwell::run
