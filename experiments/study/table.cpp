#include "experiments/study/table.h"

#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "model/machine/failure.h"
#include "verify/parallel.h"

namespace bitwell::study {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string line_of(const std::vector<std::string>& cells) {
  std::string out;
  for (const std::string& c : cells) out += (out.empty() ? "" : ",") + c;
  return out + "\n";
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

std::string head_of(const Study& s) {
  return "# bitwell study " + s.name + ": " + s.asked + "\n" + line_of([&] {
           std::vector<std::string> columns{"piece"};
           columns.insert(columns.end(), s.columns.begin(), s.columns.end());
           return columns;
         }());
}

// The whole pieces at the head of what a run before wrote; `bytes`: where they end.
std::vector<Rows> earlier(const Study& s, const std::string& text, size_t& bytes) {
  const std::string head = head_of(s);
  bytes = head.size();
  std::vector<Rows> out;
  Rows piece;
  size_t at = head.size();
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    std::vector<std::string> cells = cells_of(text.substr(at, end - at));
    if (cells.size() == 1 && cells[0] == "# piece " + std::to_string(out.size()) + " is whole") {
      out.push_back(std::move(piece));
      piece.clear();
      bytes = end + 1;
    } else if (cells.size() == s.columns.size() + 1 && cells[0] == std::to_string(out.size())) {
      piece.emplace_back(cells.begin() + 1, cells.end());
    } else {
      break;
    }
    at = end + 1;
  }
  return out;
}

}  // namespace

std::vector<std::vector<std::string>> run(const Study& study, const Running& running) {
  std::vector<Rows> done;
  std::ofstream csv;
  if (!running.csv.empty()) {
    std::string text;
    if (std::ifstream in(running.csv, std::ios::binary); in && !running.fresh) {
      std::stringstream all;
      all << in.rdbuf();
      text = all.str();
    }
    size_t bytes = 0;
    if (!text.empty()) {
      const std::string head = head_of(study);
      if (text.compare(0, head.size(), head) != 0)
        throw machine::InputError("'" + running.csv +
                                  "' holds another study, or the same asked otherwise; name another file, or "
                                  "give --fresh to write over it. Its first line: " +
                                  text.substr(0, text.find('\n')));
      done = earlier(study, text, bytes);
      text.resize(bytes);
    }
    csv.open(running.csv, std::ios::binary | std::ios::trunc);
    if (!csv) throw machine::InputError("cannot write '" + running.csv + "'");
    csv << (text.empty() ? head_of(study) : text) << std::flush;
  }
  const size_t first = done.size();
  done.resize(study.pieces);
  std::map<size_t, bool> waiting;  // pieces that are there, but not all before them
  size_t written = first;
  size_t finished = first;
  std::mutex mutex;
  bool stopped = false;
  const auto start = std::chrono::steady_clock::now();
  verify::each_in_parallel(study.pieces - first, running.threads, [&](size_t i) {
    {
      const std::scoped_lock lock(mutex);
      stopped = stopped || (running.stop && running.stop());
      if (stopped) return;
    }
    const size_t piece = first + i;
    Rows rows = study.rows(piece);
    const std::scoped_lock lock(mutex);
    done[piece] = std::move(rows);
    waiting[piece] = true;
    for (; waiting.erase(written) != 0; ++written) {
      for (const auto& row : done[written]) {
        std::vector<std::string> cells{std::to_string(written)};
        cells.insert(cells.end(), row.begin(), row.end());
        if (csv.is_open()) csv << line_of(cells);
      }
      if (csv.is_open()) csv << "# piece " << written << " is whole\n" << std::flush;
    }
    ++finished;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (running.progress) running.progress({finished, study.pieces, seconds.count(), first});
  });
  if (csv.is_open() && !csv) throw machine::InputError("writing '" + running.csv + "' failed");
  Rows out;
  for (size_t i = 0; i < written; ++i) out.insert(out.end(), done[i].begin(), done[i].end());
  return out;
}

}  // namespace bitwell::study
