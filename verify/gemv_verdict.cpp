#include "verify/gemv_verdict.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>

#include "model/machine/failure.h"
#include "verify/digest.h"
#include "verify/launch_json.h"
#include "verify/parallel.h"
#include "verify/same.h"

namespace bitwell::verify {
namespace {

std::string hex16(uint16_t v) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%04x", v);
  return text;
}

uint16_t output_at(const std::vector<std::byte>& bytes, size_t i) {
  uint16_t v = 0;
  std::memcpy(&v, bytes.data() + 2 * i, 2);
  return v;
}

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

// What each output should be: the order evaluated directly, and how far that is from exact.
struct Expected {
  std::vector<uint16_t> codes;
  double worst_ulp = 0;
  uint64_t beyond_range = 0;
};

Expected expect(const GemvRung& rung, const GemvProblem& problem) {
  Expected out;
  for (int batch = 0; batch < problem.spec.l; ++batch)
    for (int row = 0; row < problem.spec.m; ++row) {
      const GemvProblem::Row data = problem.row(batch, row);
      const uint16_t code = number::evaluate(rung.order, data.operands());
      out.codes.push_back(code);
      const double ulp = oracle::error_ulp(code, oracle::dot(data.a, data.b, data.sfa, data.sfb));
      if (std::isinf(ulp))
        ++out.beyond_range;
      else
        out.worst_ulp = std::max(out.worst_ulp, ulp);
    }
  return out;
}

void fail(Subject& s, const Plan& plan, const GemvRung& rung, const GemvProblem& problem,
          const std::string& what) {
  ++s.verdict.mismatches;
  if (!s.verdict.first_mismatch.empty()) return;
  s.verdict.first_mismatch = problem.spec.describe() + ": " + what;
  write_replay(s.verdict, problem.launch(rung, s.path), plan.replay + "/" + s.verdict.kernel + "-" + s.arch);
}

void run_case(Subject& s, const Plan& plan, const GemvRung& rung, const GemvCase& c,
              const GemvProblem& problem, const Expected& expected) {
  Launch launch = problem.launch(rung, s.path);
  Verdict& v = s.verdict;
  ++v.cases;
  v.outputs += expected.codes.size();
  v.worst_ulp = std::max(v.worst_ulp, expected.worst_ulp);
  v.beyond_range += expected.beyond_range;
  const auto start = std::chrono::steady_clock::now();
  try {
    const isa::RunResult r = simulate(*s.programs[static_cast<int>(c.layout)], launch, {}, true);
    v.lane_instructions += r.lane_instructions;
  } catch (const machine::Fault& f) {
    return fail(s, plan, rung, problem, f.what());
  }
  v.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<std::byte>& got = launch.buffers[4].bytes;
  s.digest.add(got);
  for (size_t i = 0; i < expected.codes.size(); ++i)
    if (output_at(got, i) != expected.codes[i])
      fail(s, plan, rung, problem,
           "output " + std::to_string(i) + " => " + hex16(output_at(got, i)) + " expected " +
               hex16(expected.codes[i]));
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
  if (plan.full) {
    const std::vector<GemvCase> full = gemv_full_cases();
    cases.insert(cases.end(), full.begin(), full.end());
  }
  for (const GemvCase& c : cases) {
    const GemvProblem problem(c);
    const Expected expected = expect(rung, problem);
    for (Subject& s : subjects) run_case(s, plan, rung, c, problem, expected);
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
