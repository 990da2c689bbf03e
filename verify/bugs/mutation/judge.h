// Whether a kernel's suite finds a planted mistake, or the race check over its cases does, and how.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verify/bugs/mutation/mutate.h"
#include "verify/bugs/mutation/subject.h"
#include "verify/session/weigh.h"

namespace bitwell::bugs {

enum class Found {
  named,        // a fault or a deadlock, with its place
  wrong_bits,   // a case's outputs differ from what they should be
  runs_on,      // longer than twice the whole launch as built, and nothing proves that it never ends
  race,         // every output is right, and the race check has an error
  noted,        // and a note that the kernel as built does not give
  unsupported,  // the mutation uses what bitwell does not model
  not_ptx,      // the mutation is not legal PTX
  nothing       // every case holds
};

struct Finding {
  Found found;
  std::string what;
};

// A subject with its cases in order of cost.
class Jury {
 public:
  // Runs every case as built, on `threads` host threads (0: all). Throws machine::InputError where one fails
  // or has an error of the race check.
  explicit Jury(const Subject& subject, int threads = 0);
  const std::string& text() const { return text_; }  // of the entry alone
  // Runs the cases under every one of their schedules.
  Finding judge(const std::string& text) const;
  // Runs each under the first of its schedules, with the race check. A launch whose kernel, as built, waits
  // for the grid before it is programmatic.
  Finding judge_races(const std::string& text) const;

 private:
  struct Trial {
    size_t of;  // case
    run::Schedule schedule;
    uint64_t cost;  // warp instructions as built
    bool first;     // of the case's schedules
  };
  // How a case ends with this program in place of the entry's; nothing if it holds.
  std::optional<Finding> fails(const suite::SuiteCase& c, const Trial& t,
                               const findings::SharedModule& mutant) const;
  // The same with the race check, whose notes of the kernel as built are none.
  std::optional<Finding> fails_watched(size_t of, const Trial& t, const findings::SharedModule& mutant) const;
  findings::SharedModule mutated(const std::string& text) const;
  // The modules of a case's launches, with the mutant in place of the subject's; nullptr: as built.
  launch::ModuleOf with(const findings::SharedModule& mutant) const;
  // A case with the race check.
  suite::Tried try_watched(const suite::SuiteCase& c, const run::Schedule& schedule, run::Options options,
                           findings::Watch& watch, const findings::SharedModule& mutant) const;
  // What is watched of a case: the subject's launch, and the launches before where it may overlap them.
  const suite::SuiteCase& watched(size_t of) const;

  std::string ptx_, entry_;
  std::string text_;
  std::vector<suite::SuiteCase> cases_;
  // By case: the subject's launch alone, where others follow it. What it leaves as built, they go on as they
  // did.
  std::vector<std::optional<suite::SuiteCase>> alone_;
  std::vector<std::optional<suite::SuiteCase>> whole_;  // by case, where the subject waits for the grid
  std::vector<Trial> trials_;
  mutable launch::Modules as_built_;
  mutable findings::Readings readings_;
  std::map<std::pair<std::string, std::string>, bool>
      waits_;  // for the grid before it, as built; by file and entry
  std::set<session::Site> notes_;
};

}  // namespace bitwell::bugs
