// The race check of a run, what is known of its findings, and the files that tools read of them.
#pragma once
#include "verify/cli/run_hazards.h"
#include "verify/cli/run_options.h"

namespace bitwell::cli {

class RunFindings {
 public:
  // Reads --baseline and, where it is there, what --write-baseline replaces in part: InputError.
  RunFindings(const RunOptions& options, const isa::Program& program, const verify::LaunchFile& file);
  RunFindings(const RunFindings&) = delete;
  RunFindings& operator=(const RunFindings&) = delete;

  // To be told of the run's events with --races; valid as long as this.
  machine::Observer observer() { return checker_.observer(); }
  // Of --sarif, --junit and --write-baseline.
  void plan(verify::OutputFiles& files) const;
  // What was found so far.
  Hazards now() const;
  // --sarif, of a run that ended or did not.
  void write_sarif(verify::OutputFiles& files) const;
  // --junit; `fault`: that the run ended in, or empty; `expected`: as expectations() has it.
  void write_junit(verify::OutputFiles& files, const std::string& fault, double seconds,
                   const nlohmann::json& expected) const;
  // --write-baseline, of a run that ended.
  void write_baseline(verify::OutputFiles& files) const;
  hazard::Checker::Cost cost() const { return checker_.cost(); }

 private:
  const RunOptions& options_;
  const isa::Program& program_;
  const verify::LaunchFile& file_;
  hazard::Checker checker_;
  std::optional<hazard::Ways> ways_;  // with --explain
  verify::Baseline known_, replaced_;
};

}  // namespace bitwell::cli
