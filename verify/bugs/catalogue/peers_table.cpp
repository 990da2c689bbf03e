#include "verify/bugs/catalogue/peers_table.h"

#include <cstdio>

namespace bitwell::bugs {
namespace {

// A cell of a column, as wide as the longest answer and a space.
std::string padded(const std::string& words) {
  constexpr size_t kWidth = 10;
  return words + std::string(words.size() < kWidth ? kWidth - words.size() : 1, ' ');
}

constexpr const char* kNoAnswer = "?";

}  // namespace

std::string PeerColumns::heads() const {
  std::string out;
  for (const std::string& peer : peers_.names()) out += padded(peer);
  return out;
}

std::string PeerColumns::cells(const Exhibit& exhibit, const Bug* bug, const std::string& memory) {
  std::string out;
  if (bug != nullptr) ++bugs_;
  for (size_t i = 0; i < counts_.size(); ++i) {
    const PeerAnswer* const a =
        bug == nullptr ? nullptr : peers_.of(peers_.names()[i], exhibit, *bug, memory);
    out += padded(bug == nullptr ? "" : a == nullptr ? kNoAnswer : a->answer);
    if (a == nullptr) continue;
    ++(a->found() ? counts_[i].found : a->answer == "no" ? counts_[i].not_found : counts_[i].not_said);
  }
  return out;
}

std::string PeerColumns::sources(const Exhibit& exhibit, const Bug& bug, const std::string& memory) const {
  std::string out;
  for (const std::string& peer : peers_.names())
    if (const PeerAnswer* const a = peers_.of(peer, exhibit, bug, memory); a != nullptr)
      out +=
          "    " + padded(peer) + padded(a->answer) + a->why + " (" + a->document + ": " + a->section + ")\n";
  return out;
}

std::string PeerColumns::summary() const {
  std::string out = "Of such bugs the documents of others say (nobody ran these tools here):\n";
  char line[160];
  for (size_t i = 0; i < counts_.size(); ++i) {
    const Count& c = counts_[i];
    std::snprintf(line, sizeof line, "  %s%zu of %zu are found, %zu are not, %zu are not told of\n",
                  padded(peers_.names()[i]).c_str(), c.found, bugs_, c.not_found, c.not_said);
    out += line;
  }
  for (const PeerDocument& d : peers_.documents())
    out += "  " + d.name + ": " + d.title + ", " + d.version + ", " + d.address + "\n";
  return out;
}

}  // namespace bitwell::bugs
