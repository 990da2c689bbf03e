#include "verify/verdict/judge.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>

#include "verify/capture/digest.h"
#include "verify/session/weigh.h"
#include "verify/suite/parallel.h"

namespace bitwell::verdict {
namespace {

// What GPUs record.
constexpr const char* kRecordedArch = "sm_90a";

// A kernel on one architecture, on its way to a verdict.
struct Trial {
  suite::Build build;
  std::string replay;
  bool races = false;
  launch::Modules modules;
  findings::Readings readings;  // of those whose races are looked for
  bool approximates =
      false;  // any launch has instructions whose bits nobody has recorded of that architecture
  std::vector<std::vector<std::byte>> recorded;  // results of the cases that a GPU recorded
  run::Footprint touched;                        // by all cases
  Verdict verdict;

  void run(const suite::SuiteCase& c, const suite::PlannedCase& planned) {
    ++verdict.cases;
    verdict.outputs += c.expected.size() / c.element;
    for (const run::Schedule& schedule : c.schedules) {
      findings::Watch watch;
      run::Options options;
      if (races) options.observers.push_back(watch.observer(lines_of(c.chain)));
      size_t begun = 0;
      const auto begins = [&](const launch::Launch& l, const findings::SharedModule&,
                              const findings::SharedProgram& program) {
        approximates = approximates || !program->approximations.empty();
        if (!races) return;
        watch.begin(*program, l.shape, c.chain.overlaps(begun++));
        watch.follow(readings.of(program));
      };
      suite::Tried tried = suite::try_case(c, schedule, std::ref(modules), options, begins);
      const std::vector<session::Weighed> found = session::weigh(watch);
      if (const session::Weighed* error = session::first_error(found); !tried.failure && error != nullptr)
        tried.failure = {c.name + ": " + findings::describe(error->found), true, 1, schedule,
                         c.chain.launches[error->found.later->number - 1]};
      verdict.lane_instructions += tried.lane_instructions;
      verdict.seconds += tried.seconds;
      run::merge(touched, tried.footprint);
      if (planned.recorded && &schedule == &c.schedules.front()) recorded.push_back(std::move(tried.result));
      if (!tried.failure) continue;
      add_failure(verdict, *tried.failure, replay);
      return;
    }
    if (planned.published) verdict.published_outputs += c.expected.size() / c.element;
  }

