// Bytes that a copy is still to write, and those of an mbarrier: a store beside them is right, one that meets
// the first or the last of them is none. And what is read before anybody has written it.
#include <gtest/gtest.h>

#include <ostream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// %r0: the thread; %r1: `tile`; %r2: `bar`, an mbarrier of one arrival, between that and `tail`; %r3, %h0,
// %d4: 0; %d0: `in`, read-only; %d1: `out`; %p0: thread 0.

std::string end_of_copy(const std::string& target, const std::string& body, const std::string& before = "") {
  return test::Kernel{
      .target = target,
      .module = before,
      .parameters = ".param .u64 pin, .param .u64 pout",
      .registers = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;",
      .shared =
          ".shared .align 128 .b8 tile[1024]; .shared .align 16 .b64 bar; .shared .align 16 .b8 tail[256];",
      .start =
          "ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile;\n"
          "mov.u32 %r2, bar; setp.eq.u32 %p0, %r0, 0; mov.u32 %r3, 0; mov.u64 %d4, 0; mov.u16 %h0, 0;\n"
          "@%p0 mbarrier.init.shared.b64 [%r2], 1;\nbar.sync 0;",
      .body = body,
      .buffers = {test::input(std::vector<std::byte>(256, std::byte{1})), test::output(256)}}
      .run()
      .end();
}

struct Copy {
  const char* name;
  const char* starts;
  const char* waits;
  int bytes;  // from `tile` + 64 on
  const char* target = "sm_90a";
};
void PrintTo(const Copy& c, std::ostream* out) { *out << c.name; }

constexpr const char* kWait = "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra W;";

class UnderWay : public testing::TestWithParam<Copy> {};

TEST_P(UnderWay, NobodyStoresWhereACopyIsStillToWrite) {
  const Copy& c = GetParam();
  struct Store {
    const char* type;
    int size, at;
  };
  std::vector<Store> stores;
  for (const int near : {64, 64 + c.bytes})
    for (const int at : {near - 16, near - 8, near - 4, near - 2, near - 1, near, near + 1, near + 2,
                         near + 4, near + 8, near + 16})
      for (const auto& [type, size] :
           {std::pair{"b8", 1}, {"b16", 2}, {"b32", 4}, {"b64", 8}, {"v4.b32", 16}})
        if (at % size == 0) stores.push_back({type, size, at});
  for (const Store& s : stores) {
    const std::string value = s.size == 16  ? "{%r3, %r3, %r3, %r3}"
                              : s.size == 8 ? "%d4"
                              : s.size == 2 ? "%h0"
                                            : "%r3";
    const std::string text =
        end_of_copy(c.target, std::string(c.starts) + "\n@%p0 st.shared." + s.type + " [%r1+" +
                                  std::to_string(s.at) + "], " + value + ";\n" + c.waits);
    if (s.at < 64 + c.bytes && s.at + s.size > 64)
      EXPECT_NE(text.find("which the copy of PTX line 12 is still to write"), std::string::npos)
          << s.type << " at " << s.at << ": " << text;
    else
      EXPECT_EQ(text, "held") << s.type << " at " << s.at;
  }
}

