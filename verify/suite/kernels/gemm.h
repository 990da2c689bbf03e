// The NVFP4 GEMM of kernels/gemm: variants, cases, launches.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "verify/oracle/gemm.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/suite.h"

namespace bitwell::suite {

// A compiled kernel: tiles of tile_m x 128, k shared by `split` CTAs of a cluster.
struct GemmVariant {
  int tile_m, split;
  oracle::Output output;
  std::string name() const;  // of entry and file, "gemm_m128_split2_f16"
};
const std::vector<GemmVariant>& gemm_variants();
const GemmVariant& gemm_variant(std::string_view name);  // InputError if there is none

// A row of an operand as the kernel multiplies it: in its order of k, with zeros up to a whole step; and an
// element of D.
std::vector<oracle::HalfWord> gemm_operand(const Nvfp4Operand::Row& row);
uint32_t gemm_element(const GemmVariant& variant, const std::vector<oracle::HalfWord>& a,
                      const std::vector<oracle::HalfWord>& b);

struct GemmCase {
  int m, n, k, l;
  OperandData data;
  int peers;     // CTAs of a cluster that share A's tile: 1 or 2
  int clusters;  // of the grid; 0: one for each tile, a single wave
  uint64_t seed;
  std::string describe() const;
};

// The variant, peers and clusters for a shape on a GPU that runs `at_once(size)` clusters of that many CTAs.
struct GemmChoice {
  GemmVariant variant;
  int peers, clusters;
};
GemmChoice choose_gemm(int m, int n, int k, int l, oracle::Output output,
                       const std::function<int(int size)>& at_once);

// d[l, m, n] = sum over k of (a * sfa)[l, m, k] * (b * sfb)[l, n, k]; scales in the 128x4 tiling.
struct GemmProblem {
  // Throws machine::InputError for shapes, peers and clusters that the kernels cannot take.
  explicit GemmProblem(const GemmCase& c);
  GemmCase spec;
  Nvfp4Operand a, b;

  // gemm_decode of A, where k is no multiple of 32 gemm_pad_rows of B, and the kernel; its last launch's
  // buffer "d" is the result. Throws InputError for what the kernel cannot take.
  Chain chain(const GemmVariant& variant, const Build& build) const;
  // D as the variant's order of summation gives it.
  std::vector<std::byte> expected(const GemmVariant& variant) const;
  // Of D against exact arithmetic, as DrawnCase says.
  std::vector<double> errors_ulp(const GemmVariant& variant, const std::vector<std::byte>& outputs) const;

 private:
  GemmProblem(const GemmCase& c, OperandSource source);
};
const std::vector<std::byte>& gemm_result(const Chain& chain);

// Small and adversarial shapes.
std::vector<GemmCase> gemm_cases();
// More of them, which no GPU has recorded: D stored by threads, with its last row at every place of their
// loop; short k, so that tiles follow each other at once; more clusters than tiles; zeros under the largest
// scales.
std::vector<GemmCase> gemm_unrecorded_cases(const GemmVariant& variant);
// Shapes of the problems that a variant is chosen for on an H200; their simulation takes up to a minute.
std::vector<GemmCase> gemm_full_cases(const GemmVariant& variant);
// A random one whose simulation takes milliseconds.
GemmCase gemm_random_case(const GemmVariant& variant, uint64_t seed);

}  // namespace bitwell::suite
