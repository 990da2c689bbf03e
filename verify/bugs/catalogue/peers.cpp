#include "verify/bugs/catalogue/peers.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "model/hazard/finding.h"

namespace bitwell::bugs {
namespace {

using machine::InputError;

constexpr const char* kAnswers[] = {"yes",      "no",        "not said", "synccheck",
                                    "memcheck", "initcheck", "Synccheck"};

// Words between marks; no word has one.
std::vector<std::string> split(const std::string& text, const std::string& mark) {
  std::vector<std::string> out;
  for (size_t at = 0;;) {
    const size_t end = text.find(mark, at);
    out.push_back(text.substr(at, end - at));
    if (end == std::string::npos) return out;
    at = end + mark.size();
  }
}

// Calls visit(fields, place) for each row behind the first, which names the fields.
template <size_t kFields, class Visit>
void each_row(const std::string& path, const std::array<const char*, kFields>& names, Visit visit) {
  std::istringstream in(launch::read_file(path));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string place = path + ":" + std::to_string(++number);
    const std::vector<std::string> fields = split(line, ",");
    if (fields.size() != kFields || std::count(fields.begin(), fields.end(), "") != 0)
      throw InputError(place + ": a row has " + std::to_string(kFields) +
                       " fields, none of them empty or with a comma in it");
    if (number != 1) {
      visit(fields, place);
    } else if (!std::equal(fields.begin(), fields.end(), names.begin())) {
      throw InputError(place + ": the first row must name the fields, from '" + names[0] + "' on");
    }
  }
}

}  // namespace

Peers::Peers(const std::string& folder) {
  each_row<5>(folder + "/documents.csv", {"name", "peer", "title", "version", "address"},
              [&](const std::vector<std::string>& f, const std::string&) {
                documents_.push_back({f[0], f[1], f[2], f[3], f[4]});
                if (std::count(names_.begin(), names_.end(), f[1]) == 0) names_.push_back(f[1]);
              });
  each_row<6>(
      folder + "/answers.csv", {"bugs", "peer", "answer", "document", "section", "why"},
      [&](const std::vector<std::string>& f, const std::string& place) {
        const PeerDocument& cited = document(f[3], place);
        if (cited.peer != f[1])
          throw InputError(place + ": document '" + f[3] + "' is one of " + cited.peer + ", not of " + f[1]);
        add({f[0], f[1], f[2], f[3], f[4], f[5]}, place);
      });
}

const PeerDocument& Peers::document(const std::string& name, const std::string& place) const {
  for (const PeerDocument& d : documents_)
    if (d.name == name) return d;
  throw InputError(place + ": documents.csv has no document '" + name + "'");
}

void Peers::add(const PeerAnswer& row, const std::string& place) {
  if (std::find(std::begin(kAnswers), std::end(kAnswers), row.answer) == std::end(kAnswers))
    throw InputError(place + ": the answer '" + row.answer +
                     "' is none of yes, no, not said, and no other tool");
  for (const std::string& about : split(row.bugs, "; ")) {
    about_.push_back(about);
    if (!answers_.insert({{about, row.peer}, row}).second)
      throw InputError(place + ": '" + about + "' has an answer of " + row.peer + " already");
  }
}

const PeerAnswer* Peers::of(const std::string& peer, const Exhibit& exhibit, const Bug& bug,
                            const std::string& memory) const {
  for (const std::string& about : {exhibit.name + ": " + bug.name, exhibit.name, memory, bug.expected})
    if (const auto at = answers_.find({about, peer}); at != answers_.end()) return &at->second;
  return nullptr;
}

std::vector<std::string> Peers::stale(const std::vector<Exhibit>& catalogue) const {
  std::set<std::string> known{"fault", "note"};
  for (const std::string& memory : memory_names()) known.insert(memory);
  for (const hazard::KindRow& row : hazard::kind_rows()) known.emplace(row.name);
  for (const Exhibit& e : catalogue) {
    known.insert(e.name);
    for (const Bug& bug : e.bugs) known.insert(e.name + ": " + bug.name);
  }
  std::vector<std::string> out;
  for (const std::string& about : about_)
    if (known.count(about) == 0) out.push_back(about);
  return out;
}

}  // namespace bitwell::bugs
