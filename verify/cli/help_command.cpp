// bitwell help: the pages of docs/, as they are built and installed beside the program.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/cli/command.h"
#include "verify/schema/nearest.h"

namespace bitwell::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostPlaces = 12;  // where a word stands, that are listed

std::vector<std::string> pages() {
  const std::string folder = capture::share_folder("docs");
  if (!fs::is_directory(folder))
    throw machine::InputError("the pages are not there: " + folder + " belongs to the installation");
  std::vector<std::string> out;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".md") out.push_back(file.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const std::string& page) {
  std::ifstream file(fs::path(capture::share_folder("docs")) / (page + ".md"));
  std::ostringstream text;
  if (!(text << file.rdbuf())) throw machine::InputError("the page '" + page + "' cannot be read");
  return text.str();
}

void list_pages() {
  size_t width = 0;
  for (const std::string& page : pages()) width = std::max(width, page.size());
  for (const std::string& page : pages()) {
    const std::string text = text_of(page);
    const std::string title = text.substr(0, text.find('\n'));
    fmt::print("{:{}}  {}\n", page, width,
               title.substr(std::min(title.size(), title.find_first_not_of("# "))));
  }
  fmt::print(
      "\nbitwell help NAME prints a page, a section (bitwell help warp-race), or of a command its "
      "options.\n");
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// A heading and what stands below it, up to the next that is not below it.
struct Section {
  size_t level = 0;  // number signs
  std::string heading, text;
  std::string own;  // up to the next heading
};
std::vector<Section> sections_of(const std::string& page) {
  std::vector<Section> out;
  std::istringstream lines(text_of(page));
  for (std::string line; std::getline(lines, line);) {
    const size_t level = line.find_first_not_of('#');
    if (level != 0 && level != std::string::npos && line[level] == ' ') {
      std::string heading = line.substr(level + 1);
      std::erase(heading, '`');
      out.push_back({level, heading, "", ""});
    }
    if (!out.empty()) out.back().own += line + "\n";
    for (size_t i = out.size(), least = SIZE_MAX; i-- > 0 && least > 1;) {
      if (out[i].level >= least) continue;
      least = out[i].level;
      out[i].text += line + "\n";
    }
  }
  return out;
}

// Whether the text has the word, or words, with nothing of a word at their ends.
bool has_word(const std::string& text, const std::string& word) {
  const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !of_word(text[at - 1])) &&
        (at + word.size() == text.size() || !of_word(text[at + word.size()])))
      return true;
  return false;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// The section of that heading in any page; or where the words stand, side by side or, where they do so
// nowhere, all of them somewhere. Whether there is any.
bool print_section(const std::string& name) {
  const std::string word = lower(name);
  const std::vector<std::string> words = words_of(word);
  std::vector<std::pair<std::string, std::string>> places, apart;
  for (const std::string& page : pages()) {
    for (const Section& s : sections_of(page)) {
      if (s.level > 1 && lower(s.heading) == word) {
        fmt::print("{}", s.text);
        return true;
      }
      const std::string own = lower(s.own);
      const bool together = has_word(own, word);
      if (!together && !std::all_of(words.begin(), words.end(),
                                    [&](const std::string& one) { return has_word(own, one); }))
        continue;
      (together ? places : apart).push_back({page, s.heading});
    }
  }
  if (places.empty()) places = apart;
  if (places.empty()) return false;
  // Where the heading has it, it is explained.
  std::stable_sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    return has_word(lower(a.second), word) && !has_word(lower(b.second), word);
  });
  const size_t printed = std::min(places.size(), kMostPlaces);
  size_t width = 0;
  for (size_t i = 0; i < printed; ++i) width = std::max(width, places[i].first.size());
  fmt::print("'{}' stands in\n", name);
  for (size_t i = 0; i < printed; ++i) fmt::print("  {:{}}  {}\n", places[i].first, width, places[i].second);
  if (places.size() > kMostPlaces) fmt::print("  and {} more sections\n", places.size() - kMostPlaces);
  fmt::print("\nbitwell help PAGE prints a page, bitwell help SECTION a section of it.\n");
  return true;
}

void print_help(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names = pages();
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    fmt::print("{}", text_of(name));
    return;
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) {
      fmt::print("{}", command->help(app.get_name()));
      return;
    }
    names.push_back(command->get_name());
  }
  if (print_section(name)) return;
  throw machine::InputError("there is no page '" + name + "'" + schema::did_you_mean(name, names) +
                            " (`bitwell help` lists all)");
}

}  // namespace

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Print a page of the manual, or list the pages");
  auto names = std::make_shared<std::vector<std::string>>();
  command->add_option(
      "NAME", *names,
      "A page, a command, a section (as a finding of --races is called), or a word that stands in "
      "some; without it all pages");
  command->allow_extras();  // options are words of the pages too
  command->callback([&app, command, names] {
    for (const std::string& option : command->remaining()) names->push_back(option);
    if (names->empty())
      list_pages();
    else
      print_help(app, fmt::format("{}", fmt::join(*names, " ")));
  });
}

}  // namespace bitwell::cli
