// What `bitwell run --races` says, for people and for machines.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verify/cli/report/junit.h"
#include "verify/session/findings.h"

namespace bitwell::cli {

struct Hazards {
  std::string text;
  nlohmann::json facts = nlohmann::json::array();
  std::vector<TestCase> tests;  // one for each group; one that holds where there are none
};

struct Telling {
  bool explained = false;  // how each was explained too, and those of which nothing can come
  bool all = false;        // each pair of instructions of a group
  bool verbose = false;    // C++ names whole
};
// Of what was found, and how to see it again; nothing where there is none. `launch`: the file and the options
// of its schedule, as `bitwell run` takes them; `entry`: of its first launch; `baseline`: the path of the
// file that knows findings. The lines of CUDA source stand under the accesses. Groups are told by their first
// findings, facts have every finding.
Hazards hazards(const session::Findings& found, const std::string& launch, const std::string& entry,
                const std::string& baseline, const std::string& error_on, const Telling& telling);

}  // namespace bitwell::cli
