// Tensor memory: who has columns of it, which register of which thread holds which cell, and what has to be
// waited for (PTX ISA 9.0, 9.7.16). No B200 was asked: manual, and the formulas that CUTLASS and tests paired
// with a B200 agree on.
#include <gtest/gtest.h>

#include <cstring>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// 128 threads; %r0 is the thread, %r1 the warp's first lane << 16, `base` the first of `columns` columns that
// warp 0 has allocated. `out` is at %a0, and %a1 points at the thread's own word of it.
test::Kernel kernel(const std::string& body, int columns, const std::string& end) {
  return {.target = "sm_100a",
          .parameters = ".param .u64 out",
          .registers = ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b32 %v<140>;\n.reg .b64 %a<4>;",
          .shared = ".shared .align 8 .b8 bar[8];\n.shared .align 4 .b32 base;",
          .start =
              "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\n"
              "setp.eq.u32 %p0, %r1, 0;\nshl.b32 %r1, %r1, 21;\nmul.wide.u32 %a1, %r0, 4;\n"
              "add.u64 %a1, %a0, %a1;\n"
              "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], " +
              std::to_string(columns) + ";\nbar.sync 0;\nld.shared.b32 %r2, [base];\nadd.u32 %r2, %r2, %r1;",
          .body = body,
          .finish = "bar.sync 0;\nld.shared.b32 %r3, [base];\n" + end};
}
std::string freed(int columns) {
  return "@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, " + std::to_string(columns) + ";\n";
}

struct Outcome {
  std::string what;
  std::vector<uint32_t> out;
  std::vector<run::Note> notes;
};
Outcome run(test::Kernel k, size_t words = 1, run::Policy policy = run::Policy::lazy, bool strict = false,
            uint32_t threads = 128) {
  k.shape.block = {threads, 1, 1};
  k.buffers = {test::output(4 * threads * words)};
  k.options.schedule.policy = policy;
  k.options.strict = strict;
  const test::Left left = k.run();
  return {left.fault, left.fault.empty() ? left.all<uint32_t>(0) : std::vector<uint32_t>(), left.notes};
}

// The registers %v0, %v1, ... in braces.
std::string registers(size_t count) {
  std::string out = "{";
  for (size_t i = 0; i < count; ++i) out += (i == 0 ? "%v" : ", %v") + std::to_string(i);
  return out + "}";
}
// Each thread's registers into `out`, [register][thread].
std::string store_registers(size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += "st.global.u32 [%a1+" + std::to_string(512 * i) + "], %v" + std::to_string(i) + ";\n";
  return out;
}
// Every cell of 64 columns gets lane << 16 | column, by the one shape that is plain: thread i, register j is
// lane i, column j.
std::string fill_with_coordinates() {
  std::string out = "shr.u32 %r4, %r0, 5;\nshl.b32 %r4, %r0, 16;\n";
  for (int i = 0; i < 64; ++i) out += "or.b32 %v" + std::to_string(i) + ", %r4, " + std::to_string(i) + ";\n";
  return out + "tcgen05.st.sync.aligned.32x32b.x64.b32 [%r2], " + registers(64) +
         ";\ntcgen05.wait::st.sync.aligned;\n";
}

struct Shape {
  const char* name;
  int columns, registers, most;  // of .x1; the largest .num
  // Lane and column of thread t's register r.
  uint32_t (*lane)(uint32_t t, uint32_t r);
  uint32_t (*column)(uint32_t t, uint32_t r);
};
const Shape kShapes[] = {
    {"32x32b", 1, 1, 128, [](uint32_t t, uint32_t) { return t; }, [](uint32_t, uint32_t r) { return r; }},
    {"16x64b", 2, 1, 128, [](uint32_t t, uint32_t) { return t / 4 + 8 * (t % 2); },
     [](uint32_t t, uint32_t r) { return t / 2 % 2 + 2 * r; }},
    {"16x128b", 4, 2, 64, [](uint32_t t, uint32_t r) { return t / 4 + 8 * (r % 2); },
     [](uint32_t t, uint32_t r) { return t % 4 + 4 * (r / 2); }},
    {"16x256b", 8, 4, 32, [](uint32_t t, uint32_t r) { return t / 4 + 8 * (r / 2 % 2); },
     [](uint32_t t, uint32_t r) { return r % 2 + 2 * (t % 4) + 8 * (r / 4); }},
};

