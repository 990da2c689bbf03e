// A study's results as they grow: a CSV whose first line says what was asked, so that a stopped run goes on.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
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
using Rows = std::vector<std::vector<std::string>>;
struct Progress {
  size_t done = 0, all = 0;
  double seconds = 0;  // of this run
  size_t earlier = 0;  // pieces that a run before had done
};
// What a process does of a study whose pieces several share that know nothing of each other.
struct Part {
  std::vector<size_t> pieces;  // in the order in which they are begun
  // Of each when it is there, one at a time.
  std::function<void(size_t piece, const Rows& rows, double seconds)> keep;
};
struct Running {
  int threads = 0;     // 0: as many as the host has
  std::string csv;     // path; empty: nothing is kept
  bool fresh = false;  // do not go on with what the CSV holds
  std::function<void(const Progress&)> progress = nullptr;
  std::function<bool()> stop = nullptr;  // asked between pieces
  const Spread* spread = nullptr;        // processes that share the pieces; nullptr: this one alone
  // Asked in the first process: these pieces alone, which go nowhere else; `csv` is then empty.
  std::function<Part()> part = nullptr;
};
// Rows of all pieces in order; they are appended to the CSV as soon as those before them are there, so that
// its bytes depend on no number of threads. A CSV of another question is refused (InputError) and left alone.
// When stopped, the rows so far; of a part none. Of several processes the first has file, progress and rows;
// the others return nothing; where one fails, it throws what it threw, and the first says which
// (std::runtime_error).
Rows run(const Study& study, const Running& running);
// What a run writes to a CSV of which the first pieces are there: those before the first that is not.
std::string csv_of(const Study& study, const std::vector<std::optional<Rows>>& pieces);
std::string digits(double value);  // six significant ones, as tables and CSVs show them

}  // namespace bitwell::study
