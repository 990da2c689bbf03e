// How long cases took, and whose they are by that.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "verify/journal/shard.h"

namespace bitwell::journal {

// What took how long, of the journals of a folder that another run left; of whatever version it is, and of
// whatever question: it is no more than a guess. Lines that are none are left out. Throws InputError where
// there is no line at all, and where it is `written`, the folder that this run adds to: shards would divide
// the cases by times that change meanwhile.
class Times {
 public:
  Times() = default;  // of nothing
  // Of "" nothing.
  Times(const std::string& folder, const std::string& written);

  bool any() const { return !seconds_.empty(); }
  // Of a case that nobody has timed the mean of the others.
  double of(const std::string& c) const;

 private:
  std::map<std::string, double> seconds_;
  double mean_ = 0;
};

// Which of `count` pieces are the shard's: each `of`-th; by `seconds`, where it is not empty, the longest
// first, each to the shard that has least to do so far, and in that order. The same for all shards that are
// given the same.
std::vector<size_t> part(size_t count, const std::vector<double>& seconds, const Shard& shard);

}  // namespace bitwell::journal
