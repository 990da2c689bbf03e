// Warpgroups and their wgmma: what orders it, and its registers.
#pragma once
#include <map>
#include <memory>
#include <utility>

#include "model/hazard/flow/mma_registers.h"
#include "model/hazard/shadow/clusters.h"
#include "model/machine/event.h"

namespace bitwell::hazard {

class Warpgroups {
 public:
  Warpgroups(Ledger& ledger, Clusters& clusters) : ledger_(ledger), clusters_(clusters) {}

  // That registers of a wgmma are reached while it is under way is found too.
  void follow(std::shared_ptr<const MmaRegisters> registers) { registers_ = std::move(registers); }
  const std::shared_ptr<const MmaRegisters>& registers() const { return registers_; }
  // A wgmma is issued, starts, is committed, is waited for.
  void order(const machine::Synchronisation& s, Cluster& c);
  // A warp comes to an instruction that reaches registers of one.
  void reached(const machine::Reached& r, Cluster& c);

 private:
  Warpgroup& of(Cluster& c, const std::array<uint32_t, 3>& cta, int warp);
  void registers_issued(const machine::Synchronisation& s, Warp& w, uint64_t count);

  Ledger& ledger_;
  Clusters& clusters_;
  std::shared_ptr<const MmaRegisters> registers_ = std::make_shared<MmaRegisters>();
  std::map<std::pair<Kind, int>, int> told_of_mma_;  // by line of a wgmma: the first that reached it
};

}  // namespace bitwell::hazard
