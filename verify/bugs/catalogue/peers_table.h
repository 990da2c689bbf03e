// The columns of the catalogue's table that say what other checkers' documents say.
#pragma once
#include <string>
#include <vector>

#include "verify/bugs/catalogue/peers.h"

namespace bitwell::bugs {

class PeerColumns {
 public:
  // `peers` stays.
  explicit PeerColumns(const Peers& peers) : peers_(peers), counts_(peers.names().size()) {}

  // As wide as cells() are.
  std::string heads() const;
  // Of a bug, which is counted; blanks of a clean kernel (nullptr). `memory`: Tally::memory.
  std::string cells(const Exhibit& exhibit, const Bug* bug, const std::string& memory);
  // A line for each peer: answer, document, section, why.
  std::string sources(const Exhibit& exhibit, const Bug& bug, const std::string& memory) const;
  // Of all bugs that were counted: how many each peer's documents say that it finds; and the documents.
  std::string summary() const;

 private:
  struct Count {
    size_t found = 0, not_found = 0, not_said = 0;
  };
  const Peers& peers_;
  std::vector<Count> counts_;  // by peer
  size_t bugs_ = 0;
};

}  // namespace bitwell::bugs
