// What other checkers' documents say: an answer of each for each bug, and none about nothing.
#include "verify/bugs/catalogue/peers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/hazard/finding.h"

namespace bitwell::hazard {
namespace {

const std::vector<bugs::Exhibit>& kernels_of_peers() {
  static const std::vector<bugs::Exhibit> all = bugs::read_catalogue(BITWELL_CATALOGUE);
  return all;
}

const bugs::Peers& peers() {
  static const bugs::Peers all(BITWELL_PEERS);
  return all;
}

TEST(Peers, EveryBugHasAnAnswerOfEachPeer) {
  ASSERT_EQ(peers().names(), (std::vector<std::string>{"ConSan", "racecheck", "TIRx"}));
  for (const bugs::Exhibit& e : kernels_of_peers())
    for (const bugs::Bug& bug : e.bugs)
      for (const std::string& peer : peers().names())
        EXPECT_NE(peers().of(peer, e, bug, ""), nullptr)
            << peer << " has no answer for '" << e.name << ": " << bug.name << "' of kind " << bug.expected
            << ": give the kind a row in verify/bugs/catalogue/peers/answers.csv, by what " << peer
            << "'s documents say ('not said' where they say nothing), and the bug one of its own where it "
               "differs";
}

TEST(Peers, EveryKindOfFindingHasAnAnswerOfEachPeer) {
  const bugs::Exhibit none;
  for (const KindRow& row : hazard::kind_rows())
    for (const std::string& peer : peers().names()) {
      const bugs::Bug bug{"", std::string(row.name), "", "", {}};
      EXPECT_NE(peers().of(peer, none, bug, ""), nullptr)
          << peer << " has no answer for the kind '" << row.name
          << "': add a row to verify/bugs/catalogue/peers/answers.csv";
    }
}

TEST(Peers, NoAnswerIsAboutNothing) {
  for (const std::string& about : peers().stale(kernels_of_peers()))
    ADD_FAILURE()
        << "verify/bugs/catalogue/peers/answers.csv answers for '" << about
        << "', which is no bug, kernel, memory or kind: take it out or name it as the catalogue does";
}

TEST(Peers, TheNearestRowCounts) {
  const auto answer = [](const std::string& kernel, const std::string& bug, const std::string& kind,
                         const std::string& memory) {
    bugs::Exhibit e;
    e.name = kernel;
    return peers().of("ConSan", e, {bug, kind, "", "", {}}, memory)->answer;
  };
  EXPECT_EQ(answer("any", "any", "operation-race", "shared memory"), "yes");
  EXPECT_EQ(answer("any", "any", "operation-race", "global memory"), "no");
  EXPECT_EQ(answer("st_async", "any", "operation-race", "global memory"), "not said");
  EXPECT_EQ(answer("bulk_load", "refill-too-early", "operation-race", "shared memory"), "no");
}

// The memory that a planted bug of the catalogue is found in.
std::string memory_of(const std::string& kernel, const std::string& bug) {
  for (const bugs::Exhibit& e : kernels_of_peers())
    for (const bugs::Bug& b : e.bugs)
      if (e.name == kernel && b.name == bug) return bugs::examine(e, &b, 8).memory;
  return "no bug '" + kernel + ": " + bug + "'";
}

TEST(Peers, AMemoryIsNamedWhereBytesLieAndNoneOfWhatHasNoAddress) {
  EXPECT_EQ(memory_of("flag", "relaxed-flag"), "global memory");
  EXPECT_EQ(memory_of("heap_object", "counted-out-relaxed"), "global memory");
  EXPECT_EQ(memory_of("tables", "far-past-a-device-array"), "global memory");
  EXPECT_EQ(memory_of("softmax", "reduction-reused"), "shared memory");
  EXPECT_EQ(memory_of("cluster_begin", "written-before-the-peer-has-begun"), "shared memory");
  EXPECT_EQ(memory_of("tmem_reuse", "no-fence-after"), "tensor memory");
  EXPECT_EQ(memory_of("local_arrays", "by-a-generic-address"), "local memory");
  EXPECT_EQ(memory_of("local_addresses", "by-shuffle"), "local memory");
  EXPECT_EQ(memory_of("tables", "past-the-first-table"), "constant memory");
  EXPECT_EQ(memory_of("wgmma_registers", "group-never-committed"), "");
  EXPECT_EQ(memory_of("sync_lines", "warps-from-two-lines"), "");
  EXPECT_EQ(memory_of("tmem_pair", "freed-before-the-peer-has-its-own"), "");
}

// A folder with these rows, and the words that its refusal must have.
void refused(const std::string& documents, const std::string& answers, const std::string& words) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "bitwell_peers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "documents.csv") << "name,peer,title,version,address\n" << documents;
  std::ofstream(folder / "answers.csv") << "bugs,peer,answer,document,section,why\n" << answers;
  try {
    const bugs::Peers made(folder.string());
    ADD_FAILURE() << "taken: " << answers;
  } catch (const machine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(Peers, BadRowsAreRefusedWithTheirLine) {
  const std::string a = "a,A,t,v,u\n", b = a + "b,B,t,v,u\n";
  refused(a, "race,A,yes,a,s\n", "answers.csv:2: a row has 6 fields");
  refused(a, "race,A,yes,a,,w\n", "answers.csv:2: a row has 6 fields");
  refused(a, "race,A,perhaps,a,s,w\n", "answers.csv:2: the answer 'perhaps' is none of");
  refused(a, "race,A,yes,a,s,w\nscope,A,yes,c,s,w\n", "answers.csv:3: documents.csv has no document 'c'");
  refused(b, "race,A,yes,b,s,w\n", "document 'b' is one of B, not of A");
  refused(a, "race; scope,A,yes,a,s,w\nscope,A,no,a,s,w\n",
          "answers.csv:3: 'scope' has an answer of A already");
  refused("a,A,t\n", "", "documents.csv:2: a row has 5 fields");
}

}  // namespace
}  // namespace bitwell::hazard
