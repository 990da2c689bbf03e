// Every arithmetic and conversion instruction against the digests that the H200 gave.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "model/ptx/parse.h"
#include "verify/probe/recorded.h"
#include "verify/probe/tensor.h"

namespace bitwell::verify {
namespace {

constexpr const char* kWords = "instructions.tuples.xz";

TEST(Instructions, ResultsHaveTheDigestsThatTheGpuGave) {
  const std::optional<Capture> capture = read_capture(share_folder("captures") + "/instructions.json");
  ASSERT_TRUE(capture) << "verify/device/captures/instructions.json is not there";
  const std::optional<Tuples> words = read_tuples(share_folder("captures") + "/" + kWords);
  const std::vector<Probe> all = probes("sm_90a");
  const std::set<std::string> manual = unrecorded();
  std::set<std::string> there;
  for (const Probe& p : all) {
    there.insert(p.instruction);
    EXPECT_NE(capture->digests.contains(p.instruction), manual.contains(p.instruction))
        << p.instruction << " must be either recorded by a GPU or listed in captures/unrecorded.txt";
  }
  for (const TensorInstruction& i : tensor_instructions()) there.insert(i.name);  // recorded in tensor.json
  for (const std::string& name : manual)
    EXPECT_TRUE(there.contains(name)) << name << " is listed, and no instruction";
  for (const auto& [name, digest] : capture->digests)
    EXPECT_TRUE(there.contains(name)) << name << " is recorded, and no instruction";
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> wrong;
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&] {
        for (size_t i = next++; i < all.size(); i = next++) {
          const Probe& p = all[i];
          if (manual.contains(p.instruction)) continue;
          const ptx::Module module = ptx::parse(probe_module({p}, "sm_90a"));
          Launch launch = recorded_launch(p);
          std::string what;
          try {
            simulate(isa::compile(module, p.entry), launch, {}, true);
            what = difference(p, launch, *capture, words);
          } catch (const machine::Fault& f) {
            what = p.instruction + ": " + f.what();
          }
          if (what.empty()) continue;
          const std::scoped_lock lock(mutex);
          wrong.push_back(what);
        }
      });
  }
  for (const std::string& line : wrong) ADD_FAILURE() << line;
}

// A digest alone says that something is wrong, and not what.
TEST(Captures, EachDigestHasRawWordsOfTheSameGpu) {
  for (const std::string family : {"instructions", "tensor", "wgmma", "async"}) {
    const std::string path = share_folder("captures") + "/" + family;
    const std::optional<Capture> capture = read_capture(path + ".json");
    const std::optional<Tuples> words = read_tuples(path + ".tuples.xz");
    ASSERT_TRUE(capture && words) << family;
    EXPECT_EQ(words->device, capture->device);
    for (const auto& [name, digest] : capture->digests) {
      const auto kept = words->of.find(name);
      ASSERT_NE(kept, words->of.end()) << name;
      EXPECT_GE(kept->second.size(), family == "async" ? 1 : kKeptTuples) << name;
    }
    for (const auto& [name, tuples] : words->of)
      EXPECT_TRUE(capture->digests.contains(name)) << name << " has raw words and no digest";
  }
}

}  // namespace
}  // namespace bitwell::verify
