// The race check of a run, what is known of its findings, and the files that tools read of them.
#pragma once
#include "verify/cli/run/run_hazards.h"
#include "verify/cli/run/run_options.h"

namespace bitwell::cli {

class RunFindings {
 public:
  // Reads --baseline and, where it is there, what --write-baseline replaces in part: InputError.
  explicit RunFindings(const RunOptions& options);
  RunFindings(const RunFindings&) = delete;
  RunFindings& operator=(const RunFindings&) = delete;

  // What was found, for all that follows; it outlives this.
  void take(const session::Answer& answer);
  const session::Findings& found() const { return found_; }
  // Of --sarif, --junit and --write-baseline.
  void plan(launch::OutputFiles& files) const;
  // What is said of it.
  Hazards told() const;
  // What CI servers count; `fault`: that the run ended in, or empty; `expected`: as expectations() has it.
  std::vector<TestCase> tests(const std::string& fault, double seconds, const nlohmann::json& expected) const;
  // --sarif, of a run of that PTX file that ended, or of what it ended in.
  void write_sarif(launch::OutputFiles& files, const std::string& ptx,
                   const machine::Fault* fault = nullptr) const;
  // --junit, of those.
  void write_junit(launch::OutputFiles& files, const std::string& fault, double seconds,
                   const nlohmann::json& expected) const;
  // --write-baseline, of a run that ended.
  void write_baseline(launch::OutputFiles& files) const;

 private:
  const RunOptions& options_;
  const session::Answer* answer_ = nullptr;
  findings::Baseline known_, replaced_;
  session::Findings found_;
};

}  // namespace bitwell::cli
