// What the documents of other checkers say of bugs like those of the catalogue. Nobody has run them on it: it
// is in PTX, and ConSan reads Triton's language, TIRx-harness reads TIRx.
//
// peers/documents.csv names the documents, peers/answers.csv what follows from them:
//   bugs      "; " between them: a bug ("flag: plain-flag"), a kernel ("flag"), all of a memory (of
//             memory_names()), or all of a kind ("race"); the first of these that is there counts
//   peer      as documents.csv has it: ConSan, racecheck (NVIDIA), TIRx (TIRx-harness's Racecheck)
//   answer    yes, no, not said; or another tool of the same suite, which finds it: synccheck
//   document, section, why
#pragma once
#include <map>
#include <string>
#include <vector>

#include "verify/bugs/catalogue/catalogue.h"

namespace bitwell::bugs {

struct PeerAnswer {
  std::string bugs, peer, answer;
  std::string document, section, why;

  bool found() const { return answer != "no" && answer != "not said"; }
};
struct PeerDocument {
  std::string name, peer, title, version, address;
};

class Peers {
 public:
  // Of a folder. Throws InputError naming file and line for a row that is not as above, cites a document that
  // is not there or another peer's, or answers the same twice.
  explicit Peers(const std::string& folder);

  // In the order of their first documents.
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<PeerDocument>& documents() const { return documents_; }
  // For a bug that was found in `memory` (Tally::memory); nullptr: there is none.
  const PeerAnswer* of(const std::string& peer, const Exhibit& exhibit, const Bug& bug,
                       const std::string& memory) const;
  // Rows that are about no bug, kernel, memory or kind, in the order of the file.
  std::vector<std::string> stale(const std::vector<Exhibit>& catalogue) const;

 private:
  const PeerDocument& document(const std::string& name, const std::string& place) const;
  void add(const PeerAnswer& row, const std::string& place);

  std::vector<std::string> names_;
  std::vector<PeerDocument> documents_;
  std::vector<std::string> about_;                                     // of all rows
  std::map<std::pair<std::string, std::string>, PeerAnswer> answers_;  // by what they are about, and peer
};

}  // namespace bitwell::bugs
