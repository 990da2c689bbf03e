#include "verify/session/source_lines.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

namespace bitwell::session {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostText = 160;  // characters of a line that are shown

// Of a file, or none where it is not there.
const std::vector<std::string>& lines_of(const fs::path& path) {
  static std::map<fs::path, std::vector<std::string>> read;
  const auto [at, fresh] = read.try_emplace(path);
  std::error_code none;
  if (!fresh || !fs::is_regular_file(path, none)) return at->second;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) at->second.push_back(line);
  return at->second;
}

// Without what is blank at its ends, and without what a terminal would take for more than text.
std::string plain(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
  if (first == std::string::npos) return "";
  std::string out;
  for (const char c : line.substr(first, last - first + 1))
    out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  return out.size() <= kMostText ? out : out.substr(0, kMostText) + " ...";
}

// Whether the source was written after what is said to be made of it.
bool newer(const fs::path& source, const std::string& made) {
  std::error_code wrong;
  const auto of_source = fs::last_write_time(source, wrong);
  if (wrong) return false;
  const auto of_made = fs::last_write_time(made, wrong);
  return !wrong && of_source > of_made;
}

}  // namespace

std::filesystem::path source_path(const std::string& file, const std::string& made) {
  const fs::path path(file), beside = fs::path(made).parent_path() / path;
  return path.is_relative() && !fs::exists(path) && fs::exists(beside) ? beside : path;
}

std::string source_lines(const machine::CudaPlace& place, const std::string& made, const std::string& indent,
                         const char* what) {
  if (place == nullptr) return "";
  std::string out;
  for (const machine::CudaLine::At* at : place->named()) {
    const fs::path path = source_path(at->file, made);
    const std::vector<std::string>& lines = lines_of(path);
    if (static_cast<size_t>(at->line) > lines.size()) continue;
    const std::string text = plain(lines[static_cast<size_t>(at->line) - 1]);
    if (text.empty()) continue;
    out += fmt::format("{}{} | {}{}\n", indent, at->words(), text,
                       newer(path, made) ? fmt::format("   (the file is newer than the {})", what) : "");
  }
  return out;
}

}  // namespace bitwell::session