TEST(TensorMemory, EveryShapeLoadsTheCellsThatItShould) {
  for (const Shape& s : kShapes)
    for (const int times : {1, 2, 4, 8, 16, 32, 64})
      for (const int half : {0, 16}) {
        if (times > s.most || s.columns * times > 64) continue;
        if (half != 0 && std::string(s.name) == "32x32b") continue;
        const auto count = static_cast<size_t>(s.registers * times);
        const Outcome o = run(kernel(fill_with_coordinates() + "tcgen05.ld.sync.aligned." + s.name + ".x" +
                                         std::to_string(times) + ".b32 " + registers(count) + ", [%r2+" +
                                         std::to_string(half << 16) + "];\ntcgen05.wait::ld.sync.aligned;\n" +
                                         store_registers(count),
                                     64, freed(64)),
                              count);
        ASSERT_EQ(o.what, "") << s.name;
        for (uint32_t r = 0; r < count; ++r)
          for (uint32_t t = 0; t < 128; ++t) {
            const uint32_t lane = t / 32 * 32 + static_cast<uint32_t>(half) + s.lane(t % 32, r);
            ASSERT_EQ(o.out[r * 128 + t], lane << 16 | s.column(t % 32, r))
                << s.name << ".x" << times << ", thread " << t << ", register " << r;
          }
      }
}

TEST(TensorMemory, TheSplitShapeCountsColumnsAsTheyAre) {
  for (const uint32_t gap : {1u, 2u, 7u, 30u}) {
    const Outcome o =
        run(kernel(fill_with_coordinates() + "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%v0, %v1}, [%r2], " +
                       std::to_string(gap) + ";\ntcgen05.wait::ld.sync.aligned;\n" + store_registers(2),
                   64, freed(64)),
            2);
    ASSERT_EQ(o.what, "");
    for (uint32_t r = 0; r < 2; ++r)
      for (uint32_t t = 0; t < 128; ++t)
        ASSERT_EQ(o.out[r * 128 + t], (t / 32 * 32 + t % 16) << 16 | (r + (t % 32 / 16) * gap))
            << "gap " << gap << ", thread " << t << ", register " << r;
  }
}

