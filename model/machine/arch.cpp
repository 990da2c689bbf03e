#include "model/machine/arch.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/machine/failure.h"
#include "model/machine/product.h"

namespace bitwell::machine {
namespace {

constexpr uint64_t kKiB = 1024;
// Without a pointer: g++ 12 compares none with nullptr in a constant where it looks for undefined behaviour.
constexpr const Device& size(int sm, const Device& otherwise) {
  for (const Product& p : kProducts)
    if (p.sm == sm) return p.size;
  return otherwise;
}
// Whose size a launch has: from Hopper on that of the architecture's own device. Older PTX is run on newer
// devices, and who asks for no target gets sm_75 or sm_80: it has the H200's, or its own where that is
// larger.
constexpr const Device& size(int sm) {
  const Device& h200 = size(90, kProducts.back().size);
  const Device& own = size(sm, h200);
  return sm < 90 && own.sms < h200.sms ? h200 : own;
}

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
constexpr std::string_view kServer = "blackwell", kRtx = "rtx_blackwell";
// Targets whose devices CUDA 13 has left: their PTX, which nvcc 12 makes unless it is told otherwise (sm_52),
// is compiled for newer devices. What holds is what the oldest of these has, Turing.
constexpr Arch old(int sm, std::string_view family, int since, std::string_view tensor = "") {
  return {sm, family, {since, 0, 0}, tensor, 64 * kKiB, 64 * kKiB, 1024, 16, size(75), kNothing, "manual"};
}
constexpr std::array<Arch, 24> kArchs{{
    old(30, "Kepler", 30),
    old(32, "Kepler", 40),
    old(35, "Kepler", 31),
    old(37, "Kepler", 41),
    old(50, "Maxwell", 40),
    old(52, "Maxwell", 41),
    old(53, "Maxwell", 42),
    old(60, "Pascal", 50),
    old(61, "Pascal", 50),
    old(62, "Pascal", 50),
    old(70, "Volta", 51, "turing"),
    old(72, "Volta", 61, "turing"),
    {75, "Turing", {63, 0, 0}, "turing", 64 * kKiB, 64 * kKiB, 1024, 16, size(75), kNothing, "manual"},
    {80, "Ampere", {70, 0, 0}, "ampere", 163 * kKiB, 164 * kKiB, 2048, 32, size(80), kNothing, "manual"},
    {86, "Ampere", {71, 0, 0}, "ampere", 99 * kKiB, 100 * kKiB, 1536, 16, size(86), kNothing, "manual"},
    {87, "Ampere", {74, 0, 0}, "ampere", 163 * kKiB, 164 * kKiB, 1536, 16, size(87), kNothing, "manual"},
    {88, "Ampere", {90, 0, 0}, "ampere", 99 * kKiB, 100 * kKiB, 1536, 16, size(88), kNothing, "manual"},
    {89, "Ada", {78, 0, 0}, "ada", 99 * kKiB, 100 * kKiB, 1536, 24, size(89), kNothing, "manual"},
    {90, "Hopper", {78, 80, 0}, "hopper", 227 * kKiB, 228 * kKiB, 2048, 32, size(90), k90, "device"},
    {100, "Blackwell", {86, 86, 88}, kServer, 227 * kKiB, 228 * kKiB, 2048, 32, size(100), k100, "manual"},
    {103, "Blackwell", {88, 88, 88}, kServer, 227 * kKiB, 228 * kKiB, 2048, 32, size(103), k103, "manual"},
    {110, "Blackwell", {90, 90, 90}, kServer, 227 * kKiB, 228 * kKiB, 1536, 24, size(110), k110, "manual"},
    {120, "Blackwell", {87, 87, 88}, kRtx, 99 * kKiB, 100 * kKiB, 1536, 24, size(120), kNothing, "manual"},
    {121, "Blackwell", {88, 88, 88}, kRtx, 99 * kKiB, 100 * kKiB, 1536, 24, size(121), kNothing, "manual"},
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
