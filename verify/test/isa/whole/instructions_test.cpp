// Every arithmetic and conversion instruction against the digests that the H200 gave.
#include <gtest/gtest.h>

#include "../../kernel.h"
#include "verify/probe/recorded.h"
#include "verify/probe/tensor.h"

namespace bitwell::isa {
namespace {

constexpr const char* kWords = "instructions.tuples.xz";

std::optional<capture::Capture> recorded() {
  return capture::read_capture(capture::share_folder("captures") + "/instructions.json");
}

// A test takes one part of so many of all forms; few, as the list of all costs half a second to make.
constexpr size_t kParts = 4;

class Instructions : public testing::TestWithParam<size_t> {};

TEST_P(Instructions, HaveTheDigestsThatTheGpuGave) {
  const std::optional<capture::Capture> capture = recorded();
  ASSERT_TRUE(capture) << "verify/device/captures/instructions.json is not there";
  const std::optional<capture::Tuples> words =
      capture::read_tuples(capture::share_folder("captures") + "/" + kWords);
  const std::vector<probe::Probe> all = probe::probes("sm_90a");
  const std::set<std::string> manual = capture::unrecorded(capture::share_folder("captures"));
  probe::Inputs drawn;
  for (size_t i = all.size() * GetParam() / kParts; i < all.size() * (GetParam() + 1) / kParts; ++i) {
    const probe::Probe& p = all[i];
    if (manual.contains(p.instruction)) continue;
    launch::Launch launch = probe::recorded_launch(p, drawn);
    try {
      test::run_ptx(probe::probe_module({p}, "sm_90a"), launch);
      EXPECT_EQ(probe::difference(p, launch, *capture, words), "");
    } catch (const machine::Fault& f) {
      ADD_FAILURE() << p.instruction << ": " << f.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Instructions, testing::Range<size_t>(0, kParts));

TEST(InstructionsList, EachIsRecordedByAGpuOrListedAsNotRecorded) {
  const std::optional<capture::Capture> capture = recorded();
  ASSERT_TRUE(capture) << "verify/device/captures/instructions.json is not there";
  const std::set<std::string> manual = capture::unrecorded(capture::share_folder("captures"));
  std::set<std::string> there;
  for (const probe::Probe& p : probe::probes("sm_90a")) {
    there.insert(p.instruction);
    EXPECT_NE(capture->digests.contains(p.instruction), manual.contains(p.instruction))
        << p.instruction << " must be either recorded by a GPU or listed in captures/unrecorded.txt";
  }
  for (const probe::TensorInstruction& i : probe::tensor_instructions())
    there.insert(i.name);  // recorded in tensor.json
  for (const std::string& name : manual)
    EXPECT_TRUE(there.contains(name)) << name << " is listed, and no instruction";
  for (const auto& [name, digest] : capture->digests)
    EXPECT_TRUE(there.contains(name)) << name << " is recorded, and no instruction";
}

// A digest alone says that something is wrong, and not what.
TEST(Captures, EachDigestHasRawWordsOfTheSameGpu) {
  for (const std::string family : {"instructions", "tensor", "wgmma", "async"}) {
    const std::string path = capture::share_folder("captures") + "/" + family;
    const std::optional<capture::Capture> capture = capture::read_capture(path + ".json");
    const std::optional<capture::Tuples> words = capture::read_tuples(path + ".tuples.xz");
    ASSERT_TRUE(capture && words) << family;
    EXPECT_EQ(words->device, capture->device);
    for (const auto& [name, digest] : capture->digests) {
      const auto kept = words->of.find(name);
      ASSERT_NE(kept, words->of.end()) << name;
      EXPECT_GE(kept->second.size(), family == "async" ? 1 : probe::kKeptTuples) << name;
    }
    for (const auto& [name, tuples] : words->of)
      EXPECT_TRUE(capture->digests.contains(name)) << name << " has raw words and no digest";
  }
}

}  // namespace
}  // namespace bitwell::isa
