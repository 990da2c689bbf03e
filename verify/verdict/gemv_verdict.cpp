#include "verify/verdict/gemv_verdict.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>

#include "verify/capture/digest.h"
#include "verify/suite/parallel.h"

namespace bitwell::verify {
namespace {

// One rung on one architecture.
struct Subject {
  std::string arch;
  std::string path;
  std::optional<isa::Program> programs[2];  // by layout
  Verdict verdict;
  Digest digest;
};

void load(Subject& s, const GemvRung& rung) {
  for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
    s.programs[static_cast<int>(layout)] = load_program(s.path, gemv_entry(rung, layout));
}

// How far what the order gives is from exact.
struct Error {
  double worst_ulp = 0;
  uint64_t beyond_range = 0;
};

Error measure(const GemvProblem& problem, const std::vector<std::byte>& codes) {
  Error out;
  for (size_t i = 0; i < codes.size() / 2; ++i) {
    uint16_t code = 0;
    std::memcpy(&code, &codes[2 * i], 2);
    const int at = static_cast<int>(i);
    const GemvProblem::Row data = problem.row(at / problem.spec.m, at % problem.spec.m);
    const double ulp = oracle::error_ulp(code, oracle::dot(data.a, data.b, data.sfa, data.sfb));
    if (std::isinf(ulp))
      ++out.beyond_range;
    else
      out.worst_ulp = std::max(out.worst_ulp, ulp);
  }
  return out;
}

void run_case(Subject& s, const Plan& plan, const SuiteCase& c, ScaleLayout layout, bool recorded) {
  Verdict& v = s.verdict;
  ++v.cases;
  v.outputs += c.expected.size() / c.element;
  for (const isa::Schedule& schedule : c.schedules) {
    Tried tried = try_case(c, schedule, [&](const Launch&) -> const isa::Program& {
      return *s.programs[static_cast<int>(layout)];
    });
    v.lane_instructions += tried.lane_instructions;
    v.seconds += tried.seconds;
    if (recorded && &schedule == &c.schedules.front()) s.digest.add(tried.result);
    if (!tried.failure) continue;
    add_failure(v, *tried.failure, plan.replay + "/" + v.kernel + "-" + s.arch);
    return;
  }
}

void conclude(Subject& s, const Plan& plan, const std::optional<Capture>& capture, bool tied) {
  Verdict& v = s.verdict;
  v.digest = s.digest.hex();
  v.evidence = "manual";
  v.holds = v.mismatches == 0;
  if (s.arch != "sm_90a") {
    if (tied) v.evidence = "manual; bits = sm_90a";
    return;
  }
  compare_with_capture(v, capture, (plan.full ? "gemv-full/" : "gemv/") + v.kernel.substr(5));
}

std::vector<Verdict> verify_rung(const GemvRung& rung, const Plan& plan,
                                 const std::optional<Capture>& capture) {
  std::vector<Subject> subjects(plan.archs.size());
  for (size_t i = 0; i < subjects.size(); ++i) {
    subjects[i].arch = plan.archs[i];
    subjects[i].path = plan.ptx + "/gemv/" + std::string(rung.name) + "." + plan.archs[i] + ".ptx";
    subjects[i].verdict.kernel = "gemv_" + std::string(rung.name);
    subjects[i].verdict.arch = plan.archs[i];
    load(subjects[i], rung);
  }
  std::vector<GemvCase> cases = gemv_reduced_cases(rung);
  const auto append = [&](const std::vector<GemvCase>& more) {
    cases.insert(cases.end(), more.begin(), more.end());
  };
  if (plan.full) append(gemv_full_cases());
  const size_t recorded = cases.size();  // what the GPU's recorder ran
  append(gemv_unrecorded_cases(rung));
  for (size_t i = 0; i < cases.size(); ++i) {
    const GemvProblem problem(cases[i]);
    SuiteCase c = problem.suite_case(rung, "");
    const Error error = measure(problem, c.expected);
    for (Subject& s : subjects) {
      s.verdict.worst_ulp = std::max(s.verdict.worst_ulp, error.worst_ulp);
      s.verdict.beyond_range += error.beyond_range;
      c.chain.launches[0].ptx = s.path;
      run_case(s, plan, c, cases[i].layout, i < recorded);
    }
  }
  std::string reference;
  for (const Subject& s : subjects)
    if (s.arch == "sm_90a") reference = s.digest.hex();
  std::vector<Verdict> out;
  for (Subject& s : subjects) {
    conclude(s, plan, capture, s.digest.hex() == reference);
    out.push_back(std::move(s.verdict));
  }
  return out;
}

}  // namespace

std::vector<Verdict> verify_gemv(const Plan& plan) {
  std::vector<const GemvRung*> rungs;
  for (const std::string& name : plan.kernels) rungs.push_back(&gemv_rung(name));
  if (plan.kernels.empty())
    for (const GemvRung& r : gemv_rungs()) rungs.push_back(&r);
  const std::optional<Capture> capture = read_capture(plan.captures + "/gemv.json");

  std::vector<std::vector<Verdict>> results(rungs.size());
  std::mutex mutex;
  size_t done = 0;
  each_in_parallel(rungs.size(), plan.threads, [&](size_t i) {
    results[i] = verify_rung(*rungs[i], plan, capture);
    const std::scoped_lock lock(mutex);
    if (plan.progress) plan.progress(++done, rungs.size(), std::string(rungs[i]->name));
  });
  std::vector<Verdict> out;
  for (auto& r : results)
    for (Verdict& v : r) out.push_back(std::move(v));
  return out;
}

}  // namespace bitwell::verify
