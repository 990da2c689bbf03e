// A study's results as they grow: a CSV whose first line says what was asked, so that a stopped run goes on.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/study/spread.h"

namespace bitwell::study {

// A study is a list of independent, seeded pieces; piece i always gives the same rows.
struct Study {
  std::string name;
  std::string asked;  // everything that the rows depend on, on one line
  uint64_t seed = 0;
  std::vector<std::string> columns;  // with units
  size_t pieces = 0;
  std::function<std::vector<std::vector<std::string>>(size_t piece)> rows;
};
struct Progress {
  size_t done = 0, all = 0;
  double seconds = 0;  // of this run
  size_t earlier = 0;  // pieces that a run before had done
};
struct Running {
  int threads = 0;     // 0: as many as the host has
  std::string csv;     // path; empty: nothing is kept
  bool fresh = false;  // do not go on with what the CSV holds
  std::function<void(const Progress&)> progress = nullptr;
  std::function<bool()> stop = nullptr;  // asked between pieces
  const Spread* spread = nullptr;        // processes that share the pieces; nullptr: this one alone
};
// Rows of all pieces in order; they are appended to the CSV as soon as those before them are there, so that
// its bytes depend on no number of threads. A CSV of another question is refused (InputError) and left alone.
// When stopped, the rows so far. Of several processes the first has file, progress and rows; the others
// return nothing; where one fails, it throws what it threw, and the first says which (std::runtime_error).
std::vector<std::vector<std::string>> run(const Study& study, const Running& running);
std::string digits(double value);  // six significant ones, as tables and CSVs show them

}  // namespace bitwell::study
