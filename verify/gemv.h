// The NVFP4 GEMV suite: rungs, cases, launches.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/number/accumulation.h"
#include "verify/launch.h"
#include "verify/oracle/gemv.h"

namespace bitwell::verify {

// One rung of the ladder: how it is launched and how it sums. `rows`: of c computed by one CTA.
struct GemvRung {
  std::string_view name;
  std::array<uint32_t, 3> block;
  uint32_t rows;
  int k_multiple;
  number::Accumulation order;
};
const std::vector<GemvRung>& gemv_rungs();
const GemvRung& gemv_rung(std::string_view name);  // InputError if there is none

enum class ScaleLayout { row_major, blocked };

// What the operands are drawn from; each named for the mistake that it is there to show.
enum class GemvData {
  problem,        // the contest's own distribution: low nibbles {0, .5, 1, 1.5}, scales {0, 1, 2}
  all_codes,      // every nibble and every finite scale, uniform: both signs, subnormals, overflow
  moderate,       // every nibble, scales near 1: long inexact sums without overflow
  zeros,          // +0 and -0 nibbles and scales
  largest,        // +-6 and 448: overflow to infinity, infinity - infinity
  cancellation,   // row halves that cancel but for one small term
  huge_and_tiny,  // groups alternate between 448 and the least subnormal scale
  swamped,  // of four groups two large ones cancel, and what the small ones lost to them is all that is left
  swamped_tiles,     // the same, of four tiles of 64: lost between threads instead of inside one
  subnormal_scales,  // scales of 2^-9 .. 7 * 2^-9
  nan_scales         // a few NaN scales among moderate ones
};
inline constexpr std::array<std::pair<GemvData, std::string_view>, 11> kGemvData{
    {{GemvData::problem, "problem"},
     {GemvData::all_codes, "all_codes"},
     {GemvData::moderate, "moderate"},
     {GemvData::zeros, "zeros"},
     {GemvData::largest, "largest"},
     {GemvData::cancellation, "cancellation"},
     {GemvData::huge_and_tiny, "huge_and_tiny"},
     {GemvData::swamped, "swamped"},
     {GemvData::swamped_tiles, "swamped_tiles"},
     {GemvData::subnormal_scales, "subnormal_scales"},
     {GemvData::nan_scales, "nan_scales"}}};

struct GemvCase {
  int m, k, l;
  GemvData data;
  ScaleLayout layout;
  uint64_t seed;
  std::string describe() const;
};

// A case's operands in the problem's storage, and the launch of a rung on them. Buffers 0 to 4 are a, b, sfa,
// sfb, c.
struct GemvProblem {
  explicit GemvProblem(const GemvCase& c);
  GemvCase spec;
  std::vector<std::byte> a, b, sfa, sfb;  // scales in spec.layout; the blocked layout's padding is NaN

  // Throws InputError if the rung cannot take the shape.
  Launch launch(const GemvRung& rung, const std::string& ptx) const;
  // Row `row` of batch `batch`, unpacked.
  struct Row {
    std::vector<uint8_t> a, b, sfa, sfb;
    number::DotOperands operands() const { return {a, b, sfa, sfb}; }
  };
  Row row(int batch, int row) const;
};

// The suites: small and adversarial, every case within 10^5 outputs; and the contest's three shapes.
std::vector<GemvCase> gemv_reduced_cases(const GemvRung& rung);
std::vector<GemvCase> gemv_full_cases();

std::string gemv_entry(const GemvRung& rung, ScaleLayout layout);

}  // namespace bitwell::verify
