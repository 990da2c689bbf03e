// A CTA that polls for what another one stores gives way to it, whichever lanes of a warp poll; and a launch
// behind another starts when what is left of that has let it.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "../kernel.h"
#include "model/run/turns/chooser.h"
#include "model/run/watch/follow.h"
#include "verify/launch/file/launch_json.h"

namespace bitwell::run {
namespace {

constexpr const char* kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

launch::Buffer words(const std::string& name, size_t count) {
  return {name, std::vector<std::byte>(4 * count), true, false, true};
}
uint32_t word(const launch::Launch& l, size_t buffer, size_t at) {
  uint32_t out = 0;
  std::memcpy(&out, l.buffers[buffer].bytes.data() + 4 * at, 4);
  return out;
}

// Lanes `who` of CTA 0's warp poll the flag that CTA 1 sets, and hand it to the others by a shuffle. Those
// that poll stand behind the others' instructions, or before them.
std::string handed_on(const std::string& who, uint32_t lane, bool behind) {
  const std::string poll = "ld.volatile.global.u32 %r2, [%a0];\n";
  const std::string hand = "meet:\nshfl.sync.idx.b32 %r3, %r2, " + std::to_string(lane) +
                           ", 31, -1;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra again;\n"
                           "st.global.u32 [%a1], %r3;\nret;\n";
  return std::string(kHead) +
         ".visible .entry k(.param .u64 flag, .param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg "
         ".b64 %a<4>;\n"
         "ld.param.u64 %a0, [flag];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
         "mul.wide.u32 %a2, %r0, 4;\nadd.u64 %a1, %a1, %a2;\nmov.u32 %r2, 0;\nsetp.ne.u32 %p0, %r1, 0;\n"
         "@%p0 bra give;\n" +
         who +
         (behind ? "again:\n@%p1 bra poll;\n" + hand + "poll:\n" + poll + "bra meet;\n"
                 : "again:\n@!%p1 bra meet;\n" + poll + hand) +
         "give:\nsetp.eq.u32 %p3, %r0, 0;\n@%p3 st.volatile.global.u32 [%a0], 7;\nret;\n}\n";
}

TEST(Polls, OfOneLaneAreThoseOfTheWarpThatItHandsTheFlagTo) {
  struct Who {
    std::string set;
    uint32_t lane;
  };
  for (const Who& who : {Who{"setp.eq.u32 %p1, %r0, 0;\n", 0}, Who{"setp.eq.u32 %p1, %r0, 31;\n", 31},
                         Who{"setp.lt.u32 %p1, %r0, 16;\n", 3}, Who{"setp.ge.u32 %p1, %r0, 16;\n", 20}})
    for (const bool behind : {true, false})
      for (const PolicyName& p : run::kPolicies) {
        launch::Launch l;
        l.entry = "k";
        l.shape.grid = {2, 1, 1};
        l.shape.block = {32, 1, 1};
        l.add_buffer(words("flag", 1));
        l.add_buffer(words("out", 32));
        run::Options options;
        options.schedule = {p.policy, 1};
        EXPECT_NO_THROW(test::run_ptx(handed_on(who.set, who.lane, behind), l, options))
            << who.set << (behind ? "behind, " : "before, ") << p.name;
        for (size_t t = 0; t < 32; ++t) ASSERT_EQ(word(l, 1, t), 7u) << who.set << p.name;
      }
}

// Of a cluster of two, the CTA `gone` ends without a word, the other lets the next launch start and waits for
// it.
TEST(Polls, ALaunchStartsBehindAClusterOfWhichACtaHasEnded) {
  for (const uint32_t gone : {0u, 1u}) {
    const std::string path = testing::TempDir() + "/bitwell_polls.ptx";
    std::ofstream(path)
        << kHead
        << ".visible .entry first(.param .u64 flag, .param .u64 out)\n.reqnctapercluster 2\n{\n"
           ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;\nld.param.u64 %a0, [flag];\n"
           "ld.param.u64 %a1, [out];\nmov.u32 %r0, %cluster_ctarank;\nsetp.eq.u32 %p0, %r0, "
        << gone
        << ";\n@%p0 ret;\ngriddepcontrol.launch_dependents;\n"
           "again:\nld.volatile.global.u32 %r1, [%a0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;\n"
           "st.global.u32 [%a1], %r1;\nret;\n}\n"
           ".visible .entry second(.param .u64 flag)\n{\n.reg .b64 %a<4>;\n"
           "ld.param.u64 %a0, [flag];\nst.volatile.global.u32 [%a0], 5;\nret;\n}\n";
    launch::Launch l;
    l.ptx = path;
    l.entry = "first";
    l.shape.grid = {2, 1, 1};
    l.shape.cluster = {2, 1, 1};
    l.shape.block = {1, 1, 1};
    l.add_buffer(words("flag", 1));
    l.add_buffer(words("out", 1));
    launch::Step s;
    s.ptx = path;
    s.entry = "second";
    s.programmatic = true;
    s.shape.block = {1, 1, 1};
    s.arguments.push_back({{}, 0});
    l.then.push_back(s);
    EXPECT_NO_THROW(test::run_file(l)) << gone;
    EXPECT_EQ(word(l, 1, 0), 5u) << gone;
  }
}

// CTAs of all launches in flight count together, and each once.
TEST(Polls, ProgressIsOfAllLaunchesInFlight) {
  const std::string path = testing::TempDir() + "/bitwell_progress.ptx";
  std::ofstream(path)
      << kHead
      << ".visible .entry first(.param .u64 flag)\n{\ngriddepcontrol.launch_dependents;\nret;\n}\n"
         ".visible .entry second(.param .u64 flag)\n{\ngriddepcontrol.wait;\nret;\n}\n";
  launch::Launch l;
  l.ptx = path;
  l.entry = "first";
  l.shape.grid = {2, 1, 1};
  l.shape.block = {1, 1, 1};
  l.add_buffer({"flag", std::vector<std::byte>(4), true, false, false});
  launch::Step s;
  s.ptx = path;
  s.entry = "second";
  s.programmatic = true;
  s.shape.grid = {3, 1, 1};
  s.shape.block = {1, 1, 1};
  s.arguments.push_back({{}, 0});
  l.then.push_back(s);
  std::vector<uint64_t> done;
  Options options;
  options.progress = [&](const Progress& p) {
    done.push_back(p.done);
    EXPECT_EQ(p.all, 5u);
  };
  test::run_file(l, options);
  EXPECT_EQ(done, (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

// Of a long cluster it is told how many instructions its warps have executed since the one before ended.
TEST(Polls, ProgressWithinAClusterCountsFromTheLastEnd) {
  test::Kernel k;
  k.registers = ".reg .pred %p<2>; .reg .b32 %r<2>;";
  k.body = "mov.u32 %r0, 0;\nmore: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 1450000;\n@%p0 bra more;\n";
  k.shape.grid = {2, 1, 1};
  k.shape.block = {1, 1, 1};
  std::vector<uint64_t> within;
  k.options.threads = 1;
  k.options.progress = [&](const Progress& p) {
    if (p.warp_instructions != 0) within.push_back(p.warp_instructions);
  };
  EXPECT_EQ(k.run().end(), "held");
  ASSERT_EQ(within.size(), 2u);  // 2^22 instructions on, of 4.35 millions each
  for (const uint64_t n : within) {
    EXPECT_GE(n, uint64_t{1} << 22);
    EXPECT_LT(n, 4'400'000u);
  }
}

struct First : Chooser {
  size_t choose(std::span<const Taker>) override { return 0; }
};

// What watches or orders the turns of one launch refuses those that are in flight together, by name.
TEST(Polls, LaunchesInFlightTogetherAreNeitherWatchedNorOrderedNorFollowed) {
  const std::string path = testing::TempDir() + "/bitwell_together.ptx";
  std::ofstream(path)
      << kHead
      << ".visible .entry first(.param .u64 flag)\n{\ngriddepcontrol.launch_dependents;\nret;\n}\n"
         ".visible .entry second(.param .u64 flag)\n{\n.reg .b64 %a<4>;\nld.param.u64 %a0, "
         "[flag];\nst.global.u32 [%a0], 5;\nret;\n}\n";
  const auto end = [&](const Options& options, bool together) {
    launch::Launch l;
    l.ptx = path;
    l.entry = "first";
    l.shape.block = {1, 1, 1};
    l.add_buffer(words("flag", 1));
    launch::Step s;
    s.ptx = path;
    s.entry = "second";
    s.programmatic = together;
    s.shape.block = {1, 1, 1};
    s.arguments.push_back({{}, 0});
    l.then.push_back(s);
    try {
      test::run_file(l, options);
    } catch (const machine::Unsupported& e) {
      return std::string(e.what());
    }
    return "held " + std::to_string(word(l, 0, 0));
  };
  Options watched, chosen, followed;
  watched.observers.push_back({[](const machine::Event&) {}, true, {}, false});
  First chooser;
  chosen.chooser = &chooser;
  Follow follow({});
  followed.follow = &follow;
  Options looked_at;
  looked_at.observers.push_back({[](const machine::Event&) {}, false, {}, true});
  EXPECT_EQ(end(looked_at, true), "held 5");
  const auto says = [&](const Options& options, const std::string& what) {
    const std::string text = end(options, true);
    EXPECT_NE(text.find(what), std::string::npos) << text;
    EXPECT_EQ(end(options, false), "held 5") << what;
  };
  says(watched, "watching the accesses of launches that are in flight together");
  says(chosen, "choosing the turns of launches that are in flight together");
  says(followed, "following what is read in launches that are in flight together");
}

}  // namespace
}  // namespace bitwell::run
