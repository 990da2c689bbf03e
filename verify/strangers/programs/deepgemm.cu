// DeepGEMM's kernels for sm_100 as its JIT instantiates them, each with a small problem of whole numbers, so that the
// right answer is one number: fp8 with scales (1d1d), bf16, and the logits of multi-query attention (fp8).
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <deep_gemm/impls/sm100_bf16_gemm.cuh>
#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>
#include <deep_gemm/impls/sm100_mqa_logits.cuh>
#include <deep_gemm/layout/mqa_logits.cuh>

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* out = nullptr;
  check(cudaMalloc(&out, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(out, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return out;
}

CUtensorMap map_of(CUtensorMapDataType type, int element, const void* data, uint64_t inner, uint64_t outer,
                   uint32_t box_inner, uint32_t box_outer, uint64_t stride, int swizzle) {
  CUtensorMap out;
  if (swizzle != 0) box_inner = static_cast<uint32_t>(swizzle / element);
  const cuuint64_t dims[2] = {inner, outer}, strides[1] = {stride * static_cast<uint64_t>(element)};
  const cuuint32_t box[2] = {box_inner, box_outer}, steps[2] = {1, 1};
  const auto mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                    : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                    : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                    : CU_TENSOR_MAP_SWIZZLE_NONE;
  const CUresult made = cuTensorMapEncodeTiled(&out, type, 2, const_cast<void*>(data), dims, strides, box, steps,
                                               CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS) std::printf("cuTensorMapEncodeTiled: %d\n", made), std::exit(1);
  return out;
}

uint32_t random_word() {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return static_cast<uint32_t>(state >> 24);
}

template <class... P, class... A>
void start(void (*kernel)(P...), int grid, int block, int shared, int cluster, A... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "cudaFuncSetAttribute");
  cudaLaunchAttribute attributes[1];
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = static_cast<unsigned>(cluster);
  attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid));
  config.blockDim = dim3(static_cast<unsigned>(block));
  config.dynamicSmemBytes = static_cast<size_t>(shared);
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...), "launch");
  check(cudaDeviceSynchronize(), "synchronise");
}

int verdict(const char* name, size_t wrong, size_t all) {
  std::printf("%s: %s, %zu of %zu wrong\n", name, wrong == 0 ? "PASSED" : "FAILED", wrong, all);
  return wrong == 0 ? 0 : 1;
}

template <class T>
size_t differences(const T* device, const std::vector<float>& want) {
  std::vector<T> have(want.size());
  check(cudaMemcpy(have.data(), device, have.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  size_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) wrong += static_cast<float>(have[i]) != static_cast<float>(T(want[i]));
  return wrong;
}

constexpr auto kK = cute::UMMA::Major::K;
constexpr int kSms = 4;
constexpr int kBarriers = 32 * 8 * 3 + 2 * 8 * 2 + 8 + 4;

int fp8() {
  constexpr int m = 256, n = 256, k = 512, block = 128, stages = 4, pair = 2;
  std::vector<__nv_fp8_e4m3> a(m * k), b(n * k);
  for (auto& v : a) v = __nv_fp8_e4m3(static_cast<float>(static_cast<int>(random_word() % 7) - 3));
  for (auto& v : b) v = __nv_fp8_e4m3(static_cast<float>(static_cast<int>(random_word() % 7) - 3));
  // One scale, a power of 2, for every 128 of k; four of them a word, the words of a step of k together.
  std::vector<uint32_t> sfa(m), sfb(n);
  for (auto& v : sfa)
    for (int i = 0; i < 4; ++i) v |= (126 + random_word() % 3) << (8 * i);
  for (auto& v : sfb)
    for (int i = 0; i < 4; ++i) v |= (126 + random_word() % 3) << (8 * i);
  std::vector<float> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int s = 0; s < 4; ++s) {
        float part = 0;
        for (int c = 128 * s; c < 128 * (s + 1); ++c) part += float(a[i * k + c]) * float(b[j * k + c]);
        sum += std::ldexp(part, static_cast<int>(sfa[i] >> (8 * s) & 255) + static_cast<int>(sfb[j] >> (8 * s) & 255) - 254);
      }
      want[i * n + j] = sum;
    }
  auto* const d = on_device(std::vector<__nv_bfloat16>(m * n));
  const auto u8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  const CUtensorMap map_a = map_of(u8, 1, on_device(a), k, m, 128, block, k, 128);
  const CUtensorMap map_b = map_of(u8, 1, on_device(b), k, n, 128, block / pair, k, 128);
  const CUtensorMap map_sfa = map_of(s32, 4, on_device(sfa), m, 1, block, 1, m, 0);
  const CUtensorMap map_sfb = map_of(s32, 4, on_device(sfb), n, 1, block, 1, n, 0);
  const CUtensorMap map_d = map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, d, n, m, block, block, n, 128);
  const int shared = 2 * 128 * 128 + kBarriers + stages * (128 * 128 + 128 * 128 / pair + 128 * 4 * 2);
  start(&deep_gemm::sm100_fp8_fp4_gemm_1d1d_impl<
            kK, kK, 128, 128, 128, 0, n, k, block, block, 128, 1, 128, 128, 128, stages, 128, 128, pair, false, kSms,
            false, false, deep_gemm::GemmType::Normal, false, cutlass::float_e4m3_t, cutlass::float_e4m3_t,
            cutlass::bfloat16_t, deep_gemm::epilogue::transform::EpilogueIdentity>,
        kSms, 256, shared, pair, nullptr, m, n, k, map_a, map_b, map_sfa, map_sfb, map_d);
  return verdict("fp8 1d1d", differences(d, want), want.size());
}

