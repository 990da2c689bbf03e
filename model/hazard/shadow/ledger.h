// What is written down of a launch: who acts, what each did where, who reached which bytes of global memory,
// and what was found of it.
#pragma once
#include <array>
#include <vector>

#include "model/hazard/finding_list.h"
#include "model/hazard/shadow/actors.h"
#include "model/hazard/shadow/shadow.h"

namespace bitwell::hazard {

struct Unit {
  std::array<uint32_t, 3> cta{};
  Domain domain;
  int warp = 0;
};
class Units {
 public:
  // One of the warp, or of what is under way for it.
  UnitId add(const Warp& w);
  // One that no warp has.
  UnitId add();
  // Of the warp's operations of that kind, from the first on.
  UnitId stream(Warp& w, Stream s);
  const Unit& operator[](UnitId unit) const { return all_[unit]; }

 private:
  std::vector<Unit> all_{1};
};

struct Ledger {
  Units units;
  Records records;
  ReaderSets readers{records};
  Shadow global;
  FindingList findings;

  // Who left that record.
  Party party(uint32_t record, uint32_t lane) const;
};
// One who acts now.
Party party(const Viewer& v, const Site& site);

}  // namespace bitwell::hazard
