// What `bitwell run --races` says, for people and for machines.
#pragma once
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
// Of what was found, and how to see it again; nothing where there is none. `launch`: the file and the options
// of its schedule, as `bitwell run` takes them; `baseline`: the path of the file that knows findings; `ways`:
// what says where each can come to, or nullptr.
Hazards hazards(const verify::Sifted& found, const isa::Program& program, const isa::Shape& shape,
                const std::string& launch, const std::string& baseline, const std::string& error_on,
                const hazard::Ways* ways);

}  // namespace bitwell::cli
