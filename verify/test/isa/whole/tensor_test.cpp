// Tensor-core instructions run as kernels: the same PTX, operands and digests as on the H200.
#include "verify/probe/tensor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "../../kernel.h"
#include "verify/probe/recorded.h"
#include "verify/probe/wgmma.h"

namespace bitwell::isa {
namespace {

TEST(TensorInstructions, KernelsGiveTheDigestsThatTheGpuGave) {
  const std::optional<capture::Capture> capture =
      capture::read_capture(capture::share_folder("captures") + "/tensor.json");
  ASSERT_TRUE(capture) << "verify/device/captures/tensor.json is not there";
  const std::optional<capture::Tuples> words =
      capture::read_tuples(capture::share_folder("captures") + "/tensor.tuples.xz");
  const std::vector<probe::TensorInstruction> all = probe::tensor_instructions();
  const std::set<std::string> manual = capture::unrecorded(capture::share_folder("captures"));
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> wrong;
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&] {
        for (size_t n = next++; n < all.size(); n = next++) {
          const probe::TensorInstruction& i = all[n];
          const test::Module module = test::module_of(probe::tensor_module(i));
          for (size_t regime = 0; regime < std::size(probe::kTensorRegimes); ++regime) {
            const size_t tiles = probe::kTensorRecorded / static_cast<size_t>(i.m * i.n);
            const probe::TensorCase operands = probe::tensor_case(i, regime, tiles, 1);
            launch::Launch launch = probe::tensor_launch(i, operands);
            const std::string name = i.name + ", " + probe::kTensorRegimes[regime];
            std::string what;
            try {
              test::run_ptx(module, launch);
              what = probe::difference(name, probe::outputs_of(launch), *capture, words);
              // What no GPU has recorded is held against the tile alone.
              if (manual.contains(i.name) &&
                  probe::tensor_results(i, launch) == probe::tensor_model(i, operands))
                continue;
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
  const std::optional<capture::Capture> capture =
      capture::read_capture(capture::share_folder("captures") + "/wgmma.json");
  ASSERT_TRUE(capture) << "verify/device/captures/wgmma.json is not there";
  const std::optional<capture::Tuples> words =
      capture::read_tuples(capture::share_folder("captures") + "/wgmma.tuples.xz");
  for (const probe::WgmmaVariant& v : probe::wgmma_variants()) {
    launch::Launch launch = probe::wgmma_launch(v, probe::kWgmmaRecorded, 1);
    test::run_ptx(probe::wgmma_module(v), launch);
    EXPECT_EQ(probe::difference(v.name, probe::outputs_of(launch), *capture, words), "");
  }
}

}  // namespace
}  // namespace bitwell::isa
