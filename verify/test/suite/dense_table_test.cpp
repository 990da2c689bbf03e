// The table of dense kernels in kernels/README.md is what launch.h and ptxas say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <regex>
#include <string>

#include "kernels/dense/launch.h"
#include "kernels/limits.h"
#include "model/layout/tensor_memory.h"
#include "model/machine/arch.h"
#include "verify/capture/captures.h"
#include "verify/launch/launch.h"
#include "verify/suite/parallel.h"

namespace bitwell::suite {
namespace {

using dense::Variant;

TEST(DenseTable, ACtaMayHaveTheSharedMemoryThatTheArchitecturesSay) {
  for (const int sm : {90, 100, 103})
    EXPECT_EQ(machine::arch(sm).shared, uint64_t{kernels::kSharedLimit}) << sm;
}

TEST(DenseTable, EveryKernelFits) {
  for (const Variant& v : dense::kVariants) {
    EXPECT_LE(v.shared_bytes(), kernels::kSharedLimit) << v.name;
    EXPECT_GE(v.stages(), 2) << v.name;
    EXPECT_LE(v.used_columns(), v.columns()) << v.name;
    EXPECT_LE(v.columns(), static_cast<int>(layout::kTensorColumns)) << v.name;
    EXPECT_EQ(v.cluster_m % v.tile.ctas, 0) << v.name;
    EXPECT_EQ(v.box_a() % 8 + v.box_b() % 8, 0) << v.name << ": a swizzle is of 8 rows";
    EXPECT_EQ(v.steps_sfa() * (v.multicast == dense::Multicast::scales ? v.cluster_n : 1) * dense::kStep,
              dense::kTileK)
        << v.name;
    EXPECT_EQ(v.steps_sfb() * (v.multicast == dense::Multicast::scales ? v.cluster_m : 1) * dense::kStep,
              dense::kTileK)
        << v.name;
    EXPECT_LE(v.cluster(), 8) << v.name << ": more CTAs of a cluster need leave";
  }
}

// What ptxas says of a kernel.
struct Assembled {
  std::string said;
  int registers = 0;
  bool spills = true;
};
Assembled assembled(const Variant& v, const std::string& arch) {
  const std::string folder = testing::TempDir();
  const std::string file = folder + "/" + v.name + "." + arch + ".ptx";
  std::ofstream(file) << std::regex_replace(
      launch::read_file(capture::share_folder("kernels") + "/dense/" + v.name + ".sm_100a.ptx"),
      std::regex("\\.target sm_100a"), ".target " + arch);
  Assembled out;
  const std::string command =
      std::string(BITWELL_PTXAS) + " -v -arch=" + arch + " " + file + " -o " + file + ".cubin 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  for (std::array<char, 256> line{}; std::fgets(line.data(), line.size(), pipe) != nullptr;)
    out.said += line.data();
  if (pclose(pipe) != 0) return out;
  std::smatch m;
  if (std::regex_search(out.said, m, std::regex("Used (\\d+) registers"))) out.registers = std::stoi(m[1]);
  out.spills = out.said.find(" 0 bytes spill stores, 0 bytes spill loads") == std::string::npos;
  std::remove(file.c_str());
  std::remove((file + ".cubin").c_str());
  return out;
}

std::string row_of(const Variant& v, int registers_100, int registers_103) {
  const std::string bytes = std::to_string(v.shared_bytes());
  const char* const output[] = {"fp16", "bf16", "fp32", "NVFP4"};
  const char* const tiles[] = {"one", "every nth", "asked for"};
  return fmt::format(
      "| {} | {} x {} | {} x {}{} | {} | {} | {} | {}{} | {}{} | {} | {},{} | {} of {} | {}, {} |", v.name,
      v.tile.ctas * dense::kRows, v.tile.n, v.cluster_m, v.cluster_n,
      v.multicast == dense::Multicast::scales ? ", scales too" : "", v.split,
      output[static_cast<size_t>(v.output)], tiles[static_cast<size_t>(v.tiles)], v.accumulators(),
      v.overlap() > 0 ? ", overlapped" : "", v.store == dense::Store::tma ? "TMA" : "direct",
      v.start == dense::Start::early ? ", early" : "", v.stages(), bytes.substr(0, bytes.size() - 3),
      bytes.substr(bytes.size() - 3), v.used_columns(), v.columns(), registers_100, registers_103);
}

TEST(DenseTable, TheReadmeHasEveryKernelsRow) {
  if (!std::ifstream(BITWELL_PTXAS)) GTEST_SKIP() << "no ptxas";
  constexpr size_t kCount = std::size(dense::kVariants);
  std::array<Assembled, 2 * kCount> all;
  each_in_parallel(2 * kCount, 0, [&](size_t i) {
    all[i] = assembled(dense::kVariants[i / 2], i % 2 == 0 ? "sm_100a" : "sm_103a");
  });
  const std::string readme = launch::read_file(BITWELL_KERNELS_README);
  std::string rows;
  bool missing = false;
  for (size_t i = 0; i < kCount; ++i) {
    const Variant& v = dense::kVariants[i];
    for (const Assembled& a : {all[2 * i], all[2 * i + 1]}) {
      ASSERT_GT(a.registers, 0) << v.name << ": " << a.said;
      EXPECT_FALSE(a.spills) << v.name << ": " << a.said;
    }
    const std::string row = row_of(v, all[2 * i].registers, all[2 * i + 1].registers);
    missing = missing || readme.find(row + "\n") == std::string::npos;
    rows += row + "\n";
  }
  EXPECT_FALSE(missing) << "kernels/README.md, with the ptxas that is here, should say:\n" << rows;
}

}  // namespace
}  // namespace bitwell::suite
