// The race check of one question: what it found, and how serious that is.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "verify/hazard/between.h"
#include "verify/hazard/readings.h"
#include "verify/launch/modules.h"
#include "verify/session/session.h"

namespace bitwell::session {

class Races {
 public:
  // Of a question that asks for it, or does not. Throws InputError for an entry that is not there.
  explicit Races(const Question& question);
  Races(const Races&) = delete;
  Races& operator=(const Races&) = delete;

  // To be told of the run's events, valid as long as this; and of each launch: none where nobody asks.
  machine::Observer observer() { return watch_.observer(lines_); }
  Beginning beginning();
  // Makes the launch again for findings whose data may come to nothing, or for all: of one launch, when it
  // has come to its end; of a list nothing is made again.
  void follow(const Rerun& rerun);
  // Makes it again to see what stood between the acts of findings, of a run that ended or did not.
  void look_between(const Rerun& rerun);
  std::vector<Weighed> weighed() const;
  // Of one of its findings.
  Weighed weighed(const Found& found) const;
  // Of the first launch: by its whole name as soon as it has begun.
  const std::string& entry() const;
  const std::set<std::string>& entries() const { return watch_.entries(); }
  hazard::Checker::Cost cost() const { return watch_.cost(); }

 private:
  using EntryOf = std::pair<std::string, std::string>;  // a PTX file and an entry in it
  void add(const EntryOf& entry, const SharedModule& module);
  void begin(const SharedProgram& program, const Step* step);

  const Launch& launch_;
  bool asked_, explain_, strict_;
  Watch watch_;
  std::vector<SharedProgram> programs_;  // of the launches so far
  std::set<EntryOf> added_;
  std::vector<int> lines_;  // that the registers of all launches ask for
  mutable Readings readings_;
  using Pair = std::tuple<hazard::Kind, int, int>;  // a finding, by kind and lines
  std::map<Pair, Followed> followed_;
  std::map<Pair, Between> between_;
};

}  // namespace bitwell::session
