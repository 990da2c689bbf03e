#include "verify/verdict/judge.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>

#include "verify/capture/digest.h"
#include "verify/session/weigh.h"
#include "verify/suite/parallel.h"
#include "verify/verdict/asked.h"

namespace bitwell::verdict {
namespace {

// What GPUs record.
constexpr const char* kRecordedArch = "sm_90a";

// A case, and its launch where it failed: which of them are written is known when others are judged too.
struct Outcome {
  Judged judged;
  std::optional<suite::Failure> failure;
};

// A kernel on one architecture, as its cases are judged by any number of host threads.
struct Trial {
  suite::Build build;
  bool races = false;
  launch::Modules modules;
  findings::Readings readings;  // of those whose races are looked for

  // `recorded`: gets the result under the first schedule.
  Outcome run(const suite::Case& of, const suite::SuiteCase& c, std::vector<std::byte>& recorded) {
    Outcome outcome{{of}, {}};
    Judged& out = outcome.judged;
    out.outputs = c.expected.size() / c.element;
    for (const run::Schedule& schedule : c.schedules) {
      findings::Watch watch;
      run::Options options;
      if (races) options.observers.push_back(watch.observer(lines_of(c.chain)));
      size_t begun = 0;
      const auto begins = [&](const launch::Launch& l, const findings::SharedModule&,
                              const findings::SharedProgram& program) {
        out.approximates = out.approximates || !program->approximations.empty();
        if (!races) return;
        watch.begin(*program, l.shape, c.chain.overlaps(begun++));
        watch.follow(readings.of(program));
      };
      suite::Tried tried = suite::try_case(c, schedule, std::ref(modules), options, begins);
      const std::vector<session::Weighed> found = session::weigh(watch);
      if (const session::Weighed* error = session::first_error(found); !tried.failure && error != nullptr)
        tried.failure = {c.name + ": " + findings::describe(error->found), true, 1, schedule,
                         c.chain.launches[error->found.later->number - 1]};
      out.lane_instructions += tried.lane_instructions;
      out.seconds += tried.seconds;
      run::merge(out.touched, tried.footprint);
      if (&schedule == &c.schedules.front()) recorded = std::move(tried.result);
      outcome.failure = std::move(tried.failure);
      if (outcome.failure) break;
    }
    return outcome;
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

void count_errors(Judged& j, const std::vector<double>& errors_ulp) {
  for (const double ulp : errors_ulp)
    if (std::isinf(ulp))
      ++j.beyond_range;
    else
      j.worst_ulp = std::max(j.worst_ulp, ulp);
}

// What the recorded digest takes of a case's result.
std::vector<std::byte> part_of_digest(const suite::Suite& suite, std::vector<std::byte> result) {
  if (suite.recorded == suite::Suite::Recorded::results) return result;
  capture::Digest one;
  one.add(result);
  const std::string hex = one.hex();
  const auto bytes = std::as_bytes(std::span(hex));
  return {bytes.begin(), bytes.end()};
}

// "gemv-fused.sm_90a-m-37-k-1152", of a case's text: a folder's name.
std::string folder_of(const suite::Case& c) {
  std::string out;
  for (const char ch : suite::text_of(c))
    if (std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '.' || ch == '_')
      out += ch;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  return out;
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
void compare_with_budget(Verdict& v, const run::Footprint& touched, const suite::Reserves& reserves,
                         const std::string& budgets) {
  v.occupied = occupied(reserves, launch::read_file(budgets + "/" + reserves.budget + ".json"), touched);
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

// A case of a kernel, drawn once for all its architectures.
struct Piece {
  size_t kernel = 0;  // of Asked's
  suite::PlannedCase planned;
};

void longest_first(std::vector<Piece>& pieces, const std::function<double(const Piece&)>& seconds) {
  std::vector<std::pair<double, Piece>> by;
  for (Piece& piece : pieces) {
    const double took = seconds(piece);
    by.emplace_back(took, std::move(piece));
  }
  std::stable_sort(by.begin(), by.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < by.size(); ++i) pieces[i] = std::move(by[i].second);
}

// Judges each case that `wants` takes; `tell` hears of each when it is judged, one at a time.
void judge_pieces(const suite::Suite& suite, const Asked& asked,
                  const std::function<bool(const suite::Case&)>& wants,
                  const std::function<void(Outcome)>& tell) {
  const Plan& plan = asked.plan;
  std::vector<std::vector<Trial>> trials;  // of each kernel, by architecture
  std::vector<Piece> pieces;
  for (size_t i = 0; i < asked.kernels.size(); ++i) {
    trials.emplace_back(asked.archs[i].size());
    for (size_t a = 0; a < asked.archs[i].size(); ++a) {
      trials[i][a].build = {plan.ptx, asked.archs[i][a]};
      trials[i][a].races = plan.races;
    }
    for (suite::PlannedCase& planned : cases_of(*asked.kernels[i], plan))
      pieces.push_back({i, std::move(planned)});
  }
  if (plan.seconds)
    longest_first(pieces, [&](const Piece& piece) {
      double out = 0;
      for (const Trial& t : trials[piece.kernel])
        if (const suite::Case of{suite.name, asked.kernels[piece.kernel]->name, t.build.arch,
                                 piece.planned.name};
            wants(of))
          out += plan.seconds(of);
      return out;
    });
  std::mutex mutex;
  size_t done = 0;
  suite::each_in_parallel(pieces.size(), plan.threads, [&](size_t at) {
    const auto& [i, planned] = pieces[at];
    const suite::Kernel& kernel = *asked.kernels[i];
    std::optional<suite::DrawnCase> drawn;
    std::vector<double> errors;
    suite::SuiteCase c;
    for (Trial& t : trials[i]) {
      const suite::Case of{suite.name, kernel.name, t.build.arch, planned.name};
      if (!wants(of)) continue;
      if (!drawn) {
        drawn = planned.draw();
        c = suite::suite_case(planned, *drawn, t.build);
        errors = drawn->errors_ulp(c.expected);
      } else {
        c.chain = drawn->chain(t.build);
      }
      std::vector<std::byte> result;
      Outcome outcome = t.run(of, c, result);
      Judged& judged = outcome.judged;
      if (outcome.failure)
        judged.failure =
            failure_of(*outcome.failure, plan.replay_each ? plan.replay + "/" + folder_of(of) : "");
      if (planned.recorded) judged.recorded = part_of_digest(suite, std::move(result));
      if (planned.published && !judged.failure) judged.published_outputs = judged.outputs;
      count_errors(judged, errors);
      const std::scoped_lock lock(mutex);
      tell(std::move(outcome));
    }
    const std::scoped_lock lock(mutex);
    if (plan.progress) plan.progress(++done, pieces.size(), kernel.name);
  });
}

// What verdicts are held against.
struct Known {
  std::optional<capture::Capture> capture;
  std::vector<capture::Capture> reported;
  std::vector<problem::Word> words;
};
Known known_of(const suite::Suite& suite, const Plan& plan) {
  Known out;
  out.capture = capture::read_capture(plan.captures + "/" + suite.name + ".json");
  if (!suite.words_kind.empty())
    out.words = problem::words_of(suite.words_kind, launch::read_file(plan.captures + "/b200_words.txt"));
  out.reported = capture::read_captures(plan.captures + "/reported");
  return out;
}

// Of a kernel's cases on one architecture, in their order.
struct Sum {
  Verdict verdict;
  run::Footprint touched;
  bool approximates = false;
  capture::Digest recorded;

  void add(const Judged& j) {
    Verdict& v = verdict;
    ++v.cases;
    v.outputs += j.outputs;
    if (j.failure) add_failure(v, *j.failure);
    v.worst_ulp = std::max(v.worst_ulp, j.worst_ulp);
    v.beyond_range += j.beyond_range;
    v.published_outputs += j.published_outputs;
    approximates = approximates || j.approximates;
    run::merge(touched, j.touched);
    if (j.recorded) recorded.add(*j.recorded);
    v.lane_instructions += j.lane_instructions;
    v.seconds += j.seconds;
  }
};

std::vector<Verdict> verdicts_of_kernel(const suite::Suite& suite, const suite::Kernel& kernel,
                                        const std::vector<std::string>& archs, const Plan& plan,
                                        const Known& known,
                                        const std::map<suite::Case, const Judged*>& judged) {
  std::vector<Sum> sums(archs.size());
  std::string reference;
  for (size_t i = 0; i < archs.size(); ++i) {
    for (const suite::PlannedCase& planned : cases_of(kernel, plan)) {
      const auto at = judged.find({suite.name, kernel.name, archs[i], planned.name});
      if (at == judged.end()) return {};
      sums[i].add(*at->second);
    }
    sums[i].verdict.digest = sums[i].recorded.hex();
    if (archs[i] == kRecordedArch) reference = sums[i].verdict.digest;
  }
  std::vector<Verdict> out;
  for (size_t i = 0; i < archs.size(); ++i) {
    Verdict& v = sums[i].verdict;
    v.kernel = kernel.full_name;
    v.arch = archs[i];
    v.note = kernel.note;
    v.evidence =
        suite.published_by.empty() ? "manual" : "published (" + suite.published_by + "); rest manual";
    v.holds = v.mismatches == 0;
    const std::string subject = recorded_name(suite, kernel, plan.full);
    if (!plan.only) {  // else what was recorded, and what is reserved, is of more than was run
      if (v.arch == kRecordedArch)
        compare_with_capture(v, known.capture, subject);
      else if (v.digest == reference)
        v.evidence = std::string("manual; bits = ") + kRecordedArch;
      add_reported(v, known.reported, reported_name(v.arch, subject));
      if (v.arch != kRecordedArch) replay_words(v, suite, known.words);  // a B200's
      if (kernel.reserves && !plan.budgets.empty())
        compare_with_budget(v, sums[i].touched, *kernel.reserves, plan.budgets);
      if (v.arch != kRecordedArch) add_published(v);
    }
    if (sums[i].approximates) v.evidence += "; approximate instructions as an H200's";
    out.push_back(std::move(v));
  }
  return out;
}

std::vector<Verdict> verdicts_of(const suite::Suite& suite, const Asked& asked, const Known& known,
                                 const std::vector<Judged>& judged) {
  std::map<suite::Case, const Judged*> by_case;
  for (const Judged& j : judged) by_case.emplace(j.of, &j);
  std::vector<Verdict> out;
  for (size_t i = 0; i < asked.kernels.size(); ++i)
    for (Verdict& v :
         verdicts_of_kernel(suite, *asked.kernels[i], asked.archs[i], asked.plan, known, by_case))
      out.push_back(std::move(v));
  return out;
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
  for (const std::vector<std::byte>& result : results) all.add(part_of_digest(suite, result));
  return all.hex();
}

std::vector<suite::Case> cases_of(const suite::Suite& suite, const Plan& plan) {
  const Asked asked = asked_of(suite, plan);
  std::vector<suite::Case> out;
  for (size_t i = 0; i < asked.kernels.size(); ++i)
    for (const suite::PlannedCase& planned : cases_of(*asked.kernels[i], asked.plan))
      for (const std::string& arch : asked.archs[i])
        out.push_back({suite.name, asked.kernels[i]->name, arch, planned.name});
  return out;
}

void judge_cases(const suite::Suite& suite, const Plan& plan,
                 const std::function<bool(const suite::Case&)>& wants,
                 const std::function<void(const Judged&)>& tell) {
  const Asked asked = asked_of(suite, plan);
  expect_modules(asked);
  judge_pieces(suite, asked, wants, [&](const Outcome& o) { tell(o.judged); });
}

std::vector<Verdict> verdicts_of(const suite::Suite& suite, const Plan& plan,
                                 const std::vector<Judged>& judged) {
  return verdicts_of(suite, asked_of(suite, plan), known_of(suite, plan), judged);
}

std::vector<Verdict> judge(const suite::Suite& suite, const Plan& plan) {
  const Asked asked = asked_of(suite, plan);
  expect_modules(asked);
  const Known known = known_of(suite, plan);
  std::map<suite::Case, size_t> order;  // of what is told
  for (const suite::Case& c : cases_of(suite, plan)) order.emplace(c, order.size());
  std::map<suite::Case, Judged> judged;
  // Of a kernel on an architecture, the failed case that comes first, whichever is judged first: its launch
  // is written.
  std::map<std::pair<std::string, std::string>, std::pair<suite::Case, suite::Failure>> first;
  judge_pieces(
      suite, asked, [](const suite::Case&) { return true; },
      [&](Outcome o) {
        const suite::Case of = o.judged.of;
        judged.emplace(of, std::move(o.judged));
        if (!o.failure || plan.replay_each) return;
        const auto at = first.find({of.kernel, of.arch});
        if (at == first.end())
          first.emplace(std::pair(of.kernel, of.arch), std::pair(of, std::move(*o.failure)));
        else if (order.at(of) < order.at(at->second.first))
          at->second = {of, std::move(*o.failure)};
      });
  for (const auto& [who, failed] : first) {
    const suite::Kernel& kernel = suite::kernel(suite, who.first);
    judged.at(failed.first).failure =
        failure_of(failed.second, plan.replay + "/" + kernel.full_name +
                                      (suite.archs_of(kernel).size() > 1 ? "-" + who.second : ""));
  }
  std::vector<Judged> all;
  for (auto& [of, j] : judged) all.push_back(std::move(j));
  return verdicts_of(suite, asked, known, all);
}

}  // namespace bitwell::verdict
