// mma.sync and wgmma, every type and regime, model against GPU, bit for bit.
#include "verify/probe/tensor.h"

#include <algorithm>
#include <thread>

#include "gpu.h"

namespace bitwell::device {
namespace {

// Outputs of one instruction in one regime; BITWELL_TENSOR_OUTPUTS asks for more.
size_t outputs_wanted() {
  const char* text = std::getenv("BITWELL_TENSOR_OUTPUTS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : size_t{1} << 18;
}
struct Piece {
  probe::TensorCase operands;
  std::vector<uint32_t> expected;
};

TEST(Tensor, ModelAndGpuAgreeOnEveryBit) {
  BITWELL_NEEDS_GPU(device);
  Recording recording;
  uint64_t compared = 0;
  uint64_t all_wrong = 0;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::printf("%-28s", "mismatches");
  for (const char* regime : probe::kTensorRegimes) std::printf("  %14s", regime);
  std::printf("\n");
  const char* only = std::getenv("BITWELL_TENSOR_ONLY");  // a part of the instructions' names
  for (const probe::TensorInstruction& i : probe::tensor_instructions()) {
    if (only != nullptr && i.name.find(only) == std::string::npos) continue;
    const auto loaded = device->load(probe::tensor_module(i));
    std::printf("%-28s", i.name.c_str());
    for (size_t regime = 0; regime < std::size(probe::kTensorRegimes); ++regime) {
      const auto tile = static_cast<size_t>(i.m * i.n);
      size_t wrong = 0;
      // The recorded outputs alone first, then pieces that host threads make side by side.
      uint64_t seed = 1;
      for (size_t done = 0; done < probe::kTensorRecorded + outputs_wanted();) {
        std::vector<Piece> pieces(seed == 1 ? 1 : threads);
        const size_t outputs = seed == 1 ? probe::kTensorRecorded
                                         : std::min<size_t>(outputs_wanted() / threads + 1, size_t{1} << 19);
        {
          std::vector<std::jthread> pool;
          for (size_t p = 0; p < pieces.size(); ++p)
            pool.emplace_back([&, p] {
              pieces[p].operands =
                  probe::tensor_case(i, regime, std::max<size_t>(1, outputs / tile), seed + p);
              pieces[p].expected = probe::tensor_model(i, pieces[p].operands);
            });
        }
        for (size_t p = 0; p < pieces.size(); ++p) {
          launch::Launch launch = probe::tensor_launch(i, pieces[p].operands);
          device->run(*loaded, launch);
          const std::vector<uint32_t> got = probe::tensor_results(i, launch);
          for (size_t n = 0; n < got.size(); ++n) {
            if (got[n] == pieces[p].expected[n]) continue;
            if (++wrong <= 2)
              ADD_FAILURE() << i.name << ", " << probe::kTensorRegimes[regime] << ", seed " << seed + p
                            << ", output " << n << std::hex << ": GPU " << got[n] << ", model "
                            << pieces[p].expected[n] << ", C " << pieces[p].operands.c[n];
          }
          if (seed == 1) recording.add(i.name + ", " + probe::kTensorRegimes[regime], launch);
          done += got.size();
          compared += got.size();
        }
        seed += pieces.size();
      }
      all_wrong += wrong;
      std::printf("  %14zu", wrong);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  std::printf("%llu outputs compared with %s (driver %s), %llu mismatches\n",
              static_cast<unsigned long long>(compared), device->name().c_str(), device->driver().c_str(),
              static_cast<unsigned long long>(all_wrong));
  if (only == nullptr) recording.write(*device, "tensor");
}

// A tie at 2^-25 in fp16 with one product of 2^-48 to 2^-45 beside it and zeros everywhere else: whether the
// small one survives tells the exponent that zeros take part with. MMA-Sim says -21 for all of these.
TEST(Tensor, ZerosOfHalfResultsTakePartWithTheRulesExponent) {
  BITWELL_NEEDS_GPU(device);
  for (const probe::TensorInstruction& i : probe::tensor_instructions()) {
    if (i.input != &number::f16 || i.output != &number::f16) continue;
    const size_t tiles = 4;
    const auto m = static_cast<size_t>(i.m);
    const auto n = static_cast<size_t>(i.n);
    const auto k = static_cast<size_t>(i.k);
    probe::TensorCase operands{std::vector<uint32_t>(tiles * m * k), std::vector<uint32_t>(tiles * n * k),
                               std::vector<uint32_t>(tiles * m * n)};
    for (size_t row = 0; row < tiles * m; ++row) {
      operands.a[row * k] = 0x0C00;                             // 2^-12
      operands.a[row * k + 1 + row % (k - 1)] = 1u << row / m;  // 2^-24 to 2^-21
    }
    for (size_t column = 0; column < tiles * n; ++column) {
      operands.b[column * k] = 0x0800;  // 2^-13
      for (size_t j = 1; j < k; ++j) operands.b[column * k + j] = column % 2;
    }
    launch::Launch launch = probe::tensor_launch(i, operands);
    device->run(*device->load(probe::tensor_module(i)), launch);
    EXPECT_EQ(probe::tensor_results(i, launch), probe::tensor_model(i, operands)) << i.name;
  }
}

}  // namespace
}  // namespace bitwell::device
