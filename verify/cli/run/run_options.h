// What the command line asks of `bitwell run`.
#pragma once
#include <optional>
#include <string>

#include "verify/cli/report/dump.h"
#include "verify/launch/file/launch_json.h"
#include "verify/session/session.h"

namespace bitwell::cli {

struct RunOptions {
  std::string path;
  run::Options run{};
  std::optional<unsigned> threads;  // of the host; none: all
  bool unchecked = false;
  bool fmad = false;
  bool races = false;
  bool once = false;
  bool numeric = false;
  std::optional<int> numeric_bound;  // lost bits
  bool explain = false;
  bool all = false;                // each finding of a group
  std::string sarif;               // path, or empty
  std::string junit;               // likewise
  std::string baseline;            // likewise
  std::string write_baseline;      // likewise
  std::string error_on = "error";  // the least that fails: error, note, or none
  std::string approximate;         // what to do with approximate instructions; empty: as --strict has it
  std::string policy = "lazy";
  size_t schedules = 0;  // to compare; 0: one, `policy`
  bool exhaust = false;
  uint64_t most = 10000;  // runs of --exhaust
  std::string trace;      // path, or empty
  DumpOptions dump;
  bool json = false;
  std::optional<uint64_t> memory_limit;  // bytes
  bool verbose = false;
  bool device = false;
  uint64_t device_seconds = 60;  // before a kernel on it counts as hung
};

// Whether its schedule hangs on --seed.
bool seeded(const RunOptions& options);
// " --schedule random --seed 3", after a launch; empty for the default.
std::string replay_options(const RunOptions& options);

}  // namespace bitwell::cli
