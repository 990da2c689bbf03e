#include "experiments/study/table.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>

#include "model/machine/failure.h"
#include "verify/launch/launch.h"
#include "verify/launch/output/output_files.h"
#include "verify/suite/parallel.h"

namespace bitwell::study {
namespace {

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

// Rows of one piece, cells by comma; what travels between processes and stands in the file.
std::string lines_of(size_t piece, const Rows& rows) {
  std::string out;
  for (const auto& row : rows) {
    std::vector<std::string> cells{std::to_string(piece)};
    cells.insert(cells.end(), row.begin(), row.end());
    out += line_of(cells);
  }
  return out;
}
Rows rows_of(const std::string& lines) {
  Rows out;
  std::stringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells = cells_of(line);
    out.emplace_back(cells.begin() + 1, cells.end());
  }
  return out;
}

// As they travel between processes, with how long they took.
std::string timed(size_t piece, const Rows& rows, double seconds) {
  return fmt::format("{}\n{}", seconds, lines_of(piece, rows));
}

// What stands in a file behind its head.
std::string whole(size_t piece, const Rows& rows) {
  return lines_of(piece, rows) + "# piece " + std::to_string(piece) + " is whole\n";
}

// The pieces so far, and the file that they go to in order.
class Ledger {
 public:
  Ledger(const Study& study, const Running& running) : study_(study), running_(running) {
    if (running.part) {
      part_ = running.part();
      all_ = part_->pieces.size();
      return;
    }
    if (!running.csv.empty()) open();
    all_ = study.pieces;
    written_ = finished_ = first_ = done_.size();
    done_.resize(study.pieces);
    there_.resize(study.pieces);
  }
  // The pieces that are left.
  std::vector<size_t> left() const {
    if (part_) return part_->pieces;
    std::vector<size_t> out(study_.pieces - first_);
    std::iota(out.begin(), out.end(), first_);
    return out;
  }

  void add(size_t piece, Rows rows, double seconds) {
    const std::scoped_lock lock(mutex_);
    if (part_) {
      part_->keep(piece, rows, seconds);
      return tell();
    }
    if (broken_) return;  // the file ends with a part of a piece, after which nothing may stand
    done_[piece] = std::move(rows);
    there_[piece] = true;
    broken_ = true;
    for (; written_ < there_.size() && there_[written_]; ++written_)
      if (csv_) csv_->write(whole(written_, done_[written_]));
    broken_ = false;
    tell();
  }

  Rows rows() const {
    Rows out;
    for (size_t i = 0; i < written_; ++i) out.insert(out.end(), done_[i].begin(), done_[i].end());
    return out;
  }

 private:
  void tell() {
    ++finished_;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    if (running_.progress) running_.progress({finished_, all_, seconds.count(), first_});
  }
  void open() {
    const launch::OutputTarget target = launch::output_target(running_.csv);
    std::string text;
    if (target.replaced && target.there && !running_.fresh) text = launch::read_file(running_.csv);
    if (!text.empty()) {
      const std::string head = head_of(study_);
      if (text.compare(0, head.size(), head) != 0)
        throw machine::InputError("'" + running_.csv +
                                  "' holds another study, or the same asked otherwise; name another file, or "
                                  "give --fresh to write over it. Its first line: " +
                                  text.substr(0, text.find('\n')));
      size_t bytes = 0;
      done_ = earlier(study_, text, bytes);
      // Only what is no whole piece is cut off: nothing else is written again, nor lost if this run is
      // killed.
      std::error_code error;
      std::filesystem::resize_file(running_.csv, bytes, error);
      if (error) throw machine::InputError("cannot write '" + running_.csv + "': " + error.message());
    }
    const bool begun = !text.empty();
    if (!begun && target.replaced) launch::replace_file(running_.csv, "--csv", head_of(study_));
    csv_ = std::make_unique<launch::Appender>(running_.csv);
    if (!begun && !target.replaced) csv_->write(head_of(study_));
  }

  const Study& study_;
  const Running& running_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::unique_ptr<launch::Appender> csv_;
  std::optional<Part> part_;
  std::vector<Rows> done_;
  std::vector<bool> there_;
  size_t all_ = 0, first_ = 0, written_ = 0, finished_ = 0;
  bool broken_ = false;
};

constexpr size_t kRefused = ~size_t{0};  // what the first process tells the others when its file is refused

}  // namespace

Rows run(const Study& study, const Running& running) {
  static const Spread alone;
  const Spread& spread = running.spread == nullptr ? alone : *running.spread;
  std::unique_ptr<Ledger> ledger;
  if (spread.rank() == 0) {
    try {
      ledger = std::make_unique<Ledger>(study, running);
    } catch (...) {
      spread.agree(kRefused);
      throw;
    }
  }
  std::vector<size_t> left;
  if (ledger != nullptr) left = ledger->left();
  const size_t count = spread.agree(left.size());
  if (count == kRefused) return {};
  left.resize(count);
  for (size_t& piece : left) piece = spread.agree(piece);
  std::exception_ptr elsewhere;  // what failed in another process
  std::jthread receiver;
  if (spread.rank() == 0 && spread.size() > 1)
    receiver = std::jthread([&] {
      try {
        spread.receive([&](size_t piece, const std::string& text) {
          const size_t end = text.find('\n');
          ledger->add(piece, rows_of(text.substr(end + 1)), std::stod(text.substr(0, end)));
        });
      } catch (...) {
        elsewhere = std::current_exception();
      }
    });
  std::mutex mutex;
  bool stopped = false;
  const size_t mine = (left.size() + spread.size() - 1 - spread.rank()) / spread.size();
  try {
    suite::each_in_parallel(mine, running.threads, [&](size_t i) {
      {
        const std::scoped_lock lock(mutex);
        stopped = stopped || (running.stop && running.stop());
        if (stopped) return;
      }
      const size_t piece = left[i * spread.size() + spread.rank()];
      const auto start = std::chrono::steady_clock::now();
      Rows rows = study.rows(piece);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (ledger != nullptr) return ledger->add(piece, std::move(rows), seconds);
      const std::scoped_lock lock(mutex);
      spread.send(piece, timed(piece, rows, seconds));
    });
  } catch (const std::exception& e) {
    if (ledger == nullptr) spread.finish(e.what());  // the first process waits for that
    throw;
  }
  if (ledger == nullptr) {
    spread.finish();
    return {};
  }
  if (receiver.joinable()) receiver.join();
  if (elsewhere) std::rethrow_exception(elsewhere);
  return ledger->rows();
}

std::string csv_of(const Study& study, const std::vector<std::optional<Rows>>& pieces) {
  std::string out = head_of(study);
  for (size_t i = 0; i < pieces.size() && pieces[i]; ++i) out += whole(i, *pieces[i]);
  return out;
}

std::string digits(double value) { return fmt::format("{:.6g}", value); }

}  // namespace bitwell::study
