// What `bitwell run --races` says, for people and for machines.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "model/hazard/ways.h"
#include "verify/cli/junit.h"
#include "verify/hazard/baseline.h"

namespace bitwell::cli {

struct Hazards {
  std::string text;
  nlohmann::json facts = nlohmann::json::array();
  size_t errors = 0, notes = 0, known = 0;  // errors and notes that are not known
  std::vector<verify::KnownFinding> stale;
  std::vector<TestCase> tests;  // one for each finding; one that holds where there are none

  // Whether what is not known fails, as --error-on says: "error", "note" or "none".
  bool fail(const std::string& error_on) const {
    return (error_on != "none" && errors != 0) || (error_on == "note" && notes != 0);
  }
};
// What says where the findings of a launch can come to, or nullptr.
using WaysOf = std::function<const hazard::Ways*(const verify::Launched&)>;
// Of what was found, and how to see it again; nothing where there is none. `launch`: the file and the options
// of its schedule, as `bitwell run` takes them; `entry`: of its first launch; `baseline`: the path of the
// file that knows findings.
Hazards hazards(const verify::Sifted& found, const std::string& launch, const std::string& entry,
                const std::string& baseline, const std::string& error_on, const WaysOf& ways_of);

}  // namespace bitwell::cli
