#include "verify/terminal/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace bitwell::terminal {

std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (size_t c = 0; c < columns.size(); ++c) {
    width.push_back(columns[c].title.size());
    for (const auto& row : rows) width[c] = std::max(width[c], row[c].size());
  }
  std::string out;
  const auto line = [&](auto cell) {
    std::string text;
    for (size_t c = 0; c < columns.size(); ++c) {
      const std::string value = cell(c);
      const std::string pad(width[c] - value.size(), ' ');
      text += (c == 0 ? "" : "  ") + (columns[c].right ? pad + value : value + pad);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](size_t c) { return columns[c].title; });
  line([&](size_t c) { return std::string(width[c], '-'); });
  for (const auto& row : rows) line([&](size_t c) { return row[c]; });
  return out;
}

std::string grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string range(size_t first, size_t last) {
  return first == last ? grouped(first) : grouped(first) + " to " + grouped(last);
}

std::string ranges(size_t count, const std::function<bool(size_t)>& is) {
  std::vector<std::pair<size_t, size_t>> runs;
  for (size_t i = 0; i < count; ++i) {
    if (!is(i)) continue;
    size_t last = i;
    while (last + 1 < count && is(last + 1)) ++last;
    runs.emplace_back(i, last);
    i = last;
  }
  return ranges(runs);
}

std::string ranges(const std::vector<std::pair<size_t, size_t>>& runs) {
  constexpr size_t most = 8;
  std::string out;
  for (size_t i = 0; i < std::min(runs.size(), most); ++i)
    out += (out.empty() ? "" : ", ") + range(runs[i].first, runs[i].second);
  return runs.size() <= most ? out : out + " and " + std::to_string(runs.size() - most) + " more runs";
}

void note(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }
static bool shows_progress = true;
void no_progress() { shows_progress = false; }
void progress(const std::string& line) {
  if (shows_progress && isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K%s", line.c_str());
}
void end_progress() {
  if (shows_progress && isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
}
std::string left(std::chrono::steady_clock::time_point start, size_t done, size_t all) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (done == 0 || done > all || seconds < 1) return "";
  const double rest = seconds / static_cast<double>(done) * static_cast<double>(all - done);
  return ", about " + grouped(static_cast<uint64_t>(rest + 0.5)) + " s left";
}

}  // namespace bitwell::terminal
