// The race check of a run, what is known of its findings, and the files that tools read of them.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "verify/cli/run_hazards.h"
#include "verify/cli/run_options.h"
#include "verify/hazard/watch.h"

namespace bitwell::cli {

class RunFindings {
 public:
  // Reads --baseline and, where it is there, what --write-baseline replaces in part: InputError.
  RunFindings(const RunOptions& options, const verify::LaunchFile& file);
  RunFindings(const RunFindings&) = delete;
  RunFindings& operator=(const RunFindings&) = delete;

  // To be told of the run's events with --races; valid as long as this.
  machine::Observer observer() { return watch_.observer(lines_); }
  // To be told of each launch with --races, else none; valid as long as this.
  verify::Beginning beginning();
  // Makes the launch again for findings whose data may come to nothing; with --explain for all. Of one
  // launch, when it has come to its end; of a list nothing is made again.
  void follow(const verify::Rerun& rerun);
  // Of --sarif, --junit and --write-baseline.
  void plan(verify::OutputFiles& files) const;
  // What was found so far.
  Hazards now() const;
  // What CI servers count; `fault`: that the run ended in, or empty; `expected`: as expectations() has it.
  std::vector<TestCase> tests(const std::string& fault, double seconds, const nlohmann::json& expected) const;
  // --sarif, of a run that ended or did not.
  void write_sarif(verify::OutputFiles& files) const;
  // --junit, of those.
  void write_junit(verify::OutputFiles& files, const std::string& fault, double seconds,
                   const nlohmann::json& expected) const;
  // --write-baseline, of a run that ended.
  void write_baseline(verify::OutputFiles& files) const;
  hazard::Checker::Cost cost() const { return watch_.cost(); }

 private:
  void begin(const std::shared_ptr<const isa::Program>& program, const verify::Step* step);
  using EntryOf = std::pair<std::string, std::string>;  // a PTX file and an entry in it
  void add(const EntryOf& entry, const verify::SharedModule& module);
  Explained explained(const verify::Found& found) const;
  const std::string& entry() const;  // of the first launch, by its whole name as soon as it has begun
  verify::Sifted sifted() const { return verify::sift(watch_.findings(), watch_.entries(), known_); }

  const RunOptions& options_;
  const verify::LaunchFile& file_;
  verify::Watch watch_;
  std::vector<std::shared_ptr<const isa::Program>> programs_;  // of the launches so far
  std::map<std::string, verify::SharedModule> modules_;        // by path
  std::set<EntryOf> added_;                                    // of all launches
  std::vector<int> lines_;                                     // that their registers ask for
  mutable verify::Readings readings_;
  using Pair = std::tuple<hazard::Kind, int, int>;  // a finding, by kind and lines
  std::map<Pair, verify::Followed> followed_;
  verify::Baseline known_, replaced_;
};

}  // namespace bitwell::cli
