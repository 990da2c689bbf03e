// What clusters say comes in the order of their start, in whatever order they end.
#include "model/run/turns/journals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "verify/launch/launch.h"

namespace bitwell::run {
namespace {

const std::string kTarget = ".version 9.0\n.target sm_90a\n.address_size 64\n";

// CTA i prints "a i", waits until CTA i + 1 has counted down to it, and prints "b i": the last one ends
// first.
const std::string kBackwards =
    kTarget +
    ".extern .func (.param .b32 n) vprintf(.param .b64 format, .param .b64 values);\n"
    ".global .align 1 .b8 a[6] = {97, 32, 37, 100, 10, 0};\n.global .align 1 .b8 b[6] = {98, 32, 37, 100, "
    "10, "
    "0};\n.visible .entry k(.param .u64 left)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %a<6>;\n"
    ".local .align 8 .b8 values[8];\n.reg .b64 %SP;\nmov.u64 %a1, values;\ncvta.local.u64 %SP, %a1;\n"
    "ld.param.u64 %a0, [left];\nmov.u32 %r0, %ctaid.x;\nst.local.u32 [values], %r0;\nmov.u64 %a2, a;\n"
    "cvta.global.u64 %a2, %a2;\n"
    "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 r;\nst.param.b64 [p0], %a2;\nst.param.b64 [p1], %SP;\n"
    "call.uni (r), vprintf, (p0, p1);\n}\n"
    "wait:\nld.relaxed.gpu.global.u32 %r1, [%a0];\nadd.u32 %r2, %r0, 1;\nsetp.ne.u32 %p0, %r1, %r2;\n"
    "@%p0 bra wait;\nmov.u64 %a3, b;\ncvta.global.u64 %a3, %a3;\n"
    "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 r;\nst.param.b64 [p0], %a3;\nst.param.b64 [p1], %SP;\n"
    "call.uni (r), vprintf, (p0, p1);\n}\n";

std::string printed(const std::string& tail, Schedule schedule, std::string* fault = nullptr) {
  launch::Launch l;
  l.ptx = "k.ptx";
  l.module = std::make_shared<const isa::Module>(kBackwards + tail + "ret;\n}\n", l.ptx);
  l.entry = "k";
  l.shape.grid = {3, 1, 1};
  std::vector<std::byte> left(4);
  left[0] = std::byte{3};
  l.add_buffer({"left", left, true, false, true});
  std::string out;
  run::Options options;
  options.schedule = schedule;
  options.print = [&](std::string_view text) { out += text; };
  try {
    launch::simulate(l, options, true);
  } catch (const machine::Fault& e) {
    if (fault == nullptr) throw;
    *fault = e.what();
  }
  return out;
}

const std::string kNext = "st.relaxed.gpu.global.u32 [%a0], %r0;\n";

TEST(Journals, PrintsComeInTheOrderOfTheStart) {
  for (const PolicyName& p : run::kPolicies)
    EXPECT_EQ(printed(kNext, {p.policy, 3}), "a 0\nb 0\na 1\nb 1\na 2\nb 2\n") << p.name;
}

// A fault in the second loses nothing of what any had printed by then.
TEST(Journals, AFaultLosesNoPrint) {
  std::string fault;
  const std::string out = printed(kNext + "setp.eq.u32 %p1, %r0, 1;\n@%p1 trap;\n", {}, &fault);
  EXPECT_NE(fault, "");
  EXPECT_EQ(out, "a 0\na 1\nb 1\na 2\nb 2\n");
}

// Of one text and line: first as the first to start met it, and as often as all did.
TEST(Journals, InAnyOrderTheLaunchIsTheSame) {
  launch::Launch l;
  const isa::Program program = isa::compile(ptx::parse(kTarget + ".visible .entry k() { ret; }\n"), "k");
  constexpr uint32_t kClusters = 6;
  std::vector<uint32_t> order(kClusters);
  for (uint32_t i = 0; i < kClusters; ++i) order[i] = i;
  do {
    std::string out;
    run::Options options;
    options.print = [&](std::string_view text) { out += text; };
    machine::Memory memory;
    machine::Region constants("constants", machine::kConstWindow, 0, true);
    Flight flight;
    run::Grid grid{program, {}, options, memory, constants, machine::Region("", 0, 0, true), flight};
    Journals journals;
    size_t most = 0;
    for (const uint32_t number : order) {
      Journal journal{Notes(false), std::to_string(number)};
      machine::Place place;
      place.ptx_line = 7;
      place.cta = {number, 0, 0};
      journal.notes.add(place, "of all");
      if (number % 2 == 1) journal.notes.add(place, "of some");
      journals.add(number, grid, std::move(journal));
      most = std::max(most, journals.kept().size());
    }
    ASSERT_EQ(out, "012345");
    ASSERT_TRUE(journals.kept().empty());
    ASSERT_LE(most, kClusters / 2);  // neighbours are kept together
    ASSERT_EQ(grid.notes.all().size(), 2U);
    EXPECT_EQ(grid.notes.all()[0].text, "of all");
    EXPECT_EQ(grid.notes.all()[0].times, kClusters);
    EXPECT_EQ(grid.notes.all()[0].place.cta[0], 0U);
    EXPECT_EQ(grid.notes.all()[1].times, kClusters / 2);
    EXPECT_EQ(grid.notes.all()[1].place.cta[0], 1U);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace bitwell::run