// sm_103a: a thread's registers and the least or greatest of them, of eight words that its lane holds.
TEST(TensorMemory, LoadsFindTheLeastAndTheGreatest) {
  constexpr uint32_t nan = 0x7FC12345;
  constexpr uint32_t rows[4][8] = {
      {0x3F800000, 0xBF800000, 0x40000000, 0x00000000, 0x80000000, 0xC0400000, 5, 0x7F800000},
      {nan, 0xFFFFFFFF, 0x40000000, 0x3F800000, 0x00000001, 0x80000001, 0xFF800000, nan},
      {nan, nan, nan, nan, nan, nan, nan, nan},
      {0x80000000, 0, 0x80000000, 0, 0, 0x80000000, 0, 0},
  };
  struct Case {
    const char* modifiers;
    uint32_t want[4];
  };
  constexpr uint32_t canonical = 0x7FFFFFFF;
  const Case cases[] = {
      {".min.f32", {0xC0400000, 0xFF800000, canonical, 0x80000000}},
      {".max.f32", {0x7F800000, 0x40000000, canonical, 0}},
      {".f32.min.abs", {0, 1, canonical, 0}},
      {".max.abs.f32", {0x7F800000, 0x7F800000, canonical, 0}},
      {".max.NaN.f32", {0x7F800000, canonical, canonical, 0}},
      {".min.abs.NaN.f32", {0, canonical, canonical, 0}},
      {".min.u32", {0, 1, nan, 0}},
      {".max.u32", {0xC0400000, 0xFFFFFFFF, nan, 0x80000000}},
      {".s32.min", {0x80000000, 0x80000001, nan, 0x80000000}},
      {".max.s32", {0x7F800000, nan, nan, 0}},
  };
  for (const Case& c : cases) {
    std::string body = "and.b32 %r4, %r0, 3;\n";
    for (int i = 0; i < 8; ++i)
      for (int row = 0; row < 4; ++row)
        body += "setp.eq.u32 %p1, %r4, " + std::to_string(row) + ";\n@%p1 mov.b32 %v" + std::to_string(i) +
                ", " + std::to_string(rows[row][i]) + ";\n";
    body += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r2], " + registers(8) +
            ";\ntcgen05.wait::st.sync.aligned;\ntcgen05.ld.red.sync.aligned.32x32b.x8" + c.modifiers + " " +
            registers(8) + ", %v8, [%r2];\ntcgen05.wait::ld.sync.aligned;\n" + store_registers(9);
    test::Kernel k = kernel(body, 32, freed(32));
    k.target = "sm_103a";
    const Outcome o = run(k, 9);
    ASSERT_EQ(o.what, "") << c.modifiers;
    for (uint32_t t = 0; t < 128; ++t) {
      for (uint32_t r = 0; r < 8; ++r) ASSERT_EQ(o.out[r * 128 + t], rows[t % 4][r]);
      ASSERT_EQ(o.out[8 * 128 + t], c.want[t % 4]) << c.modifiers << ", thread " << t;
    }
  }
}

// Two columns a register, 16 bits of each: unpack and pack are each other's inverse, and the cells hold the
// halves.
TEST(TensorMemory, PackedMovesTakeTwoColumns) {
  const Outcome o = run(kernel("shl.b32 %r4, %r0, 16;\nor.b32 %v0, %r4, 7;\nor.b32 %v1, %r4, 9;\n"
                               "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r2], {%v0, %v1};\n"
                               "tcgen05.wait::st.sync.aligned;\n"
                               "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v2, %v3, %v4, %v5}, [%r2];\n"
                               "tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%v0, %v1}, [%r2];\n"
                               "tcgen05.wait::ld.sync.aligned;\n" +
                                   store_registers(6),
                               32, freed(32)),
                        6);
  ASSERT_EQ(o.what, "");
  for (uint32_t t = 0; t < 128; ++t) {
    const uint32_t want[6] = {t << 16 | 7, t << 16 | 9, 7, t, 9, t};
    for (uint32_t r = 0; r < 6; ++r) ASSERT_EQ(o.out[r * 128 + t], want[r]) << t << ", register " << r;
  }
}

TEST(TensorMemory, WhatWasNeverStoredIsNoValue) {
  const Outcome o =
      run(kernel("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r2];\n"
                 "tcgen05.wait::ld.sync.aligned;\n" +
                     store_registers(1),
                 32, freed(32)));
  EXPECT_NE(o.what.find("never written"), std::string::npos) << o.what;
}

// The least of two words of which one was never stored has no value either.
TEST(TensorMemory, TheExtremeOfWhatWasNeverStoredIsNoValue) {
  const auto what = [](const char* cells) {
    test::Kernel k = kernel(std::string("tcgen05.st.sync.aligned.32x32b.") + cells +
                                ";\ntcgen05.wait::st.sync.aligned;\n"
                                "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%v0, %v1}, %v2, [%r2];\n"
                                "tcgen05.wait::ld.sync.aligned;\nst.global.u32 [%a1], %v2;\n",
                            32, freed(32));
    k.target = "sm_103a";
    return run(k).what;
  };
  EXPECT_EQ(what("x2.b32 [%r2], {%r0, %r1}"), "");
  EXPECT_NE(what("x1.b32 [%r2], {%r0}").find("never written"), std::string::npos)
      << what("x1.b32 [%r2], {%r0}");
}

