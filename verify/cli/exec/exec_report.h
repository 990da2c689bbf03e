// What a program's launches came to, as its libraries told it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verify/cli/exec/exec_options.h"
#include "verify/session/findings.h"

namespace bitwell::cli {

struct ProgramRun {
  std::vector<nlohmann::json> launches;
  std::vector<std::string> missing;
  std::vector<std::string> mistakes;  // of the host's part
  std::vector<std::string> bugs;      // of bitwell's, outside launches
  bool unrunnable = false;            // some of what is missing is the program's code
  std::string stopped;                // why the program was, or empty
  int program = 0;                    // its exit status, or 128 and the signal that ended it

  size_t errors() const;                 // of the launches and of the host's part
  size_t with_status(int status) const;  // launches
  size_t kept() const;                   // of them as LAUNCH.json
  size_t known() const;                  // findings, of all launches
  // Of kernels that were judged, what the baseline has and no launch of them had.
  std::vector<findings::KnownFinding> stale(const findings::Baseline& baseline) const;
};

ProgramRun read_told(const std::string& file);
// A row a launch, and what ended the program.
std::string table_of(const ProgramRun& run, bool verbose);
nlohmann::json json_of(const ProgramRun& run);
// The worst that was found. A program that ends badly by itself has failed too.
int worst(const ProgramRun& run);

}  // namespace bitwell::cli
