#include "model/machine/arch.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

constexpr uint64_t kKiB = 1024;
// They stand for their targets' largest devices: an H200 as nvidia-smi reports it; a B200 as HGX and DGX B200
// have it, 1,440 GB for eight (their data sheet). GH100, the H200's chip, has 8 GPCs of 9 pairs of
// multiprocessors, of which a device lacks some, which ones differing from one to the next (NVIDIA, "Hopper
// Architecture In-Depth", 2022); nothing as precise is published of a B200. An RTX PRO 6000 Blackwell has 188
// multiprocessors and 96 GB, the GB10 of a DGX Spark 48 (6,144 cores) and 128 GB (their data sheets).
//
// Clusters of 16: an H100 takes them, and none of 17 (driver 580); a B200 (NVIDIA, "Blackwell Tuning Guide")
// and RTX cards, while Thor (20 multiprocessors, 2,560 cores, and 128 GB: its data sheet) and GB10 stop at 8
// (NVIDIA, Warp 1.15, get_cuda_max_cluster_dim).
constexpr Device kH200{132, uint64_t{143771} << 20, 8, 18, 16};
constexpr Device kB200{148, 180'000'000'000, 0, 0, 16};
constexpr Device kThor{20, 128'000'000'000, 0, 0, 8};
constexpr Device kRtxPro6000{188, 96'000'000'000, 0, 0, 16};
constexpr Device kGb10{48, 128'000'000'000, 0, 0, 8};

// The guide has no column for sm_88: CCCL has it as sm_86. sm_121's tensor cores are taken to be sm_120's:
// both are of one family (sm_120f), nobody has published words of the former.
constexpr Features kNothing{};
constexpr Features k90{.wgmma = "a"};
constexpr Features k100{.tcgen05 = "af",
                        .tcgen05_integers = "a",
                        .tcgen05_scale_vec = "a",
                        .tcgen05_shift = "a",
                        .pair_copies = "af",
                        .redux_f32 = "af",
                        .cvt_rs = "a"};
constexpr Features k103{.tcgen05 = "af",
                        .tcgen05_scale_vec = "a",
                        .tcgen05_shift = "a",
                        .tcgen05_ld_red = "af",
                        .pair_copies = "af",
                        .redux_f32 = "af",
                        .cvt_rs = "a"};
constexpr Features k110{.tcgen05 = "af",
                        .tcgen05_integers = "a",
                        .tcgen05_scale_vec = "a",
                        .tcgen05_shift = "a",
                        .tcgen05_ld_red = "af",
                        .pair_copies = "af",
                        .redux_f32 = "af"};
constexpr std::string_view kRtx = "rtx_blackwell";
constexpr std::array<Arch, 12> kArchs{{
    {75, "Turing", {63, 0, 0}, "turing", 64 * kKiB, 64 * kKiB, 1024, 16, kH200, kNothing, "manual"},
    {80, "Ampere", {70, 0, 0}, "ampere", 163 * kKiB, 164 * kKiB, 2048, 32, kH200, kNothing, "manual"},
    {86, "Ampere", {71, 0, 0}, "ampere", 99 * kKiB, 100 * kKiB, 1536, 16, kH200, kNothing, "manual"},
    {87, "Ampere", {74, 0, 0}, "ampere", 163 * kKiB, 164 * kKiB, 1536, 16, kH200, kNothing, "manual"},
    {88, "Ampere", {90, 0, 0}, "ampere", 99 * kKiB, 100 * kKiB, 1536, 16, kH200, kNothing, "manual"},
    {89, "Ada", {78, 0, 0}, "ada", 99 * kKiB, 100 * kKiB, 1536, 24, kH200, kNothing, "manual"},
    {90, "Hopper", {78, 80, 0}, "hopper", 227 * kKiB, 228 * kKiB, 2048, 32, kH200, k90, "device"},
    {100, "Blackwell", {86, 86, 88}, "blackwell", 227 * kKiB, 228 * kKiB, 2048, 32, kB200, k100, "manual"},
    {103, "Blackwell", {88, 88, 88}, "blackwell", 227 * kKiB, 228 * kKiB, 2048, 32, kB200, k103, "manual"},
    {110, "Blackwell", {90, 90, 90}, "blackwell", 227 * kKiB, 228 * kKiB, 1536, 24, kThor, k110, "manual"},
    {120, "Blackwell", {87, 87, 88}, kRtx, 99 * kKiB, 100 * kKiB, 1536, 24, kRtxPro6000, kNothing, "manual"},
    {121, "Blackwell", {88, 88, 88}, kRtx, 99 * kKiB, 100 * kKiB, 1536, 24, kGb10, kNothing, "manual"},
}};

}  // namespace

std::span<const Arch> archs() { return kArchs; }

const Arch& arch(int sm) {
  const auto* const row =
      std::find_if(kArchs.begin(), kArchs.end(), [&](const Arch& a) { return a.sm == sm; });
  if (row == kArchs.end()) throw ModelBug("no row for sm_" + std::to_string(sm));
  return *row;
}

Target find_target(std::string_view name) {
  const auto refuse = [&] { throw Unsupported("target '" + std::string(name) + "'"); };
  if (!name.starts_with("sm_")) refuse();
  int sm = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + 3, last, sm);
  const auto* const row =
      std::find_if(kArchs.begin(), kArchs.end(), [&](const Arch& a) { return a.sm == sm; });
  if (error != std::errc() || row == kArchs.end() || last - end > 1) refuse();
  const char suffix = end == last ? '\0' : *end;
  const int version = suffix == 0     ? row->since.plain
                      : suffix == 'a' ? row->since.a
                      : suffix == 'f' ? row->since.f
                                      : 0;
  if (version == 0 ||
      std::string(name) != "sm_" + std::to_string(sm) + (suffix == 0 ? "" : std::string(1, suffix)))
    refuse();
  return {row, suffix, version};
}

}  // namespace bitwell::machine
