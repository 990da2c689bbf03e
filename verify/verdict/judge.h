// Verdicts on a suite's kernels: simulator against the direct evaluation of each kernel's order of summation,
// against itself under other schedules, against the recorded bits of a GPU, and against exact arithmetic.
#pragma once
#include "verify/suite/case.h"
#include "verify/verdict/judged.h"
#include "verify/verdict/verdict.h"

namespace bitwell::verdict {

// How a suite is judged.
struct Plan {
  std::vector<std::string> kernels;  // names; empty: all
  std::vector<std::string> archs;    // empty: all that the suite has
  bool full = false;                 // full cases too
  // Alone, of its kernel and architecture: its verdict's digest is of this case's result, and nothing that
  // rests on all cases (captures, budgets) is said. InputError where it is of another suite.
  std::optional<suite::Case> only{};
  bool races = false;                     // with the race check, whose errors fail a case
  int threads = 0;                        // 0: as many as the host has
  std::string ptx;                        // folder of the kernels' PTX
  std::string captures;                   // folder of the captures
  std::string budgets;                    // folder of the budgets' specs; empty: kernels' are not looked at
  std::string replay = "bitwell-replay";  // folder for failed cases
  bool replay_each = false;               // of each failed case, not of a verdict's first alone
  std::function<void(size_t done, size_t all, const std::string& now)> progress = nullptr;
  std::function<double(const suite::Case&)> seconds = nullptr;  // with it, cases that take longest come first
};

// One verdict a kernel and architecture, in the suite's order of kernels. Throws machine::InputError for
// names that the suite does not have, and for PTX that cannot be read.
std::vector<Verdict> judge(const suite::Suite& suite, const Plan& plan);

// The cases that it asks for, in the order in which verdicts count them: of a kernel, case by case on each
// architecture. Throws as judge does.
std::vector<suite::Case> cases_of(const suite::Suite& suite, const Plan& plan);
// What becomes of those that `wants` takes; `tell` hears of each when it is judged, one at a time. Throws as
// judge does.
void judge_cases(const suite::Suite& suite, const Plan& plan,
                 const std::function<bool(const suite::Case&)>& wants,
                 const std::function<void(const Judged&)>& tell);
// The verdicts that come of them, in whatever order they are, of kernels all of whose cases are there: what
// judge gives where it is of all.
std::vector<Verdict> verdicts_of(const suite::Suite& suite, const Plan& plan,
                                 const std::vector<Judged>& judged);

// What a capture of a kernel is called, and the digest of its recorded results in order; `full`: with those
// of full cases.
std::string recorded_name(const suite::Suite& suite, const suite::Kernel& kernel, bool full);
std::string recorded_digest(const suite::Suite& suite, const std::vector<std::vector<std::byte>>& results);
// What a report of `bitwell prove` calls that capture.
std::string reported_name(const std::string& arch, const std::string& subject);

}  // namespace bitwell::verdict
