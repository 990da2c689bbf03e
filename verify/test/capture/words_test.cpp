// Each instruction on the operands whose results an H200 gave as raw words, in one launch of 256 threads:
// what the slow set does with all 65,536 tuples of the digests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "../kernel.h"
#include "verify/probe/recorded.h"

namespace bitwell::capture {
namespace {

// The thread that a recorded tuple is given to. Threads from 171 on come with the carry flag set, as all
// recorded tuples but the first did: the kernel adds 0xFFFFFF55 to the number that the thread has in the
// launch.
constexpr size_t kThreads = 256;
constexpr size_t kFirstWithCarry = 171;
size_t thread_of(size_t tuple) { return tuple == 0 ? 0 : kFirstWithCarry + tuple; }

launch::Launch launch_of(const probe::Probe& probe, const std::vector<Tuple>& tuples) {
  launch::Launch launch = probe::probe_launch(probe, kThreads, 1);
  for (size_t n = 0; n + 1 < launch.buffers.size(); ++n) {
    std::vector<std::byte>& in = launch.buffers[n].bytes;
    const size_t width = in.size() / kThreads;
    for (size_t i = 0; i < tuples.size(); ++i)
      std::memcpy(&in[width * thread_of(i)], &tuples[i].inputs.at(n), width);
  }
  return launch;
}

std::vector<Tuple> results_of(const launch::Launch& ran, std::vector<Tuple> tuples) {
  for (size_t i = 0; i < tuples.size(); ++i) {
    std::vector<uint64_t>& results = tuples[i].results;
    std::memcpy(results.data(), &ran.buffers.back().bytes[8 * results.size() * thread_of(i)],
                8 * results.size());
  }
  return tuples;
}

const std::map<std::string, std::vector<Tuple>>& recorded() {
  static const std::optional<Tuples> words =
      read_tuples(share_folder("captures") + "/instructions.tuples.xz");
  static const std::map<std::string, std::vector<Tuple>> none;
  return words ? words->of : none;
}

TEST(Words, AreThoseThatTheGpuGave) {
  size_t compared = 0;
  for (const probe::Probe& p : probe::probes("sm_90a")) {
    const auto found = recorded().find(p.instruction);
    if (found == recorded().end()) continue;
    ++compared;
    launch::Launch launch = launch_of(p, found->second);
    test::run_ptx(probe::probe_module({p}, "sm_90a"), launch);
    EXPECT_EQ(first_wrong(found->second, results_of(launch, found->second)), "") << p.instruction;
  }
  EXPECT_EQ(compared, recorded().size()) << "recorded instructions that are no probe";
}

// Without the file there is nothing that could be wrong.
TEST(RecordedWords, AreThere) { EXPECT_GT(recorded().size(), 2000u); }

}  // namespace
}  // namespace bitwell::capture
