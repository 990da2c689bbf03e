// Acts on memory as small numbers, so that a shadow can hold them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "model/hazard/knowledge/clock.h"
#include "model/machine/event.h"

namespace bitwell::hazard {

// Who reaches memory: threads themselves, or operations that they have issued.
enum class Actor : uint8_t {
  thread,
  copy,
  bulk_copy,
  mbarrier_copy,
  wgmma,
  tcgen05,
  tensor_load,
  tensor_store
};

// Of a whole warp at once.
inline constexpr bool is_move(Actor a) { return a >= Actor::tensor_load; }

// An instruction, and what it does.
struct Site {
  int ptx_line;
  Actor actor;
  machine::AccessKind kind;
  machine::Order order;
  uint32_t tensor = 0;  // of tcgen05's operations: the number of what orders them, Records::tensor_order

  bool operator==(const Site&) const = default;
};

// Strong accesses do not race with each other where each has the other in its scope: 0 of a weak one, then by
// scope.
inline uint32_t strength(const Site& s) {
  if (s.order.semantics == machine::Semantics::weak) return 0;
  return 1 + static_cast<uint32_t>(std::min(s.order.scope, machine::Scope::gpu));
}

// Whether any race with the earlier of two accesses is one with the later too, for an access that is not
// behind the later: not where the earlier races with more; and loads past the coherent cache need more than
// order.
inline bool stands_for(const Site& later, const Site& earlier) {
  const bool coherent = later.order.proxy != machine::Proxy::non_coherent;
  return strength(later) <= strength(earlier) &&
         !(coherent && earlier.order.proxy == machine::Proxy::non_coherent);
}

// What several acts have in common: all but the lane.
struct Record {
  UnitId unit;
  uint32_t time;
  uint32_t site;
};
// Of an operation whose end is not known yet.
inline constexpr UnitId kUnfinished = UINT32_MAX;

// A record and a lane.
using Act = uint32_t;
inline constexpr Act kNoAct = 0;
inline constexpr Act act(uint32_t record, uint32_t lane) { return record << 5 | lane; }
inline constexpr uint32_t record_of(Act a) { return a >> 5; }
inline constexpr uint32_t lane_of(Act a) { return a & 31; }

class Records {
 public:
  Records() { add({}); }

  uint32_t site(const Site& site);
  // The number of that record, the same for the same. Throws Unsupported when there are too many.
  uint32_t record(const Record& record);
  // One of its own, of an operation: its end may be filled in later.
  uint32_t unfinished(uint32_t site);
  // Of a unit whose cluster has ended no record is asked for any more: what finds its records again goes.
  void ended(UnitId unit);
  void finish(uint32_t record, UnitId unit, uint32_t time) {
    at(record).unit = unit;
    at(record).time = time;
  }
  const Record& operator[](uint32_t record) const { return chunks_[record / kChunk][record % kChunk]; }
  const Site& site_of(const Record& record) const { return sites_[record.site]; }
  const Site& site_at(uint32_t number) const { return sites_[number]; }
  // The number of that order, the same for the same; and what it is of.
  uint32_t tensor_order(const machine::TensorOrder& order);
  const machine::TensorOrder& tensor_order(uint32_t number) const { return tensor_orders_[number]; }
  uint32_t count() const { return count_; }
  static constexpr uint32_t kMost = 1u << 26;  // an act has 5 bits of lane, and one says that it is many
  // Of the records, and of what finds them again.
  size_t bytes() const { return chunks_.size() * kChunk * sizeof(Record) + found_bytes_; }

 private:
  static constexpr uint32_t kChunk = 64;

  uint32_t add(const Record& record);
  Record& at(uint32_t record) { return chunks_[record / kChunk][record % kChunk]; }

  std::vector<std::unique_ptr<Record[]>> chunks_;
  uint32_t count_ = 0;  // record 0 is none
  std::vector<Site> sites_;
  std::map<std::tuple<int, Actor, machine::AccessKind, machine::Semantics, machine::Scope, machine::Proxy,
                      uint32_t>,
           uint32_t>
      site_numbers_;
  std::vector<machine::TensorOrder> tensor_orders_{1};
  std::vector<uint32_t> recent_;  // by PTX line and kind: the site that was asked for last, or 0
  // A unit's last record of each site, in the order in which it came to them; a loop comes to them so again.
  struct Last {
    uint32_t site, time, record;
  };
  struct OfUnit {
    std::vector<Last> all;
    uint32_t next = 0;  // where the site that comes next may stand
  };
  std::vector<OfUnit> last_;
  size_t found_bytes_ = 0;
};

}  // namespace bitwell::hazard
