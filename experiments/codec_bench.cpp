// Decode and encode in elements a second, beside the CUDA headers' host functions and a memory copy. Data in
// the L2.
#include <benchmark/benchmark.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <cstring>
#include <random>
#include <vector>

#include "model/number/codec.h"

namespace {

namespace number = bitwell::number;

constexpr size_t kElements = 1 << 17;  // 64 KiB of E2M1, 256 KiB of fp16

template <class T>
std::vector<T> random_words(size_t count) {
  std::vector<T> out(count);
  std::mt19937_64 random(1);
  for (T& v : out) v = static_cast<T>(random());
  return out;
}

std::vector<float> random_floats() {
  std::vector<float> out(kElements);
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, 3);
  for (float& v : out) v = normal(random);
  return out;
}

void rate(benchmark::State& state) {
  state.counters["elements/s"] =
      benchmark::Counter(static_cast<double>(kElements), benchmark::Counter::kIsIterationInvariantRate);
}

void copy_f16(benchmark::State& state) {
  const auto from = random_words<uint16_t>(kElements);
  std::vector<uint16_t> to(kElements);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), 2 * kElements);
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK(copy_f16)->Name("peer/memcpy of fp16");

void copy_f32(benchmark::State& state) {
  const auto from = random_words<uint32_t>(kElements);
  std::vector<uint32_t> to(kElements);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), 4 * kElements);
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK(copy_f32)->Name("peer/memcpy of fp32");

void cuda_decode_e2m1(benchmark::State& state) {
  const auto codes = random_words<uint8_t>(kElements / 2);
  std::vector<__half2_raw> out(kElements / 2);
  for (auto _ : state) {
    for (size_t i = 0; i < codes.size(); ++i) out[i] = __nv_cvt_fp4x2_to_halfraw2(codes[i], __NV_E2M1);
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK(cuda_decode_e2m1)->Name("peer/CUDA headers E2M1 to fp16");

void cuda_encode_e2m1(benchmark::State& state) {
  const auto values = random_floats();
  std::vector<uint8_t> out(kElements / 2);
  for (auto _ : state) {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = __nv_cvt_float2_to_fp4x2(make_float2(values[2 * i], values[2 * i + 1]), __NV_E2M1,
                                        cudaRoundNearest);
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK(cuda_encode_e2m1)->Name("peer/CUDA headers fp32 to E2M1");

void cuda_encode_e4m3(benchmark::State& state) {
  const auto values = random_floats();
  std::vector<uint8_t> out(kElements);
  for (auto _ : state) {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = __nv_cvt_float_to_fp8(values[i], __NV_SATFINITE, __NV_E4M3);
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK(cuda_encode_e4m3)->Name("peer/CUDA headers fp32 to E4M3");

void decode_e2m1(benchmark::State& state, const char* level) {
  const auto codes = random_words<uint8_t>(kElements / 2);
  std::vector<uint16_t> out(kElements);
  const auto run = number::codec(level).decode_e2m1;
  if (run == nullptr) return state.SkipWithError("this host has no such instruction set");
  for (auto _ : state) {
    run(codes.data(), out.data(), codes.size());
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK_CAPTURE(decode_e2m1, avx512, "avx512")->Name("bitwell/E2M1 to fp16, AVX-512");
BENCHMARK_CAPTURE(decode_e2m1, avx2, "avx2")->Name("bitwell/E2M1 to fp16, AVX2");
BENCHMARK_CAPTURE(decode_e2m1, scalar, "scalar")->Name("bitwell/E2M1 to fp16, plain");

void encode(benchmark::State& state, const char* level, bool e2m1) {
  const auto values = random_floats();
  std::vector<uint8_t> out(kElements);
  const number::Codec codec = number::codec(level);
  if (codec.encode_e2m1 == nullptr) return state.SkipWithError("this host has no such instruction set");
  for (auto _ : state) {
    if (e2m1)
      codec.encode_e2m1(values.data(), out.data(), kElements / 2);
    else
      codec.encode_e4m3(values.data(), out.data(), kElements);
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK_CAPTURE(encode, e2m1_avx512, "avx512", true)->Name("bitwell/fp32 to E2M1, AVX-512");
BENCHMARK_CAPTURE(encode, e2m1_avx2, "avx2", true)->Name("bitwell/fp32 to E2M1, AVX2");
BENCHMARK_CAPTURE(encode, e2m1_scalar, "scalar", true)->Name("bitwell/fp32 to E2M1, plain");
BENCHMARK_CAPTURE(encode, e4m3_avx512, "avx512", false)->Name("bitwell/fp32 to E4M3, AVX-512");
BENCHMARK_CAPTURE(encode, e4m3_avx2, "avx2", false)->Name("bitwell/fp32 to E4M3, AVX2");
BENCHMARK_CAPTURE(encode, e4m3_scalar, "scalar", false)->Name("bitwell/fp32 to E4M3, plain");

}  // namespace
