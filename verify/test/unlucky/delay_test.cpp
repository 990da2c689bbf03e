// Delays change nothing of a kernel but its time.
#include "verify/bugs/catalogue/delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "verify/bugs/catalogue/legal_ends.h"
#include "verify/schedules/schedules.h"

namespace bitwell::bugs {
namespace {

// What was put in: from "{ .reg .b32 late" to the brace behind the sleep.
const std::regex kPutIn(R"(\{ \.reg \.b32 late[^}]*nanosleep[^}]*\} )");

std::vector<std::string> names_of(const Exhibit& x) {
  std::vector<std::string> out{""};
  for (const Bug& bug : x.bugs) out.push_back(bug.name);
  return out;
}

TEST(Delayed, TheTextIsAsItWasButForTheSleeps) {
  for (const Exhibit& x : read_catalogue(BITWELL_CATALOGUE))
    for (const std::string& name : names_of(x)) {
      const std::string text = ptx_of(x, name);
      EXPECT_EQ(std::regex_replace(delayed(text), kPutIn, ""), text) << x.name << " " << name;
    }
}

// Lines of the catalogue hold one instruction each.
TEST(Delayed, ASleepStandsBeforeWhatReachesMemoryOrMeetsThreads) {
  const std::regex reaches(
      R"(^(@!?%p\d+ +)?(ld|st|atom|red|cp|bar|barrier|mbarrier|fence|membar|tensormap|griddepcontrol|wgmma\.fence|ldmatrix|stmatrix|multimem)[. ].*)");
  for (const Exhibit& x : read_catalogue(BITWELL_CATALOGUE))
    for (const std::string& name : names_of(x)) {
      std::istringstream before(ptx_of(x, name)), after(delayed(ptx_of(x, name)));
      for (std::string a, b; std::getline(before, a) && std::getline(after, b);) {
        const bool sleeps = std::regex_match(a, reaches) && a.find("ld.param") == std::string::npos &&
                            a.find("st.param") == std::string::npos;
        EXPECT_EQ(b.starts_with("{ .reg .b32 late"), sleeps) << x.name << " " << name << ": " << a;
        EXPECT_EQ(b.size() > a.size(), sleeps) << a;
      }
    }
}

// What runs of the schedules leave, each once. Random waits may give up again and again: no end.
std::set<std::vector<std::vector<std::byte>>> ends_of(const std::string& ptx, launch::Launch launch) {
  launch.module = std::make_shared<const isa::Module>(ptx);
  const launch::Start start(launch);
  std::set<std::vector<std::vector<std::byte>>> out;
  for (const run::Schedule& schedule : launch::schedules(7)) {
    run::Options options;
    options.schedule = schedule;
    options.step_limit = 1 << 22;
    try {
      const launch::Ran ran = start.run(options, true);
      std::vector<std::vector<std::byte>> end;
      for (size_t b = 0; b < launch.buffers.size(); ++b) end.push_back(ran.buffer(launch, b));
      out.insert(std::move(end));
    } catch (const machine::Fault& fault) {
      EXPECT_NE(std::string(fault.what()).find("no end after"), std::string::npos) << fault.what();
    }
  }
  return out;
}

TEST(Delayed, AKernelWithoutABugLeavesTheSameBytes) {
  for (const Exhibit& x : read_catalogue(BITWELL_CATALOGUE)) {
    const launch::Launch launch = with_distinct_inputs(x);
    const auto ends = ends_of(ptx_of(x), launch);
    EXPECT_FALSE(ends.empty()) << x.name;
    EXPECT_EQ(ends_of(delayed(ptx_of(x)), launch), ends) << x.name;
  }
}

TEST(Delayed, SeveralInstructionsOfALineAndGuardsEachGetTheirOwn) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry e()\n{ .reg .pred %p; "
      ".reg .b32 %r;\nbar.sync 0; @!%p bar.sync 0; { add.u32 %r, %r, 1; L: bar.sync 0; } ret;\n}\n";
  const std::string with = delayed(text);
  size_t sleeps = 0;
  for (std::sregex_iterator i(with.begin(), with.end(), kPutIn), end; i != end; ++i) ++sleeps;
  EXPECT_EQ(sleeps, 3u);
  EXPECT_NE(with.find("} @!%p bar.sync"), std::string::npos) << "in front of the guard";
  EXPECT_NE(with.find("L: { .reg"), std::string::npos) << "behind the label";
  EXPECT_THROW(delayed("no PTX"), ptx::SyntaxError);
}

}  // namespace
}  // namespace bitwell::bugs