template <int pair>
int bf16() {
  constexpr int m = 256, n = 256, k = 512, block = 128, stages = 4;
  std::vector<__nv_bfloat16> a(m * k), b(n * k);
  for (auto& v : a) v = __nv_bfloat16(static_cast<float>(static_cast<int>(random_word() % 7) - 3));
  for (auto& v : b) v = __nv_bfloat16(static_cast<float>(static_cast<int>(random_word() % 7) - 3));
  std::vector<float> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < k; ++c) want[i * n + j] += float(a[i * k + c]) * float(b[j * k + c]);
  auto* const d = on_device(std::vector<__nv_bfloat16>(m * n));
  const auto type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const CUtensorMap map_a = map_of(type, 2, on_device(a), k, m, 64, block, k, 128);
  const CUtensorMap map_b = map_of(type, 2, on_device(b), k, n, 64, block / pair, k, 128);
  const CUtensorMap map_d = map_of(type, 2, d, n, m, block, block, n, 128);
  const int shared = 2 * 128 * 128 + kBarriers + stages * (128 * 128 + 128 * 128 / pair);
  start(&deep_gemm::sm100_bf16_gemm_impl<kK, kK, 0, n, k, block, block, 64, 1, 128, 128, 128, stages, 128, 128, pair,
                                         false, kSms, 128, false, false, deep_gemm::GemmType::Normal, false,
                                         cutlass::bfloat16_t, 100>,
        kSms, 256, shared, pair, nullptr, m, n, k, map_a, map_b, map_d);
  return verdict(pair == 2 ? "bf16, pairs" : "bf16", differences(d, want), want.size());
}

int logits() {
  constexpr int queries = 8, keys = 512, heads = 32, depth = 128, block_q = 128 / heads, split = 256;
  std::vector<__nv_fp8_e4m3> q(queries * heads * depth), kv(keys * depth);
  for (auto& v : q) v = __nv_fp8_e4m3(static_cast<float>(static_cast<int>(random_word() % 5) - 2));
  for (auto& v : kv) v = __nv_fp8_e4m3(static_cast<float>(static_cast<int>(random_word() % 5) - 2));
  std::vector<float> scales(keys), weights(queries * heads);
  for (auto& v : scales) v = static_cast<float>(1 << random_word() % 3);
  for (auto& v : weights) v = static_cast<float>(static_cast<int>(random_word() % 5) - 2);
  std::vector<uint32_t> first(queries), last(queries);
  for (int i = 0; i < queries; ++i) first[i] = 0, last[i] = static_cast<uint32_t>(keys - 37 * i);
  std::vector<float> want(queries * keys);
  for (int i = 0; i < queries; ++i)
    for (uint32_t j = first[i]; j < last[i]; ++j) {
      for (int h = 0; h < heads; ++h) {
        float dot = 0;
        for (int c = 0; c < depth; ++c) dot += float(q[(i * heads + h) * depth + c]) * float(kv[j * depth + c]);
        want[i * keys + j] += std::fmax(dot, 0.0f) * weights[i * heads + h];
      }
      want[i * keys + j] *= scales[j];
    }
  auto* const d = on_device(std::vector<float>(queries * keys));
  const auto u8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const auto f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const CUtensorMap map_q = map_of(u8, 1, on_device(q), depth, queries * heads, depth, block_q * heads, depth, depth);
  const CUtensorMap map_kv = map_of(u8, 1, on_device(kv), depth, keys, depth, split, depth, depth);
  const CUtensorMap map_sf = map_of(f32, 4, on_device(scales), keys, 1, split, 1, 0, 0);
  const CUtensorMap map_w = map_of(f32, 4, on_device(weights), heads, queries, heads, block_q, heads, 0);
  const int shared = sizeof(deep_gemm::layout::MQALogitsSharedStorage<false, heads, depth, block_q, split, 3, 5, 3>);
  start(&deep_gemm::sm100_mqa_logits<false, heads, depth, false, block_q, split, 3, 5, 2, 128, 256, float, float>, 2, 384,
        shared, 1, queries, keys, keys, on_device(first), on_device(last), d, map_q, map_sf, map_kv, map_sf, map_w);
  // Where no key is to be looked at, nobody says what stands.
  std::vector<float> have(want.size());
  check(cudaMemcpy(have.data(), d, have.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  size_t wrong = 0;
  for (int i = 0; i < queries; ++i)
    for (uint32_t j = first[i]; j < last[i]; ++j) wrong += have[i * keys + j] != want[i * keys + j];
  return verdict("mqa logits", wrong, want.size());
}

}  // namespace

int main(int count, char** words) {
  const std::string which = count > 1 ? words[1] : "all";
  int failed = 0;
  if (which == "fp8" || which == "all") failed += fp8();
  if (which == "bf16" || which == "all") failed += bf16<1>();
  if (which == "bf16-pairs" || which == "all") failed += bf16<2>();
  if (which == "logits" || which == "all") failed += logits();
  return failed;
}
