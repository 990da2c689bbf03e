// What the host's threads do where there are none to be had, and where clusters are long: all stop, and look
// whether they have met.
#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "../kernel.h"

namespace bitwell::run {
namespace {

// One warp a CTA: %r0 is its number, %a0 the buffer's address and %a1 that of its word, which holds 1000 and
// its number. It counts first, so that other threads are called.
test::Kernel of_long_ones(const std::string& body, uint32_t ctas) {
  test::Kernel k;
  k.parameters = ".param .u64 words";
  k.registers = ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %a<4>;\n";
  k.start =
      "ld.param.u64 %a0, [words];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %a1, %r0, 4;\nadd.u64 %a1, %a0, "
      "%a1;\nmov.u32 %r1, 0;\ncount: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 20000;\n@%p0 bra count;\n";
  k.body = body;
  k.shape.grid = {ctas, 1, 1};
  std::vector<uint32_t> words(ctas + 1);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = 1000 + i;
  launch::Buffer b{"words", std::vector<std::byte>(4 * words.size()), true, false, true};
  std::memcpy(b.bytes.data(), words.data(), b.bytes.size());
  k.buffers = {b};
  return k;
}

struct Ended {
  HostThreads host;
  std::vector<uint32_t> words;
};
Ended on_threads(test::Kernel k, unsigned threads) {
  k.options.threads = threads;
  launch::Launch l = k.launch();
  Ended out;
  out.host = test::run_ptx(k.text(), l, k.options).host;
  out.words.resize(l.buffers[0].bytes.size() / 4);
  std::memcpy(out.words.data(), l.buffers[0].bytes.data(), l.buffers[0].bytes.size());
  return out;
}

// The first goes round as often as the word of the second says: 1001 times in order, and for hours where it
// sees what the second writes, which is there long before.
std::string as_often_as_the_next_says() {
  return "setp.eq.u32 %p1, %r0, 1;\n@%p1 bra second;\nsetp.gt.u32 %p1, %r0, 1;\n@%p1 bra end;\n"
         "mov.u32 %r1, 0;\nlate: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 600000;\n@%p0 bra late;\n"
         "ld.global.u32 %r2, [%a1+4];\nmov.u32 %r1, 0;\n"
         "round: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r2;\n@%p0 bra round;\nst.global.u32 [%a1], "
         "%r1;\nbra end;\nsecond: st.global.u32 [%a1], 4000000000;\nend:\n";
}

TEST(HostThreads, AClusterThatReadTooEarlyIsStoppedByALook) {
  const Ended end = on_threads(of_long_ones(as_often_as_the_next_says(), 2), 2);
  EXPECT_EQ(end.words[0], 1001U);
  EXPECT_EQ(end.words[1], 4000000000U);
  EXPECT_EQ(end.host.why_not_all, "clusters share bytes of 'words' that one of them changes");
  EXPECT_EQ(end.host.clusters, 0U);
  EXPECT_EQ(end.host.threads, 2U);
}

// Both are at work when the first of them looks, and nobody has met: they go on, to the end. 2^24 warp
// instructions are a long cluster; these have 21 millions.
TEST(HostThreads, ClustersThatHaveNotMetGoOnBehindALook) {
  const Ended end =
      on_threads(of_long_ones("mov.u32 %r1, 0;\nmore: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, "
                              "7000000;\n@%p0 bra more;\nst.global.u32 [%a1], %r1;\n",
                              2),
                 2);
  EXPECT_EQ(end.words, (std::vector<uint32_t>{7000000, 7000000, 1002}));
  EXPECT_EQ(end.host.why_not_all, "");
  EXPECT_EQ(end.host.clusters, 2U);
}

// The launch's own thread runs the first, in which it stops for a look until another has begun the second.
// While it waits for that one it tells of progress, and of no instructions of its own; it may be ended so.
TEST(HostThreads, WhoWaitsForTheLastTellsOfProgress) {
  struct Stop {};
  test::Kernel k = of_long_ones(
      "setp.eq.u32 %p1, %r0, 0;\nmov.u32 %r1, 0;\nselp.u32 %r2, 6000000, 60000000, %p1;\nmore: add.u32 %r1, "
      "%r1, 1;\nsetp.lt.u32 %p0, %r1, %r2;\n@%p0 bra more;\nst.global.u32 [%a1], %r1;\n",
      2);
  k.options.threads = 2;
  std::vector<uint64_t> behind_the_first;
  k.options.progress = [&](const Progress& p) {
    if (p.done == 1) behind_the_first.push_back(p.warp_instructions);
    if (behind_the_first.size() == 3) throw Stop();
  };
  launch::Launch l = k.launch();
  EXPECT_THROW(test::run_ptx(k.text(), l, k.options), Stop);
  EXPECT_EQ(behind_the_first, (std::vector<uint64_t>{0, 0, 0}));
}

// Each lane stores a word, each CTA's last eight where the next one's first are: a row is claimed as long as
// it is.
TEST(HostThreads, RowsThatMeetAtTheirEndsHaveMet) {
  const auto with = [](const std::string& apart) {
    test::Kernel k = of_long_ones("mov.u32 %r2, %laneid;\nmad.lo.u32 %r2, %r0, " + apart +
                                      ", %r2;\nmul.wide.u32 %a2, %r2, 4;\nadd.u64 %a2, %a0, "
                                      "%a2;\nst.global.u32 [%a2], %r0;\n",
                                  12);
    k.buffers[0].bytes.resize(4096);
    return on_threads(k, 2);
  };
  EXPECT_EQ(with("32").host.why_not_all, "");
  const Ended meet = with("24");
  EXPECT_EQ(meet.host.why_not_all, "clusters share bytes of 'words' that one of them changes");
  EXPECT_EQ(meet.words[23], 0U);
  EXPECT_EQ(meet.words[24], 1U);
}

// New threads are to have stacks for which no machine has room.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 47);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(HostThreads, WhereThereAreNoneTheLaunchsOwnDoesAll) {
  const NoThreads none;
  ASSERT_THROW(std::thread([] {}).join(), std::system_error);
  const Ended end = on_threads(of_long_ones("st.global.u32 [%a1], %r0;\n", 12), 4);
  EXPECT_EQ(end.host.threads, 1U);
  EXPECT_EQ(end.host.clusters, 12U);
  EXPECT_EQ(end.host.why_not_all, "");
  for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(end.words[i], i);
}

}  // namespace
}  // namespace bitwell::run