struct Mistake {
  const char* name;
  std::string body;
  int columns;
  std::string end;
  const char* says;
};

TEST(TensorMemory, MistakesAreNamed) {
  const std::string st = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r0};\n";
  const std::string ld = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r2];\n";
  const std::string wait_st = "tcgen05.wait::st.sync.aligned;\n";
  const std::string wait_ld = "tcgen05.wait::ld.sync.aligned;\n";
  const Mistake mistakes[] = {
      {"kept", st + wait_st, 32, "", "the CTA ends with columns 0 to 31 of tensor memory allocated"},
      {"freed twice", st + wait_st, 32, freed(32) + freed(32),
       "tcgen05.dealloc of 32 columns from column 0 on; allocated: no columns"},
      {"freed in part", st + wait_st, 64, freed(32),
       "tcgen05.dealloc of 32 columns from column 0 on; allocated: columns 0 to 63"},
      {"grows", "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;\n", 32, freed(32),
       "tcgen05.alloc of 64 columns after one of 32: allocations of a CTA must not grow"},
      {"no power of two",
       "mov.u32 %r4, 48;\n@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], %r4;\n", 64,
       freed(64), "tcgen05.alloc of 48 columns, it must be a power of two from 32 to 512"},
      {"relinquished",
       "@%p0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
       "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;\n",
       32, freed(32), "tcgen05.alloc after tcgen05.relinquish_alloc_permit"},
      {"beyond its columns", "add.u32 %r2, %r2, 32;\n" + st + wait_st, 32, freed(32),
       "tcgen05.st reaches column 32 of tensor memory; allocated: columns 0 to 31"},
      {"half beyond",
       "add.u32 %r2, %r2, 31;\ntcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%r0, %r0};\n" + wait_st, 32,
       freed(32), "tcgen05.st reaches columns 31 to 32 of tensor memory"},
      {"not the first of its lanes", "add.u32 %r2, %r2, 65536;\n" + st + wait_st, 32, freed(32),
       "at lane 97 of tensor memory by warp 3, which reaches lanes 96 to 127"},
      {"lanes that are not there", "add.u32 %r2, %r2, 8388608;\n" + st + wait_st, 32, freed(32),
       "at lane 224 of tensor memory by warp 3, which reaches lanes 96 to 127"},
      {"an address of its own for each thread", "add.u32 %r2, %r2, %r0;\n" + ld + wait_ld, 32, freed(32),
       "a tensor memory address differs between threads of a warp"},
      {"columns of its own for each thread",
       "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar], %r0;\n", 32, freed(32),
       "the number of columns differs between threads of a warp"},
      {"load not waited for", st + wait_st + ld + st + wait_st + wait_ld, 32, freed(32),
       "tcgen05.st writes cells of tensor memory that the tcgen05.ld of PTX line"},
      {"another cta_group", "", 32, "@%p0 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n",
       "there is no pair"},
  };
  for (const Mistake& m : mistakes) {
    const Outcome o = run(kernel(m.body, m.columns, m.end));
    EXPECT_NE(o.what.find(m.says), std::string::npos) << m.name << ": " << o.what;
  }
  EXPECT_EQ(run(kernel(st + wait_st + ld + wait_ld + "st.global.u32 [%a1], %v0;\n", 32, freed(32))).what, "");
}

