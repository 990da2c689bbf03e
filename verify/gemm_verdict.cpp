#include "verify/gemm_verdict.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "verify/digest.h"
#include "verify/launch_json.h"
#include "verify/oracle/gemv.h"
#include "verify/parallel.h"
#include "verify/same.h"

namespace bitwell::verify {
namespace {

constexpr uint64_t kRandomSchedules = 8;

std::string hex(uint32_t v, size_t bytes) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x", static_cast<int>(2 * bytes), v);
  return text;
}

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
    const std::vector<std::byte> expected = problem.expected(variant_);
    ++verdict_.cases;
    verdict_.outputs += expected.size() / element_;
    std::vector<std::byte> first;
    for (const isa::Schedule& schedule : schedules_of(c)) {
      isa::Options options;
      options.schedule = schedule;
      Chain chain = problem.chain(variant_, plan_.ptx);
      try {
        simulate_chain(chain, options);
      } catch (const machine::Fault& f) {
        return fail(problem, chain, schedule, f.what());
      }
      const std::vector<std::byte>& got = gemm_result(chain);
      if (first.empty()) {
        first = got;
        compare(problem, chain, got, expected);
      } else if (!same_bits(first, got)) {
        fail(problem, chain, schedule, "changes the result's bits");
      }
    }
    Digest digest;
    digest.add(first);
    digests_.push_back(digest.hex());
    measure(problem, first);
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
  // The default schedule, and others, none of which may change a bit: all policies and several seeds where
  // CTAs take tile after tile, one in turn elsewhere.
  static std::vector<isa::Schedule> schedules_of(const GemmCase& c) {
    std::vector<isa::Schedule> out{{}};
    if (c.clusters == 0) {
      out.push_back({isa::kPolicies[1 + c.seed % (isa::kPolicies.size() - 1)].policy, c.seed});
      return out;
    }
    for (const auto& p : isa::kPolicies)
      if (p.policy != isa::Policy::lazy) out.push_back({p.policy, c.seed});
    for (uint64_t seed = 1; seed <= kRandomSchedules; ++seed) out.push_back({isa::Policy::random, seed});
    return out;
  }

  void simulate_chain(Chain& chain, const isa::Options& options) {
    at_ = 0;
    run(chain, [&](Launch& l) {
      auto found = programs_.find(l.entry);
      if (found == programs_.end()) found = programs_.emplace(l.entry, load_program(l.ptx, l.entry)).first;
      const auto start = std::chrono::steady_clock::now();
      verdict_.lane_instructions += simulate(found->second, l, options, true).lane_instructions;
      verdict_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      ++at_;
    });
  }

  uint32_t word(const std::vector<std::byte>& bytes, size_t i) const {
    uint32_t v = 0;
    std::memcpy(&v, bytes.data() + i * element_, element_);
    return v;
  }

  void compare(const GemmProblem& problem, const Chain& chain, const std::vector<std::byte>& got,
               const std::vector<std::byte>& expected) {
    for (size_t i = 0; i < expected.size() / element_; ++i)
      if (word(got, i) != word(expected, i))
        fail(problem, chain, {},
             "output " + std::to_string(i) + " => " + hex(word(got, i), element_) + " expected " +
                 hex(word(expected, i), element_));
  }

  // A replay takes the launch of `chain` that failed, or the last, with what the launches before it left.
  void fail(const GemmProblem& problem, const Chain& chain, const isa::Schedule& schedule,
            const std::string& what) {
    ++verdict_.mismatches;
    if (!verdict_.first_mismatch.empty()) return;
    const bool plain = schedule.policy == isa::Policy::lazy;
    const std::string name(isa::kPolicies[static_cast<size_t>(schedule.policy)].name);
    const std::string seed = std::to_string(schedule.seed);
    verdict_.first_mismatch =
        problem.spec.describe() + (plain ? "" : ", schedule " + name + ", seed " + seed) + ": " + what;
    if (!plain) verdict_.replay_options = " --schedule " + name + " --seed " + seed;
    const size_t at = std::min(at_, chain.launches.size() - 1);
    Launch failed = problem.chain(variant_, plan_.ptx).launches[at];
    for (const Chain::Link& l : chain.links)
      if (l.to == at) failed.buffers[l.to_buffer].bytes = chain.launches[l.from].buffers[l.from_buffer].bytes;
    write_replay(verdict_, failed, plan_.replay + "/" + variant_.name());
  }

  // Against exact arithmetic.
  void measure(const GemmProblem& problem, const std::vector<std::byte>& got) {
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
              oracle::error_ulp(word(got, i++), oracle::dot(a.codes, b.codes, a.scales, b.scales),
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
  size_t at_ = 0;  // launches of the chain that have run
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
    for (const GemmCase& c : gemm_cases()) judge.judge(c);
    if (plan.full)
      for (const GemmCase& c : gemm_full_cases(*variants[i])) judge.judge(c);
    out[i] = judge.conclude(capture);
    const std::scoped_lock lock(mutex);
    if (plan.progress) plan.progress(++done, variants.size(), variants[i]->name());
  });
  return out;
}

}  // namespace bitwell::verify
