// An instruction of .shared whose 64-bit register holds a generic address of shared memory: ptxas gives it
// the low half (STS [UR6] for sm_90a and sm_100a), which is the address in shared memory. ThunderKittens
// allocates tensor memory so.
#include <gtest/gtest.h>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

const std::string kLowHalf =
    "a generic address where one of shared memory is wanted: its low 32 bits are taken";

// %q2 and %q4: places of `tile` and `bar`, as an address in shared memory or a generic one.
test::Kernel shared_kernel(const std::string& body, bool generic, const std::string& target) {
  const std::string as = generic ? "cvta.shared.u64 %q2, %q2; cvta.shared.u64 %q4, %q4;\n" : "\n";
  test::Kernel out{
      .target = target,
      .parameters = ".param .u64 in, .param .u64 out",
      .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<8>;",
      .shared = ".shared .align 128 .b8 tile[512]; .shared .align 8 .b8 bar[8];",
      .start =
          "ld.param.u64 %q0, [in]; ld.param.u64 %q1, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;\n"
          "mov.u64 %q2, tile; mov.u64 %q4, bar; mul.wide.u32 %q5, %r0, 16; mov.u32 %r1, 7;\n" +
          as + "add.u64 %q3, %q2, %q5;\n",
      .body = body,
      .finish = "st.global.u32 [%q1], %r1;",
      .buffers = {test::input(std::vector<std::byte>(1024, std::byte{7})), test::output(4)}};
  return out;
}

TEST(SharedAddress, AGenericOneIsTakenWithANote) {
  struct Case {
    std::string body;
    bool notes = true;
    std::string target = "sm_90a";
  };
  const std::string word = "st.shared.u32 [tile], 9;\n",
                    words = "st.shared.v4.u32 [%q3], {%r0, %r0, %r0, %r0};\n";
  const Case cases[] = {
      {"@%p0 st.shared.u32 [%q2], 9; bar.sync 0; ld.shared.u32 %r1, [tile];"},
      {word + "bar.sync 0; ld.shared.u32 %r1, [%q2];"},
      {word + "bar.sync 0; ld.shared::cta.u32 %r1, [%q2];"},
      {word + "bar.sync 0; ld.shared::cluster.u32 %r1, [%q2];"},
      {word + "bar.sync 0; ld.volatile.shared.u32 %r1, [%q2];"},
      {word + "bar.sync 0; atom.shared.add.u32 %r1, [%q2], 1;"},
      {word + "bar.sync 0; red.shared.add.u32 [%q2], 1; bar.sync 0; ld.shared.u32 %r1, [tile];"},
      {words + "ld.shared.v2.u32 {%r1, %r2}, [%q3+8];"},
      {"@%p0 st.shared.u32 [%q3+8], 9; @!%p0 st.shared.u32 [%q3+4], 3; bar.sync 0; ld.shared.u32 %r1, "
       "[tile+8];"},
      {"cvt.u32.u64 %r2, %q3; st.shared.u32 [%r2], 9; bar.sync 0; ld.shared.u32 %r1, [tile];", false},
      {words + "bar.sync 0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%q3];"},
      {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%q3], {%r1}; bar.sync 0; ld.shared.u32 %r1, [tile];"},
      {"cp.async.ca.shared.global [%q3], [%q0], 16; cp.async.wait_all; ld.shared.u32 %r1, [%q3];"},
      {"@%p0 mbarrier.init.shared.b64 [%q4], 32; bar.sync 0; mbarrier.arrive.shared.b64 _, [%q4];\n"
       "W: mbarrier.try_wait.parity.shared.b64 %p1, [%q4], 0; @!%p1 bra W;"},
      {"@%p0 mbarrier.init.shared.b64 [%q4], 1; fence.proxy.async; bar.sync 0;\n"
       "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%q4], 16;\n"
       "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%q2], [%q0], 16, [%q4];\n"
       "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;\nld.shared.u32 %r1, [tile];"},
      {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%q2], 32; ld.shared.u32 %r1, [tile];\n"
       "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
       true, "sm_100a"},
  };
  for (const Case& c : cases) {
    // The same at an address in shared memory, in 64 bits too, is what it is to come to.
    const test::Left as_usual = shared_kernel(c.body, false, c.target).run();
    ASSERT_EQ(as_usual.end(), "held") << c.body;
    EXPECT_TRUE(as_usual.notes.empty()) << c.body << as_usual.notes.front().text;
    test::Kernel k = shared_kernel(c.body, true, c.target);
    const test::Left left = k.run();
    ASSERT_EQ(left.end(), "held") << c.body;
    EXPECT_EQ(left.all<uint32_t>(1), as_usual.all<uint32_t>(1)) << c.body;
    EXPECT_EQ(left.notes.empty(), !c.notes) << c.body;
    for (const run::Note& n : left.notes) EXPECT_EQ(n.text, kLowHalf) << c.body;
    k.options.strict = true;
    EXPECT_EQ(k.run().end().find(kLowHalf) != std::string::npos, c.notes) << c.body << k.run().end();
  }
}

// Whoever watches is told of the place in shared memory, and what is wrong there is said as of any address.
TEST(SharedAddress, AGenericOneIsThatPlace) {
  test::Kernel k = shared_kernel("@%p0 st.shared.u32 [%q2+4], %r1;", true, "sm_90a");
  std::vector<uint64_t> places;
  machine::Observer observer;
  observer.accesses = true;
  observer.tell = [&](const machine::Event& event) {
    if (const auto* a = std::get_if<machine::Access>(&event.what);
        a != nullptr && a->kind == machine::AccessKind::write &&
        a->addresses[0] - machine::kSharedWindow < machine::kWindowSize)
      places.push_back(a->addresses[0] - machine::kSharedWindow);
  };
  k.options.observers.push_back(observer);
  EXPECT_EQ(k.run().end(), "held");
  test::Kernel usual = shared_kernel("@%p0 st.shared.u32 [%q2+4], %r1;", false, "sm_90a");
  usual.options.observers.push_back(observer);
  EXPECT_EQ(usual.run().end(), "held");
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0], places[1]);
  const auto says = [](const std::string& body, const std::string& what) {
    const std::string end = shared_kernel(body, true, "sm_90a").run().end();
    EXPECT_NE(end.find(what), std::string::npos) << body << ": " << end;
  };
  says("st.shared.u32 [%q2+2], %r1;", "misaligned write of 4 bytes");
  says("st.shared.u32 [%q2+65536], %r1;", "out-of-bounds write of 4 bytes");
  says("mbarrier.init.shared.b64 [%q4+65536], 1;", "out-of-bounds access of 8 bytes");
  says("st.shared.u32 [%q0], %r1;", "out-of-bounds write of 4 bytes");  // global memory is no such place
}

}  // namespace
}  // namespace bitwell::isa
