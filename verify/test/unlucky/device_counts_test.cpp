// Counts of a GPU as they are kept and shown: "stale" once the kernel is another, and nothing hidden.
#include "verify/bugs/catalogue/device_counts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/machine/memory/memory.h"
#include "verify/bugs/catalogue/legal_ends.h"
#include "verify/launch/start.h"

namespace bitwell::bugs {
namespace {

const std::string kText =
    "//: launch block 32 buffers 4\n//: bug twice race\n.version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out)\n{\n.reg .b64 %a;\nld.param.u64 %a, [out];\n"
    "st.global.u32 [%a], 1;\nst.global.u32 [%a], 2; //+ twice //! twice\nret;\n}\n";

Exhibit exhibit_of(const std::string& text, const std::string& name = "kernel") {
  // Tests run side by side.
  const std::string folder = testing::TempDir() + "device_counts." + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/" + name + ".ptx") << text;
  return read_catalogue(folder).at(0);
}

DeviceCount count_of(const Exhibit& x) {
  return {x.name, "twice", "race", {1024, 3}, {1024, 700}, "", "NVIDIA H200", digest_of(x, "twice")};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(DeviceCounts, AreShownForTheTextThatRan) {
  const Exhibit x = exhibit_of(kText);
  const DeviceCount c = count_of(x);
  EXPECT_EQ(counted_columns({c}, x, "twice"), "       3      700");
  EXPECT_EQ(counted_columns({c}, x, ""), "       -        -");
  EXPECT_EQ(counted_columns({}, x, "twice"), "       -        -");
  DeviceCount other = c;
  other.delayed = {512, 7, true, false};
  EXPECT_EQ(counted_columns({other}, x, "twice"), "       3    hangs");
  other.plain = {0, 0, false, true}, other.delayed = {};
  EXPECT_EQ(counted_columns({other}, x, "twice"), "  faults        -");
  other.not_counted = "void";
  EXPECT_EQ(counted_columns({other}, x, "twice"), "    void     void");
}

TEST(DeviceCounts, AreStaleOnceWhatRunsIsAnother) {
  const DeviceCount c = count_of(exhibit_of(kText));
  for (const auto& [what, by] : {std::pair("[%a], 2;", "[%a], 3;"), std::pair("block 32", "block 64"),
                                 std::pair("buffers 4", "buffers 8")})
    EXPECT_EQ(counted_columns({c}, exhibit_of(replaced(kText, what, by)), "twice"), "   stale    stale");
  for (const auto& [what, by] : {std::pair("race\n", "race\n//: from a report\n"),
                                 std::pair("ret;", "ret; // end"), std::pair("//! twice", "//! twice\n\n")})
    EXPECT_EQ(counted_columns({c}, exhibit_of(replaced(kText, what, by)), "twice"), "       3      700")
        << by;
}

TEST(DeviceCounts, AreReadAsTheyWereWritten) {
  const std::string path = testing::TempDir() + "device_counts." + std::to_string(getpid()) + ".csv";
  const bool held = rc::check("a row read back is the row", [&] {
    const auto counted = [] {
      return Counted{*rc::gen::inRange<uint64_t>(0, 1'000'000), *rc::gen::inRange<uint64_t>(0, 1'000'000),
                     *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
    };
    const DeviceCount c{"kernel",      *rc::gen::element<std::string>("", "bug"),
                        "race",        counted(),
                        counted(),     *rc::gen::element<std::string>("", "void", "refused"),
                        "NVIDIA H200", "0123"};
    std::ofstream(path) << device_counts_header() << line_of(c);
    const std::vector<DeviceCount> read = read_device_counts(path);
    RC_ASSERT(read.size() == 1u);
    RC_ASSERT(line_of(read[0]) == line_of(c));
    RC_ASSERT(read[0].plain.wrong == c.plain.wrong);
    RC_ASSERT(read[0].delayed.hangs == c.delayed.hangs);
    RC_ASSERT(read[0].not_counted == c.not_counted);
  });
  EXPECT_TRUE(held);
  for (const std::string& bad : {std::string("kernel,bug\n"), device_counts_header() + "a,b,c\n",
                                 device_counts_header() + "a,b,c,x,0,0,0,0,0,0,0,,d,e\n"}) {
    std::ofstream(path) << bad;
    EXPECT_THROW(read_device_counts(path), machine::InputError) << bad;
  }
}

TEST(DeviceCounts, TheSummaryCountsEveryBugOnce) {
  const DeviceCount never{"k", "a", "race", {10, 0}, {10, 0}, "", "H", ""};
  DeviceCount always = never, delayed = never, hangs = never, at_times = never, nothing = never,
              clean = never;
  always.plain.wrong = always.delayed.wrong = 10;
  at_times.plain.wrong = 3;
  delayed.delayed = {0, 0, true, false};
  hangs.plain = {0, 0, true, false}, hangs.delayed = {};
  hangs.expected = "fault";
  nothing.not_counted = "void", nothing.plain.wrong = 9;
  clean.bug = "", clean.expected = "nothing";
  EXPECT_EQ(
      summary_of({clean, never, always, delayed, hangs, at_times, nothing}),
      "H: 10 launches of each, as many delayed; clean kernels right in all of them: 1; void or refused: 1\n"
      "bugs found as         bugs  always hang or error  now and then  delayed only   never\n"
      "fault                    1       0             1             0             0       0\n"
      "race                     4       1             0             1             1       1\n"
      "all                      5       1             1             1             1       1\n");
}

// Rows may be stale, but not of kernels that are gone, and clean kernels are what the counts rest on.
TEST(DeviceCounts, ThoseThatAreKeptAreOfTheCatalogue) {
  const std::vector<Exhibit> catalogue = read_catalogue(BITWELL_CATALOGUE);
  for (const DeviceCount& c : read_device_counts(BITWELL_DEVICE_COUNTS)) {
    const auto x = std::find_if(catalogue.begin(), catalogue.end(),
                                [&](const Exhibit& e) { return e.name == c.kernel; });
    ASSERT_NE(x, catalogue.end()) << c.kernel;
    EXPECT_TRUE(c.bug.empty() ||
                std::any_of(x->bugs.begin(), x->bugs.end(), [&](const Bug& b) { return b.name == c.bug; }))
        << c.kernel << ": " << c.bug;
    EXPECT_FALSE(c.bug.empty() && shows(c) && c.not_counted.empty()) << c.kernel;
  }
}

TEST(DeviceCounts, ThePageHasTheSumOfThem) {
  std::ifstream page(BITWELL_BUGS_PAGE);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  std::string sum = "    " + summary_of(read_device_counts(BITWELL_DEVICE_COUNTS));
  for (size_t at = sum.find('\n'); at + 1 < sum.size(); at = sum.find('\n', at + 1))
    sum.insert(at + 1, "    ");
  EXPECT_NE(text.find(sum), std::string::npos) << "verify/bugs/README.md should have\n" << sum;
}

TEST(LegalEnds, InputsHoldDistinctWordsAndAddressesDoNotCount) {
  const LegalEnds copied = legal_ends(exhibit_of(
      "//: launch block 1 buffers 16 16 16\n.version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 in, .param .u64 out, .param .u64 place)\n{\n.reg .b64 %a<3>;\n"
      ".reg .b32 %r;\nld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nld.param.u64 %a2, [place];\n"
      "ld.global.u32 %r, [%a0+4];\nst.global.u32 [%a1], %r;\nst.global.u64 [%a2+8], %a0;\nret;\n}\n"));
  ASSERT_EQ(copied.ends.size(), 1u);
  EXPECT_TRUE(copied.complete);
  const auto& in = copied.launch.buffers[0].bytes;
  EXPECT_FALSE(std::equal(in.begin(), in.begin() + 4, in.begin() + 4));
  EXPECT_TRUE(std::equal(in.begin() + 4, in.begin() + 8, copied.ends[0][1].begin()));
  const std::vector<std::byte> all(16, std::byte{0xFF});
  std::vector<std::byte> first = all;
  std::fill(first.begin() + 8, first.end(), std::byte{0});
  EXPECT_EQ(copied.compared, (std::vector{all, all, first}));
}

// Where shared and local memory stand is our own choice: a kernel that leaves such an address is wrong on any
// GPU.
TEST(LegalEnds, OfTheCatalogueHoldNoAddressOfAWindow) {
  for (const Exhibit& x : read_catalogue(BITWELL_CATALOGUE)) {
    const launch::Launch launch = with_distinct_inputs(x);
    const launch::Ran ran = launch::Start(launch).run({}, true);
    for (size_t b = 0; b < launch.buffers.size(); ++b) {
      const std::vector<std::byte> left = ran.buffer(launch, b);
      for (size_t at = 0; at + 8 <= left.size(); at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, &left[at], sizeof word);
        EXPECT_FALSE(word >= machine::kSharedWindow && word < machine::kModuleGlobals &&
                     word % (uint64_t{1} << 40) < machine::kWindowSize)
            << x.name << ", buffer " << b << ", byte " << at;
      }
    }
  }
}

}  // namespace
}  // namespace bitwell::bugs
