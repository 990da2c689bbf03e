#include "verify/bugs/subject.h"

#include <cstring>

#include "verify/suite/gemm.h"
#include "verify/suite/gemv.h"
#include "verify/suite/schedules.h"

namespace bitwell::bugs {
namespace {

using namespace verify;

std::vector<SuiteCase> gemv_suite(const GemvRung& rung, ScaleLayout layout, const std::string& ptx) {
  std::vector<SuiteCase> out;
  for (const auto& cases : {gemv_reduced_cases(rung), gemv_unrecorded_cases(rung)})
    for (const GemvCase& c : cases)
      if (c.layout == layout) out.push_back(GemvProblem(c).suite_case(rung, ptx));
  return out;
}

std::vector<SuiteCase> gemm_suite(const GemmVariant& variant, const std::string& kernels) {
  std::vector<SuiteCase> out;
  for (const auto& cases : {gemm_cases(), gemm_unrecorded_cases(variant)})
    for (const GemmCase& c : cases) out.push_back(GemmProblem(c).suite_case(variant, kernels));
  return out;
}

// The two-stage pipeline of kernels/hang: sums[lane] of the words lane, lane + 32, ... of none to 160 tiles:
// each remainder of an unrolled loop, and enough that an arrival too many in every phase makes up one.
std::vector<SuiteCase> pipeline_suite(const std::string& ptx) {
  constexpr uint32_t kWords = 256;  // of a tile
  constexpr size_t kSchedules = 24;
  std::vector<SuiteCase> out;
  for (const uint32_t tiles : {0u, 1u, 3u, 4u, 7u, 160u}) {
    std::vector<uint32_t> words(kWords * tiles);
    std::vector<uint32_t> sums(32);
    for (uint32_t i = 0; i < words.size(); ++i) {
      words[i] = i * 2654435761u;
      sums[i % 32] += words[i];
    }
    const auto bytes = [](const std::vector<uint32_t>& v) {
      std::vector<std::byte> b(4 * v.size());
      if (!v.empty()) std::memcpy(b.data(), v.data(), b.size());
      return b;
    };
    Launch l;
    l.ptx = ptx;
    l.entry = "pipeline";
    l.shape.block = {64, 1, 1};
    l.add_buffer({"words", bytes(words), true, true, false});
    l.add_buffer({"sums", std::vector<std::byte>(128), false, false, true});
    l.add_scalar(static_cast<int32_t>(tiles));
    SuiteCase c;
    c.name = std::to_string(tiles) + " tiles";
    c.chain.launches.push_back(std::move(l));
    c.result = 1;
    c.element = 4;
    c.expected = bytes(sums);
    c.schedules = schedules(kSchedules);
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace

std::vector<Subject> subjects(const std::string& kernels) {
  std::vector<Subject> out;
  const std::string pipeline = kernels + "/hang/correct.ptx";
  out.push_back({"hang/pipeline", pipeline, "pipeline", "", [=] { return pipeline_suite(pipeline); }});
  for (const GemvRung& rung : gemv_rungs())
    for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked}) {
      const std::string ptx = kernels + "/gemv/" + std::string(rung.name) + ".sm_90a.ptx";
      out.push_back(
          {"gemv/" + std::string(rung.name) + (layout == ScaleLayout::row_major ? " row-major" : " blocked"),
           ptx, gemv_entry(rung, layout), "",
           [&rung, layout, ptx] { return gemv_suite(rung, layout, ptx); }});
    }
  const std::string of_gemm = kernels + "/gemm/";
  for (const char* entry : {"gemm_decode", "gemm_pad_rows"})
    out.push_back({"gemm/" + std::string(entry).substr(5), of_gemm + "prepare.sm_90a.ptx", entry, "",
                   [kernels] { return gemm_suite(gemm_variant("gemm_m128_split1_f16"), kernels); }});
  for (const GemmVariant& v : gemm_variants()) {
    const GemmVariant same{v.tile_m, v.split, oracle::Output::f16};
    const bool other = v.output != oracle::Output::f16;
    out.push_back({"gemm/" + v.name().substr(5), of_gemm + v.name() + ".sm_90a.ptx", v.name(),
                   other ? of_gemm + same.name() + ".sm_90a.ptx" : "",
                   [&v, kernels] { return gemm_suite(v, kernels); }});
  }
  return out;
}

}  // namespace bitwell::bugs
