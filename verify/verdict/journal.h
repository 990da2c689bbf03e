// What processes on any number of machines have judged, as one folder of journals.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "verify/journal/folder.h"
#include "verify/journal/parts.h"
#include "verify/verdict/judge.h"

namespace bitwell::verdict {

// What all of them are asked.
struct Question {
  std::string version;                 // of bitwell: others judge otherwise
  std::string subject;                 // a suite, or "all"
  std::vector<std::string> kernels{};  // as Plan has these
  std::vector<std::string> archs{};
  bool full = false, races = false;

  // Of the suite, or of all of them. InputError for one that is not there.
  std::vector<const suite::Suite*> suites() const;
  // As its journals have it: "verify gemv --kernel fused".
  journal::Question as_asked() const;
  // As a plan, which has these.
  Plan plan(Plan with) const;
};

// The cases of that part, those of one kernel that differ by architecture alone together.
std::vector<suite::Case> cases_of(const Question& question, const Plan& plan, const journal::Shard& shard,
                                  const journal::Times& times = {});

// Which case it was, of which texts, by which bitwell: who has the same may take its result.
std::string fingerprint(const Question& question, const suite::Case& c, const std::string& modules);
// A digest of the PTX that the kernel's modules are. InputError where one cannot be read.
std::string modules_of(const suite::Case& c, const std::string& folder);

// What a folder of journals says.
struct Journals {
  Question question;
  std::vector<Judged> judged;        // each case once, those of the question
  std::vector<suite::Case> missing;  // in their order
  std::vector<std::string> notes;    // of lines that are torn, and results that are gone
  std::map<suite::Case, std::string> fingerprints;
};
// Throws InputError where there is none, where one is of another version than `version` or of another
// question, where a line is none, and where two say different things of one case.
Journals read_journals(const std::string& folder, const std::string& version);
// Of a folder where nothing is yet: as of that question.
Journals read_journals(const std::string& folder, const Question& question);

// The journal of one process.
class Journal {
 public:
  // A new file of the folder, which is made where it is not there. InputError where that cannot be.
  Journal(const std::string& folder, const Question& question, const journal::Shard& shard);
  // When it returns, the line is written. `modules`: modules_of the case. Throws InputError.
  void add(const Judged& judged, const std::string& modules);
  const std::string& path() const { return writer_.path(); }
  // Where failed cases are to be written.
  static std::string replay_folder(const std::string& folder) { return folder + "/replay"; }

 private:
  std::string folder_;
  Question question_;
  journal::Writer writer_;
};

}  // namespace bitwell::verdict
