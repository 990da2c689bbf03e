// Branches and guards that hang on a value that was never written: where nothing but registers hangs on them,
// what is known afterwards is what it would be whatever the value were.
#include "model/run/watch/unsure.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <tuple>

#include "../known_lanes.h"
#include "model/run/watch/follow.h"

namespace bitwell::isa {
namespace {

// One warp: %r0 the lane, %q0 points at its word of `out`, %u and %w are never written, %r1 is 7.
test::Kernel unsure_kernel(const std::string& body) {
  return {.module = ".func noted() { ret; }",
          .parameters = ".param .u64 pout",
          .registers =
              ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b32 %u, %w; .reg .b64 %q<8>, %d<4>; .reg .b64 %v;",
          .shared = ".shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;",
          .start =
              "ld.param.u64 %q0, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %q1, %r0, 4; "
              "add.u64 %q0, %q0, %q1; mov.u32 %r1, 7; mov.u64 %d0, 9;",
          .body = body,
          .buffers = {test::output(128)}};
}

std::string ended(const std::string& body) { return unsure_kernel(body).run().end(); }

const std::string kUnknown = "setp.lt.u32 %p0, %u, 5;\n";
const std::string kStore = "\nst.global.b32 [%q0], %r1;";

TEST(Unsure, WhatNoWayWritesIsKnown) {
  for (const char* ways :
       {"@%p0 bra A; add.u32 %r2, %r0, 1; A:", "@!%p0 bra A; add.u32 %r2, %r0, 1; A:",
        "@%p0 bra A; mov.u32 %r2, 1; bra B; A: mov.u32 %r3, 2; B:",
        "@%p0 bra A; setp.lt.u32 %p1, %r0, 9; @%p1 bra B; mov.u32 %r2, 1; bra B; A: mov.u32 %r2, 2; B:",
        "@%p0 bra A; ld.shared.b32 %r2, [tile]; A:", "@%p0 bra A; A:",
        "L: add.u32 %r2, %r0, 1; setp.lt.u32 %p0, %u, 5; @%p0 bra L;",
        "mov.u32 %r2, 0; L: setp.lt.u32 %p0, %u, 5; @%p0 bra A; add.u32 %r2, %r2, 1; bra L; A:",
        "mov.u32 %r3, 0; L: @%p0 bra A; mov.u32 %r2, 1; A: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; "
        "@%p1 bra L;"}) {
    const test::Left left = unsure_kernel(kUnknown + ways + kStore).run();
    ASSERT_EQ(left.end(), "held") << ways;
    ASSERT_EQ(left.notes.size(), 1u) << ways;
    EXPECT_EQ(left.all<uint32_t>(0), std::vector<uint32_t>(32, 7)) << ways;
    EXPECT_EQ(
        left.notes[0].text,
        "a branch hangs on a value that was never written: what either way writes counts as never written");
  }
}

TEST(Unsure, WhatSomeWayWritesIsNot) {
  const std::string output = "a value that was never written is used as an output";
  for (const char* ways :
       {"@%p0 bra A; mov.u32 %r1, 1; A:", "@!%p0 bra A; mov.u32 %r1, 1; A:",
        "@%p0 bra A; mov.u32 %r2, 1; bra B; A: mov.u32 %r1, 2; B:",
        "@%p0 bra A; setp.lt.u32 %p1, %r0, 9; @%p1 bra B; mov.u32 %r1, 1; bra B; A: mov.u32 %r2, 2; B:",
        "st.shared.b32 [tile], 3; @%p0 bra A; ld.shared.b32 %r1, [tile]; A:",
        "st.shared.v2.b32 [tile], {%r1, %r1}; @%p0 bra A; ld.shared.v2.b32 {%r2, %r1}, [tile]; A:",
        "@%p0 bra A; mul.wide.u32 %d0, %r0, 3; A: cvt.u32.u64 %r1, %d0;",
        "@%p0 bra A; setp.lt.u32 %p1|%p2, %r0, 3; A: selp.b32 %r1, 1, 2, %p2;",
        "L: add.u32 %r1, %r0, 1; setp.lt.u32 %p0, %u, 5; @%p0 bra L;", "@%p0 mov.u32 %r1, 3;",
        "st.shared.b32 [tile], 3; @%p0 ld.shared.b32 %r1, [tile];"}) {
    const std::string said = ended(kUnknown + "setp.ge.u32 %p2, %r0, 99;" + ways + kStore);
    EXPECT_NE(said.find(output), std::string::npos) << ways << ": " << said;
  }
}

// It is said what should have brought the value, where that is known.
TEST(Unsure, WhereItShouldHaveComeFromIsTold) {
  const std::string body = "ld.shared.b32 %u, [tile+8];\n" + kUnknown + "@%p0 bra A;\nmov.u32 %r2, 1;\nA:";
  const test::Kernel kernel = unsure_kernel(body + kStore);
  const std::string line = "PTX line " + std::to_string(kernel.first_line());
  const test::Left left = kernel.run();
  ASSERT_EQ(left.notes.size(), 1u) << left.end();
  EXPECT_EQ(left.notes[0].text, "a branch hangs on a value that was never written, which " + line +
                                    " loaded: what either way writes counts as never written");
  EXPECT_EQ(left.notes[0].place.ptx_line, kernel.first_line() + 2);
  const std::string said = ended(body + "\nst.global.b32 [%q0], %r2;");
  EXPECT_NE(
      said.find("as an output: whether it is written hangs on a branch by such a value: none of the 4 bytes "
                "that " +
                line + " loaded from 'tile' + 8"),
      std::string::npos)
      << said;
}

// A branch by what one so passed was to write has no note of its own, however the two are compared.
TEST(Unsure, TheFirstBranchAloneIsNoted) {
  for (const char* second :
       {"setp.lt.u32 %p1, %r2, %u;", "setp.lt.u32 %p1, %u, %r2;", "setp.lt.u32 %p1, %r2, 4;"}) {
    const test::Left left = unsure_kernel(kUnknown + "@%p0 bra A; mov.u32 %r2, 1; A: " + second +
                                          "@%p1 bra B; mov.u32 %r3, 1; B:" + kStore)
                                .run();
    EXPECT_EQ(left.end(), "held") << second;
    EXPECT_EQ(left.notes.size(), 1u) << second;
  }
}

TEST(Unsure, StrictlyItIsAFault) {
  test::Kernel kernel = unsure_kernel(kUnknown + "@%p0 bra A; mov.u32 %r2, 1; A:" + kStore);
  kernel.options.strict = true;
  EXPECT_NE(kernel.run().end().find("a branch hangs on a value that was never written"), std::string::npos);
}

// A lane that does not know its guard executes nothing. Without checks the bit that is there decides, and so
// it does where values are followed: the fuzzer of runs tells by that what may differ (fuzz/ptx_run.cpp).
TEST(Unsure, WithoutChecksTheBitThatIsThereDecides) {
  struct Case {
    const char* ways;
    bool branches;
  };
  for (const Case& c :
       {Case{"@%p0 mov.u32 %r2, 1;", false}, Case{"@%p0 ld.shared.b32 %r2, [tile];", false},
        Case{"@!%p0 bra A; add.u32 %r2, %r0, 1; add.u32 %r2, %r2, 1; A:", true},
        Case{"mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; xor.b32 %r3, %r2, %u; setp.ne.u32 %p1, %r3, 3; "
             "@%p1 bra L;",
             true}}) {
    const std::string text = unsure_kernel(kUnknown + c.ways + kStore).text();
    run::Follow follow({});
    const auto ran = [&](bool checked, run::Follow* by) {
      run::Options options;
      options.checked = checked;
      options.follow = by;
      launch::Launch l = unsure_kernel("").launch();
      const run::RunResult result = test::run_ptx(text, l, options);
      return std::tuple(l.buffers[0].bytes, result.warp_instructions, result.lane_instructions);
    };
    const auto checked = ran(true, nullptr), unchecked = ran(false, nullptr), followed = ran(true, &follow);
    EXPECT_EQ(followed, unchecked) << c.ways;
    ASSERT_FALSE(follow.uses().empty()) << c.ways;
    EXPECT_EQ(follow.uses()[0].as, "a guard predicate") << c.ways;
    EXPECT_EQ(std::get<0>(checked), std::get<0>(unchecked)) << c.ways;
    EXPECT_EQ(std::get<1>(checked) == std::get<1>(unchecked), !c.branches) << c.ways;
    EXPECT_LT(std::get<2>(checked), std::get<2>(unchecked)) << c.ways;
  }
}

// What others may see, or wait for, nobody leaves undone.
TEST(Unsure, MoreThanRegistersIsAFault) {
  struct Case {
    std::string does, name;
  };
  for (const Case& c :
       {Case{"st.global.b32 [%q0], 1;", "st.global.b32"}, Case{"st.shared.b32 [tile], 1;", "st.shared.b32"},
        Case{"atom.shared.add.u32 %r2, [tile], 1;", "atom.shared.add.u32"}, Case{"bar.sync 0;", "bar.sync"},
        Case{"exit;", "exit"}, Case{"trap;", "trap"},
        Case{"shfl.sync.idx.b32 %r2, %r0, 0, 31, -1;", "shfl.sync.idx.b32"}, Case{"call noted;", "call"},
        Case{"membar.gl;", "membar.gl"},
        Case{"ld.volatile.shared.b32 %r2, [tile];", "ld.volatile.shared.b32"},
        Case{"ld.relaxed.gpu.global.b32 %r2, [%q0];", "ld.relaxed.gpu.global.b32"},
        Case{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [tile];", "ldmatrix.sync"},
        Case{"nanosleep.u32 1;", "nanosleep.u32"}}) {
    const test::Kernel kernel = unsure_kernel(kUnknown + "@%p0 bra A;\nmov.u32 %r3, 1;\n" + c.does +
                                              "\nA: st.global.b32 [%q0], %r1;");
    const std::string said = kernel.run().end();
    EXPECT_NE(said.find("used as a guard predicate"), std::string::npos) << c.name << ": " << said;
    // Behind an end, it is what else would have been done.
    const bool ends = c.name == "exit" || c.name == "trap";
    const int line = kernel.first_line() + (ends ? 4 : 3);
    EXPECT_NE(said.find("; it decides whether PTX line " + std::to_string(line) + ", " +
                        (ends ? "st.global.b32" : c.name)),
              std::string::npos)
        << c.name << ": " << said;
  }
  EXPECT_NE(ended(kUnknown + "@%p0 st.shared.b32 [tile], 1;" + kStore).find("used as a guard predicate"),
            std::string::npos);
}

// A table by an index that a branch chose holds some value whatever the branch hangs on; an index that is
// nothing but unknown leads anywhere.
TEST(Unsure, WhatIsLoadedByAChosenAddressIsUnknown) {
  const std::string chosen = kUnknown +
                             "mov.u32 %r3, tile; st.shared.b32 [%r3], 1; st.shared.b32 [%r3+4], 2;\n"
                             "mov.u32 %r2, %r3; @%p0 bra A; add.u32 %r2, %r2, 4; A: ";
  EXPECT_EQ(ended(chosen + "ld.shared.b32 %r4, [%r2];" + kStore), "held");
  EXPECT_NE(
      ended(chosen + "ld.shared.b32 %r1, [%r2];" + kStore).find("used as an output: whether it is written"),
      std::string::npos);
  for (const char* other : {"st.shared.b32 [%r2], 3;", "atom.shared.add.u32 %r4, [%r2], 3;"})
    EXPECT_NE(ended(chosen + other + kStore).find("used as an address"), std::string::npos) << other;
  EXPECT_NE(ended("ld.shared.b32 %r4, [%u];" + kStore).find("used as an address"), std::string::npos);
  EXPECT_NE(ended(kUnknown + "mov.u32 %r2, tile; @%p0 mov.u32 %r2, 4; ld.shared.b32 %r4, [%r2];" + kStore)
                .find("used as an address"),
            std::string::npos);
}

// Three ways from one branch: lanes that do not know go to its end, the others where they should.
TEST(Unsure, LanesThatKnowGoTheirWay) {
  const test::Left left = unsure_kernel(
                              "setp.ge.u32 %p1, %r0, 8; @%p1 mov.u32 %u, %r0; setp.lt.u32 %p0, %u, 20;\n"
                              "@%p0 bra A; mov.u32 %r2, 100; bra B; A: mov.u32 %r2, 200; B:\n"
                              "selp.b32 %r1, %r2, %r0, %p1;" +
                              kStore)
                              .run();
  ASSERT_EQ(left.end(), "held");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(left.all<uint32_t>(0)[lane], lane < 8 ? lane : lane < 20 ? 200 : 100) << lane;
}

// A program of assignments, branches and loops, by choices that shrink.
class Written {
 public:
  explicit Written(const std::vector<uint8_t>& choices) : choices_(choices) { block(0); }
  const std::string& text() const { return text_; }
  bool branches() const { return labels_ != 0; }

 private:
  static constexpr uint32_t kConstants[] = {0, 1, 0xFFFFFFFF, 0x80000000, 31, 8, 0xFF00FF};

  uint32_t choose(uint32_t n) { return next_ < choices_.size() ? choices_[next_++] % n : 0; }
  std::string v() { return "%v" + std::to_string(choose(6)); }
  std::string constant() { return std::to_string(kConstants[choose(std::size(kConstants))]); }
  std::string value() { return choose(3) == 0 ? constant() : v(); }
  void add(const std::string& line) { text_ += line + "\n"; }
  void compare() {
    const char* how[] = {"eq", "lt", "ge", "ne"};
    const std::string a = choose(2) == 0 ? v() : choose(2) == 0 ? "%v4" : "%v5";
    add(std::string("setp.") + how[choose(4)] + ".u32 %p1, " + a + ", " + value() + ";");
  }
  void block(int depth) {
    for (uint32_t n = 1 + choose(4); n != 0 && next_ < choices_.size(); --n) statement(depth);
  }
  void statement(int depth) {
    const uint32_t what = choose(depth < 3 ? 10 : 6);
    const std::string to = v();
    const std::string not_ = choose(2) == 0 ? "" : "!";
    const std::string label = std::to_string(++labels_);
    if (what == 0) return add("add.u32 " + to + ", " + v() + ", " + value() + ";");
    if (what == 1) return add("xor.b32 " + to + ", " + v() + ", " + value() + ";");
    if (what == 2) return add("and.b32 " + to + ", " + v() + ", " + value() + ";");
    if (what == 3) return add("ld.shared.u32 " + to + ", [%r3];");
    if (what <= 5) {
      compare();
      return add(what == 4 ? "@" + not_ + "%p1 mov.u32 " + to + ", " + value() + ";"
                           : "selp.b32 " + to + ", " + v() + ", " + value() + ", %p1;");
    }
    if (what <= 8) {
      compare();
      add("@" + not_ + "%p1 bra E" + label + ";");
      block(depth + 1);
      if (what == 8) add("bra F" + label + ";");
      add("E" + label + ":");
      if (what != 8) return;
      block(depth + 1);
      return add("F" + label + ":");
    }
    // A loop with an end, which a value may end sooner.
    const std::string counter = "%n" + std::to_string(depth);
    add("mov.u32 " + counter + ", 0;");
    add("L" + label + ":");
    block(depth + 1);
    compare();
    if (choose(2) == 0) add("@" + not_ + "%p1 bra E" + label + ";");
    add("add.u32 " + counter + ", " + counter + ", 1;");
    add("setp.lt.u32 %p2, " + counter + ", " + std::to_string(1 + choose(3)) + ";");
    add("@%p2 bra L" + label + ";");
    add("E" + label + ":");
  }

  const std::vector<uint8_t>& choices_;
  size_t next_ = 0;
  int labels_ = 0;
  std::string text_;
};

// %v0 is the lane, %v1 to %v3 are words of `in`, %v4 and %v5 are two more in the lanes that in[160] names,
// and never written in the others. What is stored is %v0 xor what the others of `of` hold.
std::string program_text(const std::string& body, uint32_t of) {
  std::string out =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout) "
      "{\n"
      ".reg .pred %p<6>; .reg .b32 %r<8>, %v<6>, %n<4>; .reg .b64 %q<8>;\n.shared .align 4 .b32 table[32];\n"
      "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 4;\n"
      "add.u64 %q3, %q0, %q2; add.u64 %q1, %q1, %q2; mov.u32 %v0, %r0;\n"
      "ld.global.u32 %v1, [%q3]; ld.global.u32 %v2, [%q3+128]; ld.global.u32 %v3, [%q3+256];\n"
      "ld.global.u32 %r1, [%q0+640]; shr.u32 %r1, %r1, %r0; and.b32 %r1, %r1, 1; setp.ne.u32 %p3, %r1, 0;\n"
      "@%p3 ld.global.u32 %v4, [%q3+384]; @%p3 ld.global.u32 %v5, [%q3+512];\n"
      "mov.u32 %r3, table; shl.b32 %r4, %r0, 2; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %v2;\n" +
      body + "mov.u32 %r5, 0;\n";
  for (uint32_t i = 0; i < 6; ++i)
    if ((of >> i & 1) != 0) out += "xor.b32 %r5, %r5, %v" + std::to_string(i) + ";\n";
  return out +
         "ld.global.u32 %r2, [%q0+644]; shr.u32 %r2, %r2, %r0; and.b32 %r2, %r2, 1; setp.ne.u32 %p4, %r2, "
         "0;\n"
         "@%p4 mov.u32 %r5, 0; st.global.u32 [%q1], %r5; ret;\n}\n";
}

RC_GTEST_PROP(Unsure, WhatIsKnownIsSoWhateverTheValueIs, ()) {
  const auto choices =
      *rc::gen::scale(4, rc::gen::container<std::vector<uint8_t>>(rc::gen::arbitrary<uint8_t>()));
  const Written written(choices);
  const auto some = rc::gen::element<uint32_t>(0, 1, 5, 8, 31, 0xFFFFFFFF, 0x80000000, 0x12345678);
  const auto in = *rc::gen::container<std::vector<uint32_t>>(160, some);
  const uint32_t given = *rc::gen::weightedOneOf<uint32_t>(
      {{1, rc::gen::just(0u)}, {1, rc::gen::just(0xFFFFu)}, {2, rc::gen::arbitrary<uint32_t>()}});
  const uint32_t of = *rc::gen::element<uint32_t>(1, 2, 4, 8, 16, 32, 3, 12, 63);
  const test::Module module = test::module_of(program_text(written.text(), of));
  RC_LOG() << written.text();
  const auto with = [&](uint32_t lanes, const std::vector<uint32_t>& words) {
    std::vector<uint32_t> all = words;
    all.push_back(lanes);
    return known_lanes(module, all);
  };
  const KnownLanes unsure = with(given, in);
  RC_ASSERT(unsure.wrong == "");
  RC_CLASSIFY(written.branches() && unsure.unknown != 0 && unsure.unknown != ~given,
              "some lanes do not hang on it");
  for (int tries = 0; tries < 6; ++tries) {
    std::vector<uint32_t> words = in;
    for (size_t lane = 0; lane < 32; ++lane)
      if ((given >> lane & 1) == 0) words[96 + lane] = *some, words[128 + lane] = *some;
    const KnownLanes sure = with(~0u, words);
    RC_ASSERT(sure.wrong == "");
    RC_ASSERT(sure.unknown == 0u);
    for (size_t lane = 0; lane < 32; ++lane)
      if ((unsure.unknown >> lane & 1) == 0) RC_ASSERT(sure.values[lane] == unsure.values[lane]);
  }
}

}  // namespace
}  // namespace bitwell::isa
