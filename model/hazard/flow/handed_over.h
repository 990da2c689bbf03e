// Addresses of local variables in the hands of other threads. Every thread's local memory stands at the same
// addresses, each its own (PTX ISA 9.0, 5.1.5): who goes through another's finds its own memory there.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "model/hazard/flow/local_pointers.h"
#include "model/hazard/shadow/record.h"
#include "model/machine/event.h"

namespace bitwell::hazard {

class HandedOver {
 public:
  explicit HandedOver(std::shared_ptr<const LocalPointers> pointers) : pointers_(std::move(pointers)) {}

  // Who let the address of a local variable out: a lane of a unit, at a PTX line.
  struct Maker {
    UnitId unit = 0;
    uint32_t lane = 0;
    int line = 0;
    std::optional<size_t> object;  // the variable, where it is one
  };
  // Follows an access to memory, in the cluster of that number; `unit` is its warp's, of an operation's
  // nothing. Calls found(lane, maker) for each lane that goes through the address of another's variable.
  template <class Found>
  void access(const machine::Access& a, uint32_t cluster, UnitId unit, Found found) {
    if (pointers_->none()) return;
    const LocalPointers::Access* const known =
        a.operation == 0 && !a.mbarrier ? pointers_->access_at(a.ptx_line) : nullptr;
    if (known == nullptr && words_.empty()) return;
    const uint32_t lanes = a.operation == 0 ? a.lanes : 1;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
      const Thread who{unit, lane};
      const uint64_t address = a.addresses[lane];
      if (known != nullptr && is_local(address))
        if (const auto maker = others(known->address, who)) found(lane, *maker);
      const Place place = place_of(address, cluster, who);
      if (known != nullptr && a.kind != machine::AccessKind::write) load(*known, place, who);
      if (a.kind != machine::AccessKind::read) store(known, place, who, a);
    }
  }

 private:
  using Thread = std::pair<UnitId, uint32_t>;
  // Whose memory, and the generic address.
  using Place = std::pair<uint64_t, uint64_t>;

  static bool is_local(uint64_t generic);
  static Place place_of(uint64_t generic, uint32_t cluster, const Thread& who);
  std::optional<Maker> got(size_t received, const Thread& who) const;
  static bool is_of(const Maker& maker, const Thread& who) {
    return maker.unit == who.first && maker.lane == who.second;
  }
  std::optional<Maker> maker_of(const LocalPointers::Source& source, const Thread& who) const;
  std::optional<Maker> others(const LocalPointers::Source& source, const Thread& who) const;
  std::optional<Maker> made(const LocalPointers::Source& source, const Thread& who, int line) const;
  void load(const LocalPointers::Access& known, const Place& place, const Thread& who);
  void store(const LocalPointers::Access* known, const Place& place, const Thread& who,
             const machine::Access& a);

  std::shared_ptr<const LocalPointers> pointers_;
  std::map<Place, Maker> words_;                         // of 8 bytes in memory
  std::map<std::pair<Thread, size_t>, Maker> received_;  // by number of the word that a thread got
};

}  // namespace bitwell::hazard
