// GPUs that can be bought, one an architecture: what a host program is told of its device, and what a launch
// runs on.
#pragma once
#include <array>

#include "model/machine/arch.h"

namespace bitwell::machine {

struct Product {
  int sm;
  std::string_view name;
  Device size;
  uint64_t l2;  // bytes
  int clock_mhz, memory_mhz, bus_bits;
};

// By rising sm. Sizes: a T4 as CUDA's deviceQuery prints it; an A100 of 108 multiprocessors and 80 GB; an A40
// of 84 (10,752 cores) and an L40S of 142 (18,176 cores), 48 GB each (their data sheets); an H200 as
// nvidia-smi reports it; a B200 as HGX and DGX B200 have it, 1,440 GB for eight (their data sheet), and a
// B300, of which nothing as precise is published, as that; Thor's 20 multiprocessors (2,560 cores) and 128
// GB, the RTX PRO 6000 Blackwell's 188 and 96 GB, 48 (6,144 cores) and 128 GB of the GB10 in a DGX Spark
// (their data sheets). GH100, the H200's chip, has 8 GPCs of 9 pairs of multiprocessors, of which a device
// lacks some, which ones differing from one to the next (NVIDIA, "Hopper Architecture In-Depth", 2022).
//
// Clusters of 16: an H100 takes them, and none of 17 (driver 580); a B200 (NVIDIA, "Blackwell Tuning Guide")
// and RTX cards, while Thor and GB10 stop at 8 (NVIDIA, Warp 1.15, get_cuda_max_cluster_dim). Before sm_90
// there are none.
//
// Clocks and caches as the data sheets have them: no result hangs on them.
constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr std::array<Product, 10> kProducts{{
    {75, "NVIDIA T4", {40, 15'843'721'216, 0, 0, 1}, 4 * kMiB, 1590, 5001, 256},
    {80, "NVIDIA A100-SXM4-80GB", {108, 80'000'000'000, 0, 0, 1}, 40 * kMiB, 1410, 1593, 5120},
    {86, "NVIDIA A40", {84, 48'000'000'000, 0, 0, 1}, 6 * kMiB, 1740, 7251, 384},
    {89, "NVIDIA L40S", {142, 48'000'000'000, 0, 0, 1}, 96 * kMiB, 2520, 9001, 384},
    {90, "NVIDIA H200", {132, 143771 * kMiB, 8, 18, 16}, 60 * kMiB, 1980, 3201, 6144},
    {100, "NVIDIA B200", {148, 180'000'000'000, 0, 0, 16}, 126 * kMiB, 1965, 3996, 8192},
    {103, "NVIDIA B300", {148, 180'000'000'000, 0, 0, 16}, 126 * kMiB, 1965, 3996, 8192},
    {110, "NVIDIA Thor", {20, 128'000'000'000, 0, 0, 8}, 32 * kMiB, 1575, 4266, 256},
    {120, "NVIDIA RTX PRO 6000 Blackwell", {188, 96'000'000'000, 0, 0, 16}, 128 * kMiB, 2430, 14001, 512},
    {121, "NVIDIA GB10", {48, 128'000'000'000, 0, 0, 8}, 24 * kMiB, 2418, 8533, 256},
}};

// nullptr where there is none.
constexpr const Product* find_product(int sm) {
  for (const Product& p : kProducts)
    if (p.sm == sm) return &p;
  return nullptr;
}

}  // namespace bitwell::machine
