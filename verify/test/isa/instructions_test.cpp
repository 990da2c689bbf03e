// Every arithmetic and conversion instruction against the digests that the H200 gave.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "model/ptx/parse.h"
#include "verify/capture/captures.h"
#include "verify/capture/digest.h"
#include "verify/probe/instruction.h"
#include "verify/probe/tensor.h"

namespace bitwell::verify {
namespace {

constexpr uint32_t kTuples = 65536;

TEST(Instructions, ResultsHaveTheDigestsThatTheGpuGave) {
  const std::optional<Capture> capture = read_capture(share_folder("captures") + "/instructions.json");
  ASSERT_TRUE(capture) << "verify/device/captures/instructions.json is not there";
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
          Launch launch = probe_launch(p, kTuples, 7);
          std::string got;
          try {
            simulate(isa::compile(module, p.entry), launch, {}, true);
            Digest digest;
            digest.add(launch.buffers.back().bytes);
            got = digest.hex();
          } catch (const machine::Fault& f) {
            got = f.what();
          }
          const auto expected = capture->digests.find(p.instruction);
          if (expected != capture->digests.end() && expected->second == got) continue;
          const std::scoped_lock lock(mutex);
          wrong.push_back(p.instruction + " => " + got + " expected (" + capture->device + ") " +
                          (expected == capture->digests.end() ? "nothing" : expected->second));
        }
      });
  }
  for (const std::string& line : wrong) ADD_FAILURE() << line;
}

}  // namespace
}  // namespace bitwell::verify
