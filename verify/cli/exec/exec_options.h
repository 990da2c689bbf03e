// What the command line asks of `bitwell exec`.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "verify/driver/core/asked.h"

namespace bitwell::cli {

struct ExecOptions {
  std::vector<std::string> program;
  std::vector<std::string> run;  // of `bitwell run`, as they were written
  driver::Asked asked;
  std::string libraries;     // the folder with libcuda and libcudart; empty: beside the executable
  std::string save;          // a file for the launches as JSON
  std::string suppressions;  // the baseline, by compute-sanitizer's name
  std::string tool, processes = "all", format = "bitwell", api_errors = "explicit";
  int error_exitcode = 1;  // 0: the program's own
  bool table = false;      // a row a launch at the end
  bool launches_needed = false;
  bool json = false;  // the table so, on stdout
  bool verbose = false;
  bool xml = false;  // `save` so
  bool gpu = false;  // the program runs on the machine's own; bitwell keeps its launches
};

// Those that exec has, and those that capture has; `options` lives as long as `command`.
void add_exec_arguments(CLI::App& command, ExecOptions& options);
void add_capture_arguments(CLI::App& command, ExecOptions& options);
// Why a word in front of the program is no option, and what there is in its place.
std::string no_option(const std::string& word);
// What the options of bitwell run say of each launch, and the others' consequences. Throws what is wrong with
// them.
void settle(ExecOptions& options);

}  // namespace bitwell::cli