// An address with the lanes of another quarter, as DeepGEMM's epilogues have it: each warp takes its own.
TEST(TensorMemory, AWarpTakesTheLanesOfItsQuarter) {
  for (const uint32_t quarter : {0u, 1u, 2u, 3u})
    for (const uint32_t half : {0u, 16u}) {
      const std::string there = "ld.shared.b32 %r5, [base];\nadd.u32 %r5, %r5, " +
                                std::to_string((32 * quarter + half) << 16) + ";\n";
      const std::string shape = half == 0 ? "32x32b" : "16x64b";
      const test::Kernel k =
          kernel(fill_with_coordinates() + there + "tcgen05.ld.sync.aligned." + shape +
                     ".x1.b32 {%v0}, [%r5];\ntcgen05.wait::ld.sync.aligned;\nadd.u32 %v0, %v0, 7;\n"
                     "tcgen05.st.sync.aligned." +
                     shape + ".x1.b32 [%r5], {%v0};\ntcgen05.wait::st.sync.aligned;\nadd.u32 %r5, %r2, " +
                     std::to_string(half << 16) + ";\ntcgen05.ld.sync.aligned." + shape +
                     ".x1.b32 {%v1}, [%r5];\ntcgen05.wait::ld.sync.aligned;\n" + store_registers(2),
                 64, freed(64));
      const Outcome o = run(k, 2);
      ASSERT_EQ(o.what, "") << quarter;
      const Shape& s = kShapes[half == 0 ? 0 : 1];
      for (uint32_t t = 0; t < 128; ++t) {
        const uint32_t cell = (t / 32 * 32 + half + s.lane(t % 32, 0)) << 16 | s.column(t % 32, 0);
        ASSERT_EQ(o.out[t], cell + 7) << "quarter " << quarter << ", thread " << t;
        ASSERT_EQ(o.out[128 + t], cell + 7) << "quarter " << quarter << ", thread " << t;
      }
      ASSERT_EQ(o.notes.size(), 2u);
      for (const run::Note& n : o.notes)
        EXPECT_EQ(n.times, 3u) << n.text;  // of the three warps that it is not of
      EXPECT_EQ(
          o.notes[0].text,
          "tcgen05.ld at the lanes of another warp's quarter of tensor memory: it takes those of its own");
      const std::string strict = run(k, 2, run::Policy::lazy, true).what;
      EXPECT_NE(strict.find(o.notes[0].text), std::string::npos) << strict;
    }
}

// What depends on a load's registers is behind it (9.7.16.6.4.5); only its cells are still to be waited for.
TEST(TensorMemory, RegistersOfALoadNeedNoWait) {
  const Outcome o =
      run(kernel("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r0};\ntcgen05.wait::st.sync.aligned;\n"
                 "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r2];\nst.global.u32 [%a1], %v0;\n"
                 "tcgen05.wait::ld.sync.aligned;\n",
                 32, freed(32)));
  ASSERT_EQ(o.what, "");
  for (uint32_t t = 0; t < 128; ++t) ASSERT_EQ(o.out[t], t);
}

// What a store has read counts as used, as what an add has: where it goes over the cells that the load has
// read is a note.
TEST(TensorMemory, AStoreUsesWhatALoadBrings) {
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%v0, %v1}, [%r2];\n";
  const std::string end = "tcgen05.wait::ld.sync.aligned;\ntcgen05.wait::st.sync.aligned;\n";
  const auto ends = [&](const std::string& between, bool strict = false) {
    return run(kernel(fill_with_coordinates() + load + between + end + store_registers(2), 64, freed(64)), 2,
               run::Policy::lazy, strict);
  };
  const char* const kStores[] = {
      "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%v0, %v1};\n",  // back in place
      "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%v1, %v0};\n",  //
      ("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2+8], {%v0};\n"     // first elsewhere, in two
       "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%v1};\n"),
  };
  for (const char* store : kStores) {
    const Outcome o = ends(store);
    ASSERT_EQ(o.what, "") << store;
    ASSERT_EQ(o.notes.size(), 1u) << store;
    EXPECT_EQ(o.notes[0].times, 4u);
    EXPECT_NE(o.notes[0].text.find("by tcgen05.st, when its registers have been used"), std::string::npos)
        << o.notes[0].text;
    for (uint32_t t = 0; t < 128; ++t) ASSERT_EQ(o.out[t], t << 16);
    EXPECT_NE(ends(store, true).what.find(o.notes[0].text), std::string::npos);
  }
  // Half of them, and none.
  for (const char* store : {"tcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%v0, %v0};\n",
                            "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%r0, %r0};\n"})
    EXPECT_NE(ends(store).what.find("tcgen05.wait::ld is missing"), std::string::npos) << store;
}

