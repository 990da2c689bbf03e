// A fault about bytes that nobody had written names who writes them later in the run, if somebody does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "verify/session/session.h"

namespace bitwell::session {
namespace {

struct ReadTooEarly {
  const char* name;
  std::string body;  // %t: thread; %c: CTA; %s, %o: byte 4 * %t of 's' and of 'out'; 's' stands at %b
  uint32_t threads, ctas, cluster;
  std::string expected;  // behind "was ever written", L: the line that has "st.", or nothing
  const char* directives = "";
};

const std::string kOther = "sub.u32 %x, %e, %s;\nld.shared.u32 %v, [%x];\n";

const ReadTooEarly kReadTooEarly[] = {
    {"another warp", "st.shared.u32 [%s], %t;\n" + kOther + "st.global.u32 [%o], %v;\n", 64, 1, 1,
     "; thread (63,0,0) writes there later, by PTX line L: nothing made this read wait for it, as a "
     "__syncthreads (bar.sync) between the two would"},
    {"another warp, of a block that the entry says",
     "st.shared.u32 [%s], %t;\n" + kOther + "st.global.u32 [%o], %v;\n", 64, 1, 1,
     "; thread (63,0,0) writes there later, by PTX line L: nothing made this read wait for it, as a "
     "__syncthreads (bar.sync) between the two would",
     ".reqntid 64 .reqnctapercluster 1 .blocksareclusters"},
    {"another warp, another CTA writes the same place of its own",
     "setp.eq.u32 %p, %c, 0;\n@%p bra READ;\nst.shared.u32 [%s], %t;\nREAD:\n" + kOther +
         "st.global.u32 [%o], %v;\n",
     64, 2, 1, ""},
    {"another lane", kOther + "st.shared.u32 [%s], %t;\nst.global.u32 [%o], %v;\n", 32, 1, 1,
     "; thread (31,0,0) writes there later, by PTX line L: nothing made this read wait for it, as a "
     "__syncwarp (bar.warp.sync) between the two would"},
    {"itself", "ld.shared.u32 %v, [%s];\nst.shared.u32 [%s], %t;\nst.global.u32 [%o], %v;\n", 32, 1, 1,
     "; this thread writes there later, by PTX line L"},
    {"a peer of the cluster",
     "setp.eq.u32 %p, %c, 1;\n@%p mapa.shared::cluster.u32 %x, %s, 0;\n@%p st.shared::cluster.u32 [%x], %t;\n"
     "@%p bra END;\nld.shared.u32 %v, [%s];\nst.global.u32 [%o], %v;\nEND:\n"
     "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
     32, 2, 2,
     "; thread (0,0,0) of CTA (1,0,0) writes there later, by PTX line L: nothing made this read wait for it, "
     "as a barrier of the cluster between the two would"},
    {"a CTA, in global memory",
     "setp.eq.u32 %p, %c, 1;\n@%p st.global.u32 [%m], %t;\n@%p ret;\nld.global.u32 %v, [%m];\n"
     "st.global.u32 [%o], %v;\n",
     32, 2, 1,
     "; thread (0,0,0) of CTA (1,0,0) writes there later, by PTX line L: nothing made this read wait for it; "
     "no "
     "barrier spans CTAs: that takes a flag, released and acquired, or two launches"},
    {"a bulk copy",
     "mov.u32 %x, bar;\nmbarrier.init.shared.b64 [%x], 1;\nld.shared.u32 %v, [%s];\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%b], [%f], 128, [%x];  // st.\n"
     "st.global.u32 [%o], %v;\n",
     1, 1, 1,
     "; an operation of PTX line L, which warp 0 issues, writes there later: nothing made this read "
     "wait "
     "for it"},
    {"nobody, and what was read makes a loop endless",
     "ld.shared.u32 %v, [%s];\nst.global.u32 [%o], %v;\nLOOP:\nadd.u32 %x, %x, 1;\nsetp.eq.u32 %p, %v, 0;\n"
     "@%p bra LOOP;\n",
     32, 1, 1, ""},
    {"nobody", "ld.shared.u32 %v, [%s];\nst.global.u32 [%o], %v;\n", 32, 1, 1, ""},
};

std::string early_text(const ReadTooEarly& c) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 "
         "mid, "
         ".param .u64 from) " +
         std::string(c.directives) +
         "\n{\n.shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n"
         ".reg .pred %p;\n.reg .b32 %t, %c, %s, %b, %e, %x, %v;\n.reg .b64 %o, %m, %f, %w;\n"
         "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\nmov.u32 %b, s;\nshl.b32 %s, %t, 2;\nadd.u32 %s, %s, "
         "%b;\n"
         "add.u32 %e, %b, %b;\nadd.u32 %e, %e, " +
         std::to_string(4 * (c.threads - 1)) +
         ";\nld.param.u64 %o, [out];\nmul.wide.u32 %w, %t, 4;\nadd.u64 %o, %o, %w;\n"
         "ld.param.u64 %m, [mid];\nadd.u64 %m, %m, %w;\nld.param.u64 %f, [from];\n" +
         c.body + "ret;\n}\n";
}

std::string line_of_store(const std::string& text) {
  const size_t at = std::min({text.find("st.shared"), text.find("st.global.u32 [%m]"), text.find("// st.")});
  return std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

TEST(LaterWriter, IsNamedBehindTheFault) {
  for (const ReadTooEarly& c : kReadTooEarly) {
    SCOPED_TRACE(c.name);
    const std::string text = early_text(c);
    launch::Launch launch;
    launch.ptx = "k.ptx";
    launch.module = std::make_shared<const isa::Module>(text, launch.ptx);
    launch.entry = "k";
    if (*c.directives == 0) launch.shape.block = {c.threads, 1, 1};
    launch.shape.grid = {c.ctas, 1, 1};
    launch.shape.cluster = {c.cluster, 1, 1};
    launch.add_buffer({"out", std::vector<std::byte>(256), false, false, true});
    launch.add_buffer({"mid", std::vector<std::byte>(256), false, false, false});
    launch.add_buffer({"from", std::vector<std::byte>(256), true, true});
    std::string expected = c.expected;
    if (const size_t at = expected.find("line L"); at != std::string::npos)
      expected.replace(at, 6, "line " + line_of_store(text));
    for (const bool races : {false, true}) {
      Question question{launch};
      question.all_written = false;
      question.races = races;
      const Answer answer = ask(question);
      ASSERT_TRUE(answer.fault);
      const std::string what = answer.fault->what();
      const std::string marker = " was ever written";
      const size_t at = what.find(marker);
      ASSERT_NE(at, std::string::npos) << what;
      EXPECT_EQ(what.substr(at + marker.size()), expected) << what;
      ASSERT_TRUE(answer.fault->access);
      EXPECT_EQ(answer.fault->access->kind, "uninitialized read");
      EXPECT_EQ(answer.fault->access->bytes, 4u);
      EXPECT_EQ(answer.fault->access->space,
                c.body.find("[%m]") == std::string::npos ? "shared::cta" : "global");
    }
  }
}

}  // namespace
}  // namespace bitwell::session
