// One launch under many orders of turns: whether it always ends alike, and where not.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "verify/explore/exhaust.h"
#include "verify/explore/schedules.h"
#include "verify/launch/launch.h"

namespace bitwell::session {

using namespace verify;

// Under so many schedules; `options` say the rest. Strict ones try all that the manual lets them, others what
// devices do. Nothing: all agree. The launch's buffers are then what the first left.
std::optional<Disagreement> compare(Launch& launch, const isa::Options& options, size_t schedules,
                                    const SchedulesProgress& progress = nullptr);

// Under every schedule that can end otherwise than another.
struct EveryOrder {
  Exhausted all;  // its ends: first those that are no fault, so that faults are told beside what should be

  // What the others are held against: the first end that is no fault, or nullptr.
  const Ended* first() const;
  bool agree() const { return all.ends.size() == 1 && first() != nullptr; }
  // Where an end without a fault parts from the first.
  struct Difference {
    std::string buffer;  // empty: a variable does
    uint64_t byte = 0;
    std::byte here{}, of_first{};
  };
  Difference difference(const Ended& end, const Launch& launch) const;
  // The launch as the first end leaves it.
  void keep(Launch& launch) const;
};
// Throws what exhaust does.
EveryOrder every_order(const Launch& launch, const isa::Options& options, uint64_t most,
                       const std::function<void(const Exhausted& so_far)>& progress = nullptr);

}  // namespace bitwell::session
