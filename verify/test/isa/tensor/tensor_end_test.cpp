// What is still under way when a CTA frees its tensor memory and ends (PTX ISA 9.0, 9.7.16.2 and 9.7.16.7.1):
// each operation is named with its line.
#include <gtest/gtest.h>

#include <algorithm>

#include "../../kernel.h"
#include "verify/probe/tensor_mma.h"

namespace bitwell::isa {
namespace {

// Of a run: its first note, or the fault that it ended with; "held" where it had neither.
std::string outcome(const probe::MmaCase& p, const std::string& text, bool strict = false,
                    run::Policy policy = run::Policy::lazy) {
  launch::Launch l = probe::launch_of(p);
  run::Options options;
  options.schedule.policy = policy;
  options.strict = strict;
  try {
    const run::RunResult r = test::run_ptx(text, l, options);
    if (r.notes.empty()) return "held";
    return "note: line " + std::to_string(r.notes[0].place.ptx_line) + ", " + r.notes[0].text;
  } catch (const machine::Fault& e) {
    return e.what();
  }
}

// The number of the line of `text` in which `at` stands.
std::string line_at(const std::string& text, size_t at) {
  return std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

class TensorEnd : public testing::Test {
 protected:
  TensorEnd() { p.accumulate = false; }

  // The kernel with an operation before its columns are freed, where all threads have met; %r9 is the first
  // of them in warp 0's lanes.
  std::string with_last(const std::string& operation) {
    std::string text = probe::kernel(p);
    at = text.rfind("ld.shared.b32 %r4, [base];");
    text.insert(at, "mov.b32 %r9, %r5;\n" + operation + "\n");
    at += text.substr(at).find('\n') + 1;
    return text;
  }
  // Noted once, at its line, where the schedule is the lazy one; an error where notes are.
  void expect_note(const std::string& text, const std::string& what) {
    EXPECT_EQ(outcome(p, text), "note: line " + line_at(text, at) + ", " + what);
    const std::string strict = outcome(p, text, true);
    EXPECT_EQ(strict.find("PTX line " + line_at(text, at) + ", "), 0u) << strict;
    EXPECT_NE(strict.find(what), std::string::npos) << strict;
  }
  void expect_fault(const std::string& text, const std::string& what) {
    const std::string said = outcome(p, text);
    EXPECT_EQ(said.find("PTX line " + line_at(text, at) + ", "), 0u) << said;
    EXPECT_NE(said.find(what), std::string::npos) << said;
  }

  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[3], 128, 16, 2);
  size_t at = 0;
};

TEST_F(TensorEnd, ALoadIsWaitedForBeforeItsColumnsAreFreed) {
  const std::string load = "@%p0 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r9];";
  expect_note(with_last(load),
              "tcgen05.ld is under way when its columns are freed: tcgen05.wait::ld is missing");
  EXPECT_EQ(outcome(p, with_last(load + "\n@%p0 tcgen05.wait::ld.sync.aligned;")), "held");
}

TEST_F(TensorEnd, AStoreIsWaitedForBeforeItsColumnsAreFreed) {
  const std::string store = "@%p0 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r9], {%r0};";
  expect_note(with_last(store),
              "tcgen05.st is under way when its columns are freed: tcgen05.wait::st is missing");
  EXPECT_EQ(outcome(p, with_last(store + "\n@%p0 tcgen05.wait::st.sync.aligned;")), "held");
}

TEST_F(TensorEnd, ACommitOfItsOwnBarrierIsANote) {
  const std::string commit =
      "@%p6 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];";
  expect_note(with_last(commit), "tcgen05.commit is under way when its CTA ends, which does not wait for it");
  EXPECT_EQ(outcome(p, with_last(commit), true, run::Policy::eager), "held");
}

// What they reach may be another CTA's then.
TEST_F(TensorEnd, OperationsOnFreedColumnsAreFaults) {
  const char* const under_way = " is under way when its CTA ends, which has freed its tensor memory";
  const std::string mma = "@%p6 tcgen05.mma.cta_group::1.kind::f16 [%r4], %x0, %x1, %r10, %p3;";
  expect_fault(with_last(mma), std::string("tcgen05.mma") + under_way);
  expect_fault(with_last("@%p6 tcgen05.shift.cta_group::1.down [%r13];"),
               std::string("tcgen05.shift") + under_way);
  expect_fault(with_last("@%p6 tcgen05.cp.cta_group::1.128x128b [%r11], %x0;"),
               std::string("tcgen05.cp") + under_way);
  EXPECT_EQ(outcome(p, with_last(mma), true, run::Policy::eager), "held");
}

TEST_F(TensorEnd, ColumnsThatAreKeptAreNamed) {
  std::string text = probe::kernel(p);
  const size_t from = text.find("@%p0 tcgen05.dealloc");
  text.erase(from, text.find('\n', from) + 1 - from);
  EXPECT_NE(outcome(p, text).find("the CTA ends with columns 0 to 511 of tensor memory allocated"),
            std::string::npos)
      << outcome(p, text);
}

// A commit of a pair arrives in both CTAs: one that has ended cannot take it.
TEST_F(TensorEnd, ACommitOfAnotherCtasBarrierIsAFault) {
  p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[3], 256, 16, 2, 2);
  const std::string said = outcome(
      p, with_last(
             "@%p6 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
             "[bar], %h0;"));
  EXPECT_NE(said.find("tcgen05.commit arrives at a barrier of CTA rank 1, which has ended"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace bitwell::isa
