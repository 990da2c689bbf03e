// What became of each mutant, in a file: a campaign that was broken off goes on from it, and parts run apart
// are put together.
#pragma once
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "verify/bugs/mutation/judge.h"

namespace bitwell::bugs {

// "wrong bits", and back.
std::string_view name_of(Found found);
std::optional<Found> found_of(std::string_view name);

// A line a mutant, fields with tabs between: what it was found as, seconds, kernel, PTX line, kind, before,
// after, what was said first. Safe to be told by several threads.
class FindingsLog {
 public:
  // `path`: empty: nothing is kept. `resume`: what the file has already is known, and more is added behind
  // it. Throws machine::InputError naming the line that is none.
  FindingsLog(const std::string& path, bool resume);
  std::optional<Finding> known(const std::string& kernel, const Mutant& m) const;
  void add(const std::string& kernel, const Mutant& m, const Finding& f, double seconds);

 private:
  using Key = std::tuple<std::string, int, std::string, std::string>;  // kernel, line, kind, after
  std::map<Key, Finding> known_;
  std::mutex mutex_;
  std::ofstream file_;
};

}  // namespace bitwell::bugs
