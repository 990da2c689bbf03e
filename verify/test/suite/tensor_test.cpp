// The model of mma.sync and wgmma gives the words whose digests the GPU recorded.
#include "verify/probe/tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "verify/probe/recorded.h"

namespace bitwell::suite {
namespace {

TEST(Tensor, ResultsHaveTheDigestsThatTheGpuGave) {
  const std::optional<capture::Capture> read =
      capture::read_capture(capture::share_folder("captures") + "/tensor.json");
  ASSERT_TRUE(read.has_value()) << "no tensor.json: run device_test on an H200";
  const capture::Capture& capture = *read;
  const std::optional<capture::Tuples> words =
      capture::read_tuples(capture::share_folder("captures") + "/tensor.tuples.xz");
  std::set<std::string> seen;
  const std::set<std::string> manual = capture::unrecorded(capture::share_folder("captures"));
  for (const probe::TensorInstruction& i : probe::tensor_instructions()) {
    if (manual.contains(i.name)) continue;
    for (size_t regime = 0; regime < std::size(probe::kTensorRegimes); ++regime) {
      const std::string key = i.name + ", " + probe::kTensorRegimes[regime];
      const probe::TensorCase c = probe::tensor_case(
          i, regime, std::max<size_t>(1, probe::kTensorRecorded / static_cast<size_t>(i.m * i.n)), 1);
      const std::vector<uint32_t> d = probe::tensor_model(i, c);
      // D as the kernel stores it.
      launch::Launch launch = probe::tensor_launch(i, c);
      std::vector<std::byte>& bytes = launch.buffers.back().bytes;
      const size_t width = bytes.size() / d.size();
      for (size_t n = 0; n < d.size(); ++n) std::memcpy(&bytes[n * width], &d[n], width);
      EXPECT_EQ(probe::difference(key, bytes, capture, words), "");
      seen.insert(key);
    }
  }
  for (const auto& [key, digest] : capture.digests) EXPECT_EQ(seen.count(key), 1u) << key << " is stale";
}

TEST(Tensor, PtxasTakesEveryKernel) {
  const std::string path = (std::filesystem::temp_directory_path() / "bitwell-tensor.ptx").string();
  for (const probe::TensorInstruction& i : probe::tensor_instructions()) {
    std::ofstream(path) << probe::tensor_module(i);
    EXPECT_EQ(std::system((std::string(BITWELL_PTXAS) + " -arch=sm_90a -o /dev/null " + path).c_str()), 0)
        << i.name;
  }
}

}  // namespace
}  // namespace bitwell::suite
