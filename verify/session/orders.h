// One launch under many orders of turns: whether it always ends alike, and where not.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "verify/launch/launch.h"
#include "verify/schedules/exhaust.h"
#include "verify/schedules/schedules.h"

namespace bitwell::session {

// Under so many schedules; `options` say the rest. Strict ones try all that the manual lets them, others what
// devices do. Nothing: all agree. The launch's buffers are then what the first left.
std::optional<schedules::Disagreement> compare(launch::Launch& launch, const run::Options& options,
                                               size_t schedules,
                                               const schedules::SchedulesProgress& progress = nullptr);

// Under every schedule that can end otherwise than another.
struct EveryOrder {
  schedules::Exhausted
      all;  // its ends: first those that are no fault, so that faults are told beside what should be

  // What the others are held against: the first end that is no fault, or nullptr.
  const schedules::Ended* first() const;
  bool agree() const { return all.ends.size() == 1 && first() != nullptr; }
  // Where an end without a fault parts from the first.
  struct Difference {
    std::string buffer;  // empty: a variable does
    uint64_t byte = 0;
    std::byte here{}, of_first{};
  };
  Difference difference(const schedules::Ended& end, const launch::Launch& launch) const;
  // The launch as the first end leaves it.
  void keep(launch::Launch& launch) const;
};
// Throws what exhaust does.
EveryOrder every_order(const launch::Launch& launch, const run::Options& options, uint64_t most,
                       const std::function<void(uint64_t runs, uint64_t pruned)>& progress = nullptr);

}  // namespace bitwell::session
