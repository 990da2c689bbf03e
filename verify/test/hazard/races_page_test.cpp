// docs/races.md says of each kind of finding what the program says, and its PTX examples are the catalogue's.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "model/hazard/finding.h"
#include "verify/bugs/catalogue/catalogue.h"

namespace bitwell::hazard {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(std::istream& text) {
  Lines out;
  for (std::string line; std::getline(text, line);) out.push_back(line);
  return out;
}

struct Section {
  std::string name;
  Lines lines;
};
// Those with a kind's name, in the order of the page.
std::vector<Section> sections() {
  std::ifstream file(BITWELL_RACES_PAGE);
  std::vector<Section> out;
  bool of_a_kind = false;
  for (const std::string& line : lines_of(file)) {
    if (line.starts_with("## ")) {
      of_a_kind = false;
      for (const KindRow& row : hazard::kind_rows()) of_a_kind |= line.substr(3) == row.name;
      if (of_a_kind) out.push_back({line.substr(3), {}});
    } else if (of_a_kind) {
      out.back().lines.push_back(line);
    }
  }
  return out;
}

std::string level_name(Level level) { return level == Level::error ? "Error" : "Note"; }

// The items of a list, each in one line again.
Lines items_of(const Lines& lines) {
  Lines out;
  for (const std::string& line : lines) {
    if (line.starts_with("- "))
      out.push_back(line);
    else if (line.starts_with("  ") && !line.starts_with("    ") && !out.empty())
      out.back() += line.substr(1);
  }
  return out;
}

TEST(RacesPage, HasASectionForEachKindWithItsWords) {
  const std::vector<Section> all = sections();
  const auto rows = hazard::kind_rows();
  ASSERT_EQ(all.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(all[i].name, rows[i].name);
    const Lines items = items_of(all[i].lines);
    ASSERT_GE(items.size(), 2u) << all[i].name;
    EXPECT_EQ(items[0], "- *" + level_name(rows[i].level) + "*: " + std::string(rows[i].what) + ".");
    EXPECT_EQ(items[1], "- *Remedy*: " + std::string(rows[i].remedy) + ".");
  }
}

// Without what a page adds to it: its comment, and blanks around.
std::string code_of(std::string line) {
  line = line.substr(0, line.find("//"));
  const size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(' ') + 1 - first);
}

TEST(RacesPage, ExamplesInPtxAreTheCatalogues) {
  std::map<std::string, bugs::Exhibit> catalogue;
  for (const bugs::Exhibit& e : bugs::read_catalogue(BITWELL_CATALOGUE)) catalogue.emplace(e.name, e);
  const std::regex title("From `(.*)`, bug `(.*)`:");
  size_t examples = 0;
  for (const Section& section : sections())
    for (size_t i = 0; i < section.lines.size(); ++i) {
      std::smatch named;
      if (!std::regex_match(section.lines[i], named, title)) continue;
      ++examples;
      ASSERT_TRUE(catalogue.contains(named[1])) << named[1];
      const bugs::Exhibit& exhibit = catalogue.at(named[1]);
      bool known = false;
      for (const bugs::Bug& bug : exhibit.bugs) known |= bug.name == named[2] && bug.expected == section.name;
      EXPECT_TRUE(known) << section.name << ": " << named[1] << " has no such bug " << named[2];
      std::istringstream text(bugs::ptx_of(exhibit, named[2]));
      Lines kernel;
      for (const std::string& line : lines_of(text))
        if (!code_of(line).empty()) kernel.push_back(code_of(line));
      // The lines stand in the kernel in this order; between two of them others do only where the page has
      // "...".
      auto at = kernel.begin();
      bool gap = true;
      for (size_t l = i + 2; l < section.lines.size() && section.lines[l].starts_with("    "); ++l) {
        const std::string line = code_of(section.lines[l]);
        if (line == "...") {
          gap = true;
          continue;
        }
        const auto found = gap ? std::find(at, kernel.end(), line) : at;
        ASSERT_TRUE(found != kernel.end() && *found == line) << section.name << ": " << line;
        at = found + 1;
        gap = false;
      }
    }
  EXPECT_GE(examples, 18u);
}

}  // namespace
}  // namespace bitwell::hazard
