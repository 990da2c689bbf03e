// Plants mistakes into every kernel of bitwell's own and counts which ones the suites and the race check
// find; whole, or as one of several processes that share a folder of journals.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/bugs/mutation/subject.h"

namespace bitwell::bugs {

// The list of the clone that this was built in.
std::string survivors();

// Which mistakes, and how they are looked for.
struct CampaignOptions {
  std::vector<std::string> only{};  // parts of kernels' names; empty: all
  std::string kind{};               // part of a kind's name
  size_t most = 6;                  // of a kernel and kind, of those that are sampled
  uint64_t seed = 1;
  bool whole = false;  // those that no suite can fail too under every schedule
  std::string list = survivors();
  int threads = 0;       // 0: as many as the host has
  std::string log{};     // of every mutant; empty: none
  bool resume = false;   // what the log has is not run again
  std::string scores{};  // as CSV; empty: none
};

struct CampaignEnd {
  std::string text;  // for people
  bool held = true;  // nothing was missed, no line of the list is stale; of a merge: no mutant is missing
};

// All functions throw machine::InputError for what the options name and is not there.
CampaignEnd run_campaign(const std::vector<Subject>& subjects, const CampaignOptions& options);
// Of the mutants of a shard, "I/N" or "" for all, those that the folder's journals do not have; `version`: of
// bitwell. `times`: a folder as of journal::Times, or empty.
CampaignEnd run_campaign_shard(const std::vector<Subject>& subjects, const CampaignOptions& options,
                               const std::string& folder, const std::string& shard, const std::string& times,
                               const std::string& version);
// What run_campaign gives, of a folder's journals: which mistakes were planted stands there. `options`: the
// rest.
CampaignEnd merge_campaign(const std::vector<Subject>& subjects, CampaignOptions options,
                           const std::string& folder, const std::string& version);

}  // namespace bitwell::bugs
