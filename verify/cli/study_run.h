// How the command line runs a study: whole, as one shard of many, or of what these have left.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "experiments/study/table.h"
#include "verify/cli/command.h"

namespace bitwell::cli {

// What `bitwell merge` asks of a folder of a study's journals.
struct MergedStudy {
  std::string folder, csv;
  bool json = false;
};

struct StudyOptions {
  study::Running running;
  std::string json, journal, shard, times;
  const CLI::App* command = nullptr;
  const MergedStudy* merging = nullptr;
};

// --csv and what else says how it is run; where journals are merged, none of that.
void add_running(CLI::App& command, StudyOptions& o, const MergedStudy* merging);

// With progress; stops cleanly at the first Ctrl-C. `print` gets the rows, but for a shard, which has not
// all.
void run_study(const study::Study& s, StudyOptions& o, int& status,
               const std::function<void(const study::Rows&)>& print);

// The report of the study that journals answer by this command.
void merge_study(const std::vector<std::string>& command, const MergedStudy& merging, int& status);

}  // namespace bitwell::cli
