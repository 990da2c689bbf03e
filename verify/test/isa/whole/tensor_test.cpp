// Tensor-core instructions run as kernels: the same PTX, operands and digests as on the H200.
#include "verify/probe/tensor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "../../kernel.h"
#include "verify/probe/recorded.h"
#include "verify/probe/wgmma.h"

namespace bitwell::verify {
namespace {

TEST(TensorInstructions, KernelsGiveTheDigestsThatTheGpuGave) {
  const std::optional<Capture> capture = read_capture(share_folder("captures") + "/tensor.json");
  ASSERT_TRUE(capture) << "verify/device/captures/tensor.json is not there";
  const std::optional<Tuples> words = read_tuples(share_folder("captures") + "/tensor.tuples.xz");
  const std::vector<TensorInstruction> all = tensor_instructions();
  const std::set<std::string> manual = unrecorded(share_folder("captures"));
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> wrong;
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&] {
        for (size_t n = next++; n < all.size(); n = next++) {
          const TensorInstruction& i = all[n];
          const test::Module module = test::module_of(tensor_module(i));
          for (size_t regime = 0; regime < std::size(kTensorRegimes); ++regime) {
            const size_t tiles = kTensorRecorded / static_cast<size_t>(i.m * i.n);
            const TensorCase operands = tensor_case(i, regime, tiles, 1);
            Launch launch = tensor_launch(i, operands);
            const std::string name = i.name + ", " + kTensorRegimes[regime];
            std::string what;
            try {
              test::run_ptx(module, launch);
              what = difference(name, outputs_of(launch), *capture, words);
              // What no GPU has recorded is held against the tile alone.
              if (manual.contains(i.name) && tensor_results(i, launch) == tensor_model(i, operands)) continue;
            } catch (const std::exception& e) {
              what = name + ": " + e.what();
            }
            if (what.empty()) continue;
            const std::scoped_lock lock(mutex);
            wrong.push_back(what);
          }
        }
      });
  }
  for (const std::string& line : wrong) ADD_FAILURE() << line;
}

TEST(TensorInstructions, MatrixDescriptorsGiveTheDigestsThatTheGpuGave) {
  const std::optional<Capture> capture = read_capture(share_folder("captures") + "/wgmma.json");
  ASSERT_TRUE(capture) << "verify/device/captures/wgmma.json is not there";
  const std::optional<Tuples> words = read_tuples(share_folder("captures") + "/wgmma.tuples.xz");
  for (const WgmmaVariant& v : wgmma_variants()) {
    Launch launch = wgmma_launch(v, kWgmmaRecorded, 1);
    test::run_ptx(wgmma_module(v), launch);
    EXPECT_EQ(difference(v.name, outputs_of(launch), *capture, words), "");
  }
}

}  // namespace
}  // namespace bitwell::verify
