// The random schedule may let others go on behind every access to memory that they see: of two stores a warp
// makes others find the first alone in some runs, and of two loads a store comes between them in some.
#include <gtest/gtest.h>

#include <set>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// Thread 0 does what is `first`, thread 32, of another warp, what is `second`, and stores %r7 and %r8. %d1: a
// word of global memory; `word` of shared memory, whose other words are all ones; %d2 and %d3: an array, as a
// surface and as a texture.
test::Left both(const std::string& first, const std::string& second, uint64_t seed) {
  test::Kernel k{.target = "sm_100a",
                 .parameters = ".param .u64 pout, .param .u64 pin, .param .u64 surface, .param .u64 texture",
                 .registers = ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<10>; .reg .b64 %z;",
                 .shared = ".shared .align 16 .b64 word[2];",
                 .start =
                     "ld.param.u64 %d0, [pout]; ld.param.u64 %d1, [pin]; ld.param.u64 %d2, [surface];\n"
                     "ld.param.u64 %d3, [texture]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0; mov.u32 %r7, 0;\n"
                     "mov.u32 %r8, 0; mov.u64 %d4, word; cvta.shared.u64 %d4, %d4; mov.u64 %d5, -1;\n"
                     "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 32; mov.u32 %r6, 1; mov.u64 %d6, 8;\n"
                     "@%p0 st.shared.v2.u64 [word], {%d5, %d5}; @%p0 st.shared.u32 [word], %r1; bar.sync 0;",
                 .body = "@%p0 bra FIRST; @%p1 bra SECOND; bra END;\nFIRST: " + first +
                         "\nbra END;\nSECOND: " + second + "\nst.global.v2.u32 [%d0], {%r7, %r8};\nEND:",
                 .shape = {.block = {64, 1, 1}},
                 .buffers = {test::output(8), {"word", std::vector<std::byte>(16), true, false, false}},
                 .all_written = false};
  k.options.schedule = {.policy = run::Policy::random, .seed = seed};
  launch::Launch l = k.launch();
  l.buffers.push_back({"array", std::vector<std::byte>(16), true, false, false});
  for (const bool surface : {true, false}) {
    machine::Texture t;
    t.name = "array";
    for (const machine::Channel& c : machine::kChannels)
      if (c.name == "u32") t.channel = c;
    t.channels = 1;
    t.size[0] = 4;
    t.surface = surface;
    launch::Pointer handle{0, l.buffers.size() - 1, 0};
    handle.texture = t;
    l.arguments.push_back({std::vector<std::byte>(8), 0, {}, {handle}});
  }
  return k.run(std::move(l));
}

using Words = std::array<uint32_t, 2>;
std::set<Words> outcomes(const std::string& first, const std::string& second) {
  std::set<Words> out;
  for (uint64_t seed = 0; seed < 300 && out.size() < 3; ++seed) {
    const test::Left left = both(first, second, seed);
    EXPECT_EQ(left.end(), "held") << first << second;
    if (!left.fault.empty()) break;
    const auto words = left.all<uint32_t>(0);
    out.insert({words[0], words[1]});
  }
  return out;
}

const std::string kTwice = "mov.u32 %r6, 2;\n";

TEST(PreemptedAccesses, TheFirstOfTwoStoresIsSeenAlone) {
  struct Case {
    const char *store, *load;
  };
  for (const Case& c :
       {Case{"st.global.u32 [%d1], %r6;", "ld.global.u32 %r7, [%d1];"},
        Case{"st.shared.u32 [word], %r6;", "ld.shared.u32 %r7, [word];"},
        Case{"st.u32 [%d4], %r6;", "ld.u32 %r7, [%d4];"},
        Case{"red.global.max.u32 [%d1], %r6;", "ld.global.u32 %r7, [%d1];"},
        Case{"atom.shared.exch.b32 %r9, [word], %r6;", "ld.shared.u32 %r7, [word];"},
        Case{"sust.b.1d.b32.trap [%d2, {%r1}], %r6;", "suld.b.1d.b32.trap %r7, [%d2, {%r1}];"}}) {
    const std::string store = std::string(c.store) + "\n";
    EXPECT_TRUE(outcomes(store + kTwice + store, c.load).contains({1, 0})) << c.store;
  }
  // Zeros, of one of two words each.
  const std::set<Words> seen = outcomes(
      "st.bulk.weak.shared::cta [word], %d6, 0; st.bulk.weak.shared::cta [word+8], "
      "%d6, 0;",
      "ld.shared.v4.u32 {%r9, %r7, %r10, %r8}, [word];");
  EXPECT_TRUE(seen.contains({0, ~0u})) << seen.size();
}

TEST(PreemptedAccesses, AStoreComesBetweenTwoLoads) {
  struct Case {
    const char *store, *first, *second;
  };
  for (const Case& c :
       {Case{"st.global.u32 [%d1], %r6;", "ld.global.u32 %r7, [%d1];", "ld.global.u32 %r8, [%d1];"},
        Case{"st.shared.u32 [word], %r6;", "ld.shared.u32 %r7, [word];", "ld.shared.u32 %r8, [word];"},
        Case{"st.shared.u32 [word], %r6;", "ld.u32 %r7, [%d4];", "ld.u32 %r8, [%d4];"},
        Case{"st.global.u32 [%d1], %r6;", "atom.global.or.b32 %r7, [%d1], 0;", "ld.global.u32 %r8, [%d1];"},
        Case{"sust.b.1d.b32.trap [%d2, {%r1}], %r6;", "suld.b.1d.b32.trap %r7, [%d2, {%r1}];",
             "suld.b.1d.b32.trap %r8, [%d2, {%r1}];"},
        Case{"sust.b.1d.b32.trap [%d2, {%r1}], %r6;",
             "tex.1d.v4.u32.s32 {%r7, %r9, %r10, %r11}, [%d3, {%r1}];",
             "suld.b.1d.b32.trap %r8, [%d2, {%r1}];"}})
    EXPECT_TRUE(outcomes(c.store, std::string(c.first) + "\n" + c.second).contains({0, 1})) << c.first;
}

}  // namespace
}  // namespace bitwell::isa
