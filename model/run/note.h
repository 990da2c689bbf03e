// What a kernel does that devices take without harm, though the manual does not promise it.
#pragma once
#include <string>
#include <vector>

#include "model/machine/failure.h"

namespace bitwell::run {

struct Note {
  machine::Place place;  // where it was seen first
  std::string text;
  uint64_t times = 1;
};

// One note for each PTX line and text, in the order in which they were first seen.
class Notes {
 public:
  // `strict`: the first one is a Fault.
  explicit Notes(bool strict) : strict_(strict) {}
  // Throws Fault with its place where notes are strict.
  void add(const machine::Place& place, const std::string& text);
  // What was noted elsewhere, behind all that is here.
  void add(const Notes& others);
  const std::vector<Note>& all() const { return all_; }

 private:
  void add(const Note& note);
  bool strict_;
  std::vector<Note> all_;
};

}  // namespace bitwell::run
