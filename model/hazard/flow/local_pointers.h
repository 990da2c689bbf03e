// Which instructions hand addresses of a thread's local variables on to others, and which reach memory
// through words that they got from others.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/hazard/flow/object_flow.h"
#include "model/hazard/flow/objects.h"

namespace bitwell::hazard {

class LocalPointers {
 public:
  // `places`: what the flow's objects are.
  LocalPointers(const ObjectFlow& flow, const std::vector<Object>& places);

  // Where a word may come from as an address.
  struct Source {
    bool own = false;              // of a local variable of the thread that has it
    std::optional<size_t> object;  // of this one alone
    std::vector<size_t> received;  // numbers of words that were loaded, or came from another lane
  };
  // shfl with a lane and a clamp that are numbers.
  struct Shuffle {
    int line = 0;
    char mode = 'i';  // the first letter of up, down, bfly, idx
    uint32_t lane = 0, clamp = 0;
    Source source;

    // The lane that `lane_` gets the word of (PTX ISA 9.0, 9.7.9.7): its own where the other is out of range.
    uint32_t from(uint32_t to) const;
  };
  // An access of a thread to memory; of words of 8 bytes, one behind the other.
  struct Access {
    Source address;
    std::vector<Source> stored;
    std::vector<size_t> loaded;  // their numbers
  };

  // Whether no address of a local variable can leave its thread.
  bool none() const { return accesses_.empty(); }
  const Access* access_at(int line) const {
    const auto at = accesses_.find(line);
    return at == accesses_.end() ? nullptr : &at->second;
  }
  // What a received word was shuffled by; nullptr: it was loaded.
  const Shuffle* shuffle_of(size_t received) const {
    const auto at = shuffles_.find(received);
    return at == shuffles_.end() ? nullptr : &at->second;
  }

 private:
  class Search;
  struct Lanes {
    uint32_t lane, clamp;
  };
  void add_shuffle(const ObjectFlow::Use& use, const Lanes& lanes, const Search& search);
  void add_access(const ObjectFlow::Use& use, const Search& search);

  std::map<int, Access> accesses_;  // by PTX line; of two on a line neither
  std::map<size_t, Shuffle> shuffles_;
};

}  // namespace bitwell::hazard
