// Clusters of a launch that were checked each alone, as none reached global memory that another one changed:
// whether what was found of them is what one checker finds that is told of all, one after the other.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

class Separate {
 public:
  // Of one that has ended, by any host thread: why one checker has to be told of all; empty: it need not, as
  // far as those go that were asked about.
  std::string why_not(const Checker::OfCluster& cluster);

 private:
  std::mutex mutex_;
  uint64_t records_ = 0, met_ = 0;
  // The first instruction that reached registers of a wgmma under way, by kind and the wgmma's line: of a
  // launch the others are not told of.
  std::map<std::pair<Kind, int>, int> first_;
};

}  // namespace bitwell::hazard
