#include "verify/verdict/gemm_verdict.h"

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "verify/capture/digest.h"
#include "verify/oracle/gemv.h"
#include "verify/suite/parallel.h"

namespace bitwell::verify {
namespace {

// A variant on its way to a verdict.
class Judge {
 public:
  Judge(const GemmVariant& variant, const Plan& plan)
      : variant_(variant), plan_(plan), element_(variant.output == oracle::Output::f32 ? 4 : 2) {
    verdict_.kernel = variant.name();
    verdict_.arch = "sm_90a";
  }

  void judge(const GemmCase& c) {
    const GemmProblem problem(c);
    const SuiteCase suite = problem.suite_case(variant_, plan_.ptx);
    ++verdict_.cases;
    verdict_.outputs += suite.expected.size() / element_;
    Digest digest;
    for (const isa::Schedule& schedule : suite.schedules) {
      const Tried tried = try_case(suite, schedule, [&](const Launch& l) -> const isa::Program& {
        const auto found = programs_.find(l.entry);
        if (found != programs_.end()) return found->second;
        return programs_.emplace(l.entry, load_program(l.ptx, l.entry)).first->second;
      });
      verdict_.lane_instructions += tried.lane_instructions;
      verdict_.seconds += tried.seconds;
      if (&schedule == &suite.schedules.front()) digest.add(tried.result);
      if (!tried.failure) continue;
      add_failure(verdict_, *tried.failure, plan_.replay + "/" + variant_.name());
      break;
    }
    digests_.push_back(digest.hex());
    measure(problem, suite.expected);
  }

  Verdict conclude(const std::optional<Capture>& capture) {
    digests_.resize(std::min(digests_.size(), gemm_cases().size()));  // what the GPU's recorder ran
    verdict_.digest = gemm_digest(digests_);
    verdict_.evidence = "manual";
    verdict_.holds = verdict_.mismatches == 0;
    compare_with_capture(verdict_, capture, "gemm/" + variant_.name());
    return verdict_;
  }

 private:
  uint32_t word(const std::vector<std::byte>& bytes, size_t i) const {
    uint32_t v = 0;
    std::memcpy(&v, bytes.data() + i * element_, element_);
    return v;
  }

  // Against exact arithmetic.
  void measure(const GemmProblem& problem, const std::vector<std::byte>& sums) {
    const GemmCase& s = problem.spec;
    const int exponent_bits = variant_.output == oracle::Output::f16 ? 5 : 8;
    const int fraction_bits = variant_.output == oracle::Output::f16    ? 10
                              : variant_.output == oracle::Output::bf16 ? 7
                                                                        : 23;
    size_t i = 0;
    for (int batch = 0; batch < s.l; ++batch) {
      std::vector<Nvfp4Operand::Row> columns;
      for (int n = 0; n < s.n; ++n) columns.push_back(problem.b.row(batch, n));
      for (int m = 0; m < s.m; ++m) {
        const Nvfp4Operand::Row a = problem.a.row(batch, m);
        for (const Nvfp4Operand::Row& b : columns) {
          const double ulp =
              oracle::error_ulp(word(sums, i++), oracle::dot(a.codes, b.codes, a.scales, b.scales),
                                exponent_bits, fraction_bits);
          if (std::isinf(ulp))
            ++verdict_.beyond_range;
          else
            verdict_.worst_ulp = std::max(verdict_.worst_ulp, ulp);
        }
      }
    }
  }

  const GemmVariant& variant_;
  const Plan& plan_;
  size_t element_;
  Verdict verdict_;
  std::map<std::string, isa::Program> programs_;
  std::vector<std::string> digests_;
};

}  // namespace

std::string gemm_digest(const std::vector<std::string>& of_cases) {
  Digest all;
  for (const std::string& d : of_cases) all.add(std::as_bytes(std::span(d)));
  return all.hex();
}

std::vector<Verdict> verify_gemm(const Plan& plan) {
  std::vector<const GemmVariant*> variants;
  for (const std::string& name : plan.kernels) variants.push_back(&gemm_variant(name));
  if (plan.kernels.empty())
    for (const GemmVariant& v : gemm_variants()) variants.push_back(&v);
  const std::optional<Capture> capture = read_capture(plan.captures + "/gemm.json");
  std::vector<Verdict> out(variants.size());
  std::mutex mutex;
  size_t done = 0;
  each_in_parallel(variants.size(), plan.threads, [&](size_t i) {
    Judge judge(*variants[i], plan);
    for (const auto& cases : {gemm_cases(), gemm_unrecorded_cases(*variants[i])})
      for (const GemmCase& c : cases) judge.judge(c);
    if (plan.full)
      for (const GemmCase& c : gemm_full_cases(*variants[i])) judge.judge(c);
    out[i] = judge.conclude(capture);
    const std::scoped_lock lock(mutex);
    if (plan.progress) plan.progress(++done, variants.size(), variants[i]->name());
  });
  return out;
}

}  // namespace bitwell::verify