// A store that was not waited for is there when a warp of the same quarter loads or stores, its own or
// another: CUTLASS's attention hands its row maxima so to the warps that correct. Operations are not promised
// that.
TEST(TensorMemory, AStoreIsThereForItsQuarterWithoutAWait) {
  const std::string st = "@%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r0};\n";
  const std::string wait = "@%p1 tcgen05.wait::st.sync.aligned;\n";
  const std::string meet =
      "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n";
  const std::string ld =
      "@%p2 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r2];\n@%p2 tcgen05.wait::ld.sync.aligned;\n"
      "@%p2 st.global.u32 [%a1], %v0;\n";
  const std::string over =
      "@%p2 add.u32 %v0, %r0, 0;\n@%p2 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%v0};\n"
      "@%p2 tcgen05.wait::st.sync.aligned;\n";
  struct Case {
    const char* name;
    std::string p2, second, text;  // whose, what; of the note
  };
  const std::string by_ld =
      "the cells of this tcgen05.st are another's, by tcgen05.ld, without tcgen05.wait::st";
  const std::string by_st =
      "the cells of this tcgen05.st are another's, by tcgen05.st, without tcgen05.wait::st";
  for (const Case& c : {Case{"loads of its own", "setp.lt.u32 %p2, %r0, 32;\n", ld, by_ld},
                        Case{"loads of warp 4", "setp.ge.u32 %p2, %r0, 128;\n", ld, by_ld},
                        Case{"stores of warp 4", "setp.ge.u32 %p2, %r0, 128;\n", over, by_st}})
    for (const bool waits : {false, true}) {
      const test::Kernel k =
          kernel("setp.lt.u32 %p1, %r0, 32;\n" + c.p2 + "@%p2 ld.shared.b32 %r2, [base];\n" + st +
                     (waits ? wait : "") + meet + c.second + wait,
                 32, freed(32));
      const auto ran = [&](bool strict) { return run(k, 1, run::Policy::lazy, strict, 160); };
      const Outcome o = ran(false);
      ASSERT_EQ(o.what, "") << c.name;
      ASSERT_EQ(o.notes.size(), waits ? 0u : 1u) << c.name;
      EXPECT_EQ(ran(true).what.find(c.text) != std::string::npos, !waits) << ran(true).what;
      if (!waits) {
        EXPECT_EQ(o.notes[0].text, c.text);
      }
      if (c.second != ld) continue;
      const uint32_t first = c.p2.find("ge") != std::string::npos ? 128 : 0;
      for (uint32_t t = 0; t < 32; ++t) ASSERT_EQ(o.out[first + t], t) << c.name;
    }
}

// With no room a warp waits until another frees columns; with nobody who could, that is a deadlock.
TEST(TensorMemory, AllocBlocks) {
  const std::string second =
      "setp.eq.u32 %p1, %r1, 2097152;\n"  // warp 1
      "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar], 512;\n"
      "@%p1 ld.shared.b32 %r5, [bar];\n"
      "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 512;\n";
  const std::string first = "ld.shared.b32 %r3, [base];\n" + freed(512);
  EXPECT_EQ(run(kernel(first + second, 512, "")).what, "");
  const Outcome o = run(kernel(second, 512, freed(512)));
  EXPECT_NE(o.what.find("deadlock"), std::string::npos) << o.what;
}

}  // namespace
}  // namespace bitwell::isa
