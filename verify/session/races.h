// The race check of one question: what it found, and how serious that is.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "verify/findings/between.h"
#include "verify/findings/readings.h"
#include "verify/launch/modules.h"
#include "verify/session/session.h"

namespace bitwell::session {

// What launches have in common that may overlap: what was found in any of them refers to it.
struct Overlap {
  explicit Overlap(bool once, size_t before_ = 0) : watch(once), before(before_) {}
  findings::Watch watch;
  std::vector<findings::SharedProgram> programs;  // of the launches so far
  findings::Readings readings;
  size_t before;  // launches of the process that were over when the first began
};

class Races {
 public:
  // Of a question that asks for it, or does not. Throws InputError for an entry that is not there.
  explicit Races(const Question& question);
  // Of one launch of a process, of that program. `programmatic`: those that `overlap` has so far may go on
  // meanwhile.
  Races(const Question& question, const findings::SharedProgram& program, std::shared_ptr<Overlap> overlap,
        bool programmatic);
  Races(const Races&) = delete;
  Races& operator=(const Races&) = delete;

  // Before observer(): one check sees all clusters of a launch, where each could have one of its own. Else a
  // launch of a process cannot be held against one behind it that overlaps it.
  void see_all() { sees_all_ = true; }
  // To be told of the run's events, valid as long as this; and of each launch: none where nobody asks.
  machine::Observer observer() { return of_->watch.observer(lines_, !sees_all_ && one_by_one()); }
  launch::Beginning beginning();
  // Makes the launch again for findings whose data may come to nothing, or for all: of one launch, when it
  // has come to its end; of a list, and of what overlaps, nothing is made again.
  void follow(const findings::Rerun& rerun);
  // Makes it again to see what stood between the acts of findings, of a run that ended or did not.
  void look_between(const findings::Rerun& rerun);
  std::vector<Weighed> weighed() const;
  // Of one of its findings.
  Weighed weighed(const findings::Found& found) const;
  // Of the first launch: by its whole name as soon as it has begun.
  const std::string& entry() const;
  const std::set<std::string>& entries() const { return of_->watch.entries(); }
  hazard::Checker::Cost cost() const { return of_->watch.cost(); }

 private:
  using EntryOf = std::pair<std::string, std::string>;  // a PTX file and an entry in it
  void add(const EntryOf& entry, const findings::SharedModule& module);
  void add(const findings::SharedProgram& program);
  void begin(const findings::SharedProgram& program, const launch::Step* step, const machine::Memory* memory);

  // Whether runs that are made again come to the same findings.
  bool alone() const { return launch_.then.empty() && !programmatic_; }
  // Whether none of the launches may overlap another of them, or one before them.
  bool one_by_one() const;

  const launch::Launch& launch_;
  bool asked_, explain_, all_followed_, strict_;
  std::shared_ptr<Overlap> of_;
  bool one_of_process_ = false, programmatic_ = false, sees_all_ = false;
  size_t first_ = 0;  // among the programs there
  std::set<EntryOf> added_;
  std::vector<int> lines_;                          // that the registers of all launches ask for
  using Pair = std::tuple<hazard::Kind, int, int>;  // a finding, by kind and lines
  std::map<Pair, findings::Followed> followed_;
  std::map<Pair, findings::Between> between_;
};

}  // namespace bitwell::session
