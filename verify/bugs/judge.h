// Whether a kernel's suite finds a planted mistake, and how.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verify/bugs/mutate.h"
#include "verify/bugs/subject.h"

namespace bitwell::bugs {

enum class Found {
  named,        // a fault or a deadlock, with its place
  wrong_bits,   // a case's outputs differ from what they should be
  runs_on,      // longer than twice the whole launch as built, and nothing proves that it never ends
  unsupported,  // the mutation uses what bitwell does not model
  not_ptx,      // the mutation is not legal PTX
  nothing       // every case holds under every schedule
};

struct Finding {
  Found found;
  std::string what;
};

// A subject with its cases in order of cost.
class Jury {
 public:
  // Runs every case as built, on `threads` host threads (0: all). Throws machine::InputError where one fails.
  explicit Jury(const Subject& subject, int threads = 0);
  const std::string& text() const { return text_; }  // of the entry alone
  enum class Under { every_schedule, first_schedule };
  // Runs the cases under every one of their schedules, or each under its first alone.
  Finding judge(const std::string& text, Under under = Under::every_schedule) const;
  // Launches of the suite: cases times schedules.
  size_t trials() const { return trials_.size(); }

 private:
  struct Trial {
    size_t of;  // case
    isa::Schedule schedule;
    uint64_t cost;  // warp instructions as built
    bool first;     // of the case's schedules
  };

  std::string entry_;
  std::string text_;
  std::vector<verify::SuiteCase> cases_;
  // By case: the subject's launch alone, where others follow it. What it leaves as built, they go on as they
  // did.
  std::vector<std::optional<verify::SuiteCase>> alone_;
  std::vector<Trial> trials_;
  std::map<std::string, isa::Program> programs_;  // as built, by entry
};

}  // namespace bitwell::bugs
