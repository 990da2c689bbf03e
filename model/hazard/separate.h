// Clusters of a launch that were checked each alone, as none reached global memory that another one changed:
// whether what was found of them is what one checker finds that is told of all, one after the other.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

class Separate {
 public:
  static constexpr std::string_view kInGlobal = "there is a finding in global memory";
  // Of one that has ended, by any host thread: why one checker has to be told of all; empty: it need not, as
  // far as those go that were asked about.
  std::string why_not(const Checker::OfCluster& cluster);
  // For checkers to come, by any host thread: what is left of one whose cluster has ended.
  void keep(std::unique_ptr<HeldBack> spare);
  std::unique_ptr<HeldBack> spare();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<HeldBack>> spare_;
  uint64_t records_ = 0, met_ = 0, met_by_notes_ = 0;
  // The first instruction that reached registers of a wgmma under way, by kind and the wgmma's line: of a
  // launch the others are not told of.
  std::map<std::pair<Kind, int>, int> first_;
};

}  // namespace bitwell::hazard
