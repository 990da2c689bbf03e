// Tables on a terminal.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bitwell::terminal {

struct Column {
  std::string title;  // with its unit
  bool right = false;
};

// The rows under their titles, columns as wide as they need, a rule below the titles.
std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows);

// 1234567 -> "1,234,567".
std::string grouped(uint64_t value);
// "1,024 to 2,047", or "1,024".
std::string range(size_t first, size_t last);
// Where `is` holds, of 0 to `count` - 1: "0 to 31, 64 to 95", and how many more runs there are after 8.
std::string ranges(size_t count, const std::function<bool(size_t)>& is);
// The same of runs that are known, by the first and the last of each.
std::string ranges(const std::vector<std::pair<size_t, size_t>>& runs);

// A line on stderr. One that nobody can read is no error.
void note(const std::string& line);
// Rewrites one line of stderr where that is a terminal; says nothing in a pipe.
void progress(const std::string& line);
void end_progress();
void no_progress();  // from here on
// ", about 12 s left": of work begun at `start` of which so much is done; empty while that says nothing.
std::string left(std::chrono::steady_clock::time_point start, size_t done, size_t all);

}  // namespace bitwell::terminal
