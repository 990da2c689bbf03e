// What `bitwell run --races` says, for people and for machines.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "verify/cli/report/junit.h"
#include "verify/hazard/baseline.h"
#include "verify/session/session.h"

namespace bitwell::cli {

// Of a finding, what is to be said of it.
using Explain = std::function<session::Weighed(const verify::Found&)>;

struct Hazards {
  std::string text;
  nlohmann::json facts = nlohmann::json::array();
  size_t errors = 0, notes = 0,
         known = 0;   // groups of errors and notes that are not known (verify/hazard/groups.h)
  size_t silent = 0;  // of values that can come to nothing
  std::vector<verify::KnownFinding> stale;
  std::vector<TestCase> tests;  // one for each group; one that holds where there are none

  // Whether what is not known fails, as --error-on says: "error", "note" or "none".
  bool fail(const std::string& error_on) const {
    return (error_on != "none" && errors != 0) || (error_on == "note" && notes != 0);
  }
};
// What is said of one finding: the lines of CUDA source stand under the accesses. `verbose`: C++ names whole.
std::string in_words(const verify::Found& found, bool verbose);

struct Telling {
  bool explained = false;  // how each was explained too, and those of which nothing can come
  bool all = false;        // each pair of instructions of a group
  bool verbose = false;    // C++ names whole
};
// Of what was found, and how to see it again; nothing where there is none. `launch`: the file and the options
// of its schedule, as `bitwell run` takes them; `entry`: of its first launch; `baseline`: the path of the
// file that knows findings. Groups are told by their first findings, facts have every finding.
Hazards hazards(const verify::Sifted& found, const std::string& launch, const std::string& entry,
                const std::string& baseline, const std::string& error_on, const Explain& explain,
                const Telling& telling);

}  // namespace bitwell::cli