// Of all lanes, one behind the other, those are told that meet it; those with a false guard do not.
TEST_P(UnderWay, NoLaneDoes) {
  const Copy& c = GetParam();
  for (const int shift : {0, 4, 60, 64, 64 + c.bytes, 68 + c.bytes, 192 + c.bytes})
    for (const bool consecutive : {true, false}) {
      // From `tile` + shift downwards or upwards: lane i at shift + 4i - 64, or behind it by 8i.
      const int step = consecutive ? 4 : 8;
      int first = -1;
      for (int i = 31; i >= 1; --i)
        if (const int at = shift + step * i; at < 64 + c.bytes && at + 4 > 64) first = i;
      const std::string text = end_of_copy(
          c.target, std::string(c.starts) + "\nmad.lo.u32 %r4, %r0, " + std::to_string(step) +
                        ", %r1;\n@!%p0 st.shared.b32 [%r4+" + std::to_string(shift) + "], %r3;\n" + c.waits);
      if (first < 0) {
        EXPECT_EQ(text, "held") << shift;
      } else {
        EXPECT_NE(text.find("which the copy of PTX line 12 is still to write"), std::string::npos)
            << shift << text;
        EXPECT_NE(text.find("thread (" + std::to_string(first) + ",0,0)"), std::string::npos)
            << shift << ", " << first << ": " << text;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, UnderWay,
    testing::Values(
        Copy{"Bulk",
             "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 64; @%p0 mbarrier.arrive.shared.b64 _, "
             "[%r2];\n@%p0 "
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+64], [%d0], 64, [%r2];",
             kWait, 64},
        Copy{"Small", "\n@%p0 cp.async.ca.shared.global [%r1+64], [%d0], 16;", "cp.async.wait_all;", 16},
        Copy{"Smallest", "\n@%p0 cp.async.ca.shared.global [%r1+64], [%d0], 4;", "cp.async.wait_all;", 4},
        Copy{"Store",
             "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 4; @%p0 mbarrier.arrive.shared.b64 _, "
             "[%r2];\n@%p0 "
             "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1+64], %r3, [%r2];",
             kWait, 4},
        Copy{"TryCancel",
             "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 16; @%p0 mbarrier.arrive.shared.b64 _, "
             "[%r2];\n@%p0 "
             "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1+64], "
             "[%r2];",
             kWait, 16, "sm_100a"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(UnderWayMbarrier, NobodyStoresToIt) {
  for (const int at : {-16, -8, -4, -1, 0, 1, 4, 7, 8, 12, 16})
    for (const auto& [type, size] : {std::pair{"b8", 1}, {"b32", 4}, {"b64", 8}}) {
      if (at % size != 0) continue;
      const std::string value = size == 8 ? "%d4" : "%r3";
      const std::string text = end_of_copy("sm_90a", "@%p0 st.shared." + std::string(type) + " [%r2+" +
                                                         std::to_string(at) + "], " + value + ";");
      if (at < 8 && at + size > 0)
        EXPECT_NE(text.find("of an mbarrier, which is live"), std::string::npos)
            << type << " at " << at << text;
      else
        EXPECT_EQ(text, "held") << type << " at " << at;
    }
}

TEST(UnderWayFaults, AreNamed) {
  struct Case {
    const char* body;
    const char* says;
    const char* before = "";
  };
  for (const Case& c :
       {Case{"atom.shared.add.u32 %r4, [%r1], 1; @%p0 st.global.u32 [%d1], %r4;", "never written"},
        Case{"atom.shared.cas.b32 %r4, [%r1], 1, 2; @%p0 st.global.u32 [%d1], %r4;", "never written"},
        Case{"@%p0 atom.shared.exch.b32 %r4, [%r1], 1; @%p0 ld.shared.u32 %r4, [%r1]; @%p0 st.global.u32 "
             "[%d1], %r4;",
             "held"},
        Case{"@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16; cp.async.bulk.commit_group; "
             "cp.async.bulk.wait_group 0;",
             "never written"},
        Case{"tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;",
             "a tensor map over an mbarrier, which is live"},
        Case{"sub.u32 %r4, %r2, 64; tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r4], 1;",
             "a tensor map over an mbarrier, which is live"},
        Case{"@%p0 tensormap.replace.tile.rank.global.b1024.b32 [%d0], 1;", "to 'in', which is read-only"},
        Case{"{ .param .b64 s; .param .b64 r; st.param.b64 [s], 0; call.uni (r), malloc, (s); }",
             "malloc of 0 bytes", ".extern .func (.param .b64 r) malloc (.param .b64 s);\n"}}) {
    const std::string text = end_of_copy("sm_90a", c.body, c.before);
    EXPECT_NE(text.find(c.says), std::string::npos) << c.body << ": " << text;
  }
}

}  // namespace
}  // namespace bitwell::isa
