// Outputs of a B200 that GPU MODE's logs of its NVFP4 contest print: public pages, "NVIDIA B200", torch
// 2.9.1+cu130, seed 1111, what its reference (torch._scaled_mm, cuBLASLt) gave for the inputs of contest.h,
// in fp16. Every one of these sums is exact in fp32, so that they say nothing of how a sum is cut, nor in
// which order it is taken; and a byte's two nibbles may change places in A and B alike without a trace. They
// decide what codes and scales are worth, which elements a scale belongs to, and that results are rounded to
// nearest even.
#pragma once
#include <array>
#include <cstdint>

namespace bitwell::problem {

inline constexpr uint64_t kPublishedSeed = 1111;

// D of m x n x k: row 0, columns 0 to 4.
struct PublishedGemm {
  int m, n, k;
  std::array<float, 5> outputs;
};
inline constexpr PublishedGemm kPublishedGemms[] = {
    {128, 256, 256, {932, -1, -531, 266.5, -712}},
    {128, 3072, 1536, {784, 274.5, -1479, 420.5, 366.25}},
    {256, 7168, 256, {313.5, 130.25, 34.5, 367.75, -85.25}},
    {384, 7168, 2304, {409.5, -719, 577, -222.75, 764}},
    {512, 4096, 512, {679, -694, -191, -68.75, -15.75}},
};

// c of m x k, l = 4: row `row`, batches from 0 on.
struct PublishedGemv {
  int m, k, l;
  int row;
  int batches;
  std::array<float, 4> outputs;
};
inline constexpr PublishedGemv kPublishedGemvs[] = {
    {7168, 2048, 4, 0, 4, {504.75, 642, 513, 555.5}},
    {7168, 2048, 4, 1, 1, {660.5}},
};

}  // namespace bitwell::problem