  // Where registers of a wgmma are reached, by any launch.
  std::vector<int> lines_of(const suite::Chain& chain) {
    std::vector<int> out;
    for (const launch::Launch& l : chain.launches) {
      const std::vector<int> lines =
          readings.of(modules(l)->program(l.entry, l.approximate)).registers.lines();
      out.insert(out.end(), lines.begin(), lines.end());
    }
    return out;
  }
};

void count_errors(Verdict& v, const std::vector<double>& errors_ulp) {
  for (const double ulp : errors_ulp)
    if (std::isinf(ulp))
      ++v.beyond_range;
    else
      v.worst_ulp = std::max(v.worst_ulp, ulp);
}

// How many of the suite's published words its arithmetic gives; the first that it does not is a failure.
void replay_words(Verdict& v, const suite::Suite& suite, const std::vector<problem::Word>& words) {
  for (const problem::Word& word : words) {
    if (suite.gives_word(word)) {
      ++v.published_words;
      continue;
    }
    v.holds = false;
    if (v.first_mismatch.empty())
      v.first_mismatch = "the expected results do not rest on what a B200 gives: word " +
                         std::to_string(&word - words.data() + 1) + " of " + suite.words_kind +
                         " in b200_words.txt";
  }
}

// A kernel that reserves other than its budget, or what no case touches, does not hold.
void compare_with_budget(Trial& t, const suite::Reserves& reserves, const std::string& budgets) {
  Verdict& v = t.verdict;
  v.occupied = occupied(reserves, launch::read_file(budgets + "/" + reserves.budget + ".json"), t.touched);
  if (v.occupied->finding.empty()) return;
  v.holds = false;
  if (v.first_mismatch.empty()) v.first_mismatch = v.occupied->finding;
}

std::vector<suite::PlannedCase> cases_of(const suite::Kernel& kernel, const Plan& plan) {
  std::vector<suite::PlannedCase> out;
  if (plan.only) {
    out.push_back(suite::planned(*plan.only));
    out.back().recorded = true;
    return out;
  }
  out = kernel.cases();
  std::erase_if(out, [&](const suite::PlannedCase& c) { return c.full && !plan.full; });
  return out;
}

std::vector<Verdict> judge_kernel(const suite::Suite& suite, const suite::Kernel& kernel,
                                  const std::vector<std::string>& archs, const Plan& plan,
                                  const std::optional<capture::Capture>& capture,
                                  const std::vector<capture::Capture>& reported,
                                  const std::vector<problem::Word>& words) {
  if (archs.empty()) return {};
  std::vector<Trial> trials(archs.size());
  for (size_t i = 0; i < archs.size(); ++i) {
    Trial& t = trials[i];
    t.build = {plan.ptx, archs[i]};
    t.races = plan.races;
    t.replay =
        plan.replay + "/" + kernel.full_name + (suite.archs_of(kernel).size() > 1 ? "-" + archs[i] : "");
    t.verdict.kernel = kernel.full_name;
    t.verdict.arch = archs[i];
    t.verdict.note = kernel.note;
  }
  for (const suite::PlannedCase& planned : cases_of(kernel, plan)) {
    const suite::DrawnCase drawn = planned.draw();
    suite::SuiteCase c = suite::suite_case(planned, drawn, trials.front().build);
    const std::vector<double> errors = drawn.errors_ulp(c.expected);
    for (Trial& t : trials) {
      if (&t != &trials.front()) c.chain = drawn.chain(t.build);
      t.run(c, planned);
      count_errors(t.verdict, errors);
    }
  }
  std::vector<Verdict> out;
  std::string reference;
  for (Trial& t : trials) {
    t.verdict.digest = recorded_digest(suite, t.recorded);
    if (t.build.arch == kRecordedArch) reference = t.verdict.digest;
  }
  for (Trial& t : trials) {
    Verdict& v = t.verdict;
    v.evidence =
        suite.published_by.empty() ? "manual" : "published (" + suite.published_by + "); rest manual";
    v.holds = v.mismatches == 0;
    const std::string subject = recorded_name(suite, kernel, plan.full);
    if (!plan.only) {  // else what was recorded, and what is reserved, is of more than was run
      if (t.build.arch == kRecordedArch)
        compare_with_capture(v, capture, subject);
      else if (v.digest == reference)
        v.evidence = std::string("manual; bits = ") + kRecordedArch;
      add_reported(v, reported, reported_name(v.arch, subject));
      if (t.build.arch != kRecordedArch) replay_words(v, suite, words);  // a B200's
      if (kernel.reserves && !plan.budgets.empty()) compare_with_budget(t, *kernel.reserves, plan.budgets);
      if (t.build.arch != kRecordedArch) add_published(v);
    }
    if (t.approximates) v.evidence += "; approximate instructions as an H200's";
    out.push_back(std::move(v));
  }
  return out;
}

// What each kernel is to be judged on: of what the plan asks for, what the kernel is made for. A kernel that
// is named and made for none of that is a mistake.
std::vector<std::vector<std::string>> archs_of(const suite::Suite& suite,
                                               const std::vector<const suite::Kernel*>& kernels,
                                               const Plan& plan) {
  const std::vector<std::string> known = suite.all_archs();
  for (const std::string& arch : plan.archs)
    if (std::find(known.begin(), known.end(), arch) == known.end())
      throw machine::InputError("the suite '" + suite.name + "' is not judged on '" + arch + "'");
  std::vector<std::vector<std::string>> out;
  for (const suite::Kernel* kernel : kernels) {
    out.push_back(plan.archs.empty() ? suite.archs_of(*kernel) : plan.archs);
    std::erase_if(out.back(), [&](const std::string& arch) { return !suite.judged_on(*kernel, arch); });
    if (out.back().empty() && !plan.kernels.empty())
      throw machine::InputError("'" + kernel->full_name + "' is a kernel for " +
                                suite.archs_of(*kernel).front() + ", which --arch leaves out");
  }
  return out;
}

// To the kernel and the architecture of the one case, where there is one.
Plan narrowed(const suite::Suite& suite, Plan plan) {
  if (!plan.only) return plan;
  if (plan.only->suite != suite.name)
    throw machine::InputError("'" + suite::text_of(*plan.only) + "' is a case of another suite than '" +
                              suite.name + "'");
  plan.kernels = {plan.only->kernel};
  plan.archs = {plan.only->arch};
  return plan;
}

// `.ci/setup` compiles the PTX of the GEMV kernels; who asks for another is told how to get it.
void expect_modules(const std::vector<const suite::Kernel*>& kernels,
                    const std::vector<std::vector<std::string>>& archs, const Plan& plan) {
  for (size_t i = 0; i < kernels.size(); ++i)
    for (const suite::Entry& entry : kernels[i]->entries)
      for (const std::string& arch : archs[i]) {
        const std::string path = suite::Build{plan.ptx, arch}.file(entry.module);
        if (std::filesystem::exists(path)) continue;
        throw machine::InputError("'" + kernels[i]->full_name + "' is not compiled: there is no " + path +
                                  "; 'cmake --build --preset release --target bitwell_kernels' compiles the "
                                  "kernels of all suites");
      }
}

}  // namespace

std::string recorded_name(const suite::Suite& suite, const suite::Kernel& kernel, bool full) {
  const std::vector<suite::PlannedCase> cases = kernel.cases();
  const bool apart = full && std::any_of(cases.begin(), cases.end(),
                                         [](const suite::PlannedCase& c) { return c.recorded && c.full; });
  return suite.name + (apart ? "-full/" : "/") + kernel.name;
}

std::string reported_name(const std::string& arch, const std::string& subject) {
  return "kernels, " + arch + ": " + subject;
}

std::string recorded_digest(const suite::Suite& suite, const std::vector<std::vector<std::byte>>& results) {
  capture::Digest all;
  for (const std::vector<std::byte>& result : results) {
    if (suite.recorded == suite::Suite::Recorded::results) {
      all.add(result);
      continue;
    }
    capture::Digest one;
    one.add(result);
    const std::string hex = one.hex();
    all.add(std::as_bytes(std::span(hex)));
  }
  return all.hex();
}

std::vector<Verdict> judge(const suite::Suite& suite, const Plan& asked) {
  const Plan plan = narrowed(suite, asked);
  std::vector<const suite::Kernel*> kernels;
  for (const std::string& name : plan.kernels) kernels.push_back(&suite::kernel(suite, name));
  if (plan.kernels.empty())
    for (const suite::Kernel& k : suite.kernels) kernels.push_back(&k);
  const std::vector<std::vector<std::string>> archs = archs_of(suite, kernels, plan);
  expect_modules(kernels, archs, plan);
  const std::optional<capture::Capture> capture =
      capture::read_capture(plan.captures + "/" + suite.name + ".json");
  std::vector<problem::Word> words;
  if (!suite.words_kind.empty())
    words = problem::words_of(suite.words_kind, launch::read_file(plan.captures + "/b200_words.txt"));
  const std::vector<capture::Capture> reported = capture::read_captures(plan.captures + "/reported");
  std::vector<std::vector<Verdict>> results(kernels.size());
  std::mutex mutex;
  size_t done = 0;
  suite::each_in_parallel(kernels.size(), plan.threads, [&](size_t i) {
    results[i] = judge_kernel(suite, *kernels[i], archs[i], plan, capture, reported, words);
    const std::scoped_lock lock(mutex);
    if (plan.progress) plan.progress(++done, kernels.size(), kernels[i]->name);
  });
  std::vector<Verdict> out;
  for (auto& r : results)
    for (Verdict& v : r) out.push_back(std::move(v));
  return out;
}

}  // namespace bitwell::verdict
