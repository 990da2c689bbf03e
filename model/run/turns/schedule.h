// The order in which warps and asynchronous operations take turns. PTX leaves it open; a kernel that is right
// gives the same bits under each.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "model/machine/promise.h"

namespace bitwell::run {

enum class Policy : uint8_t {
  lazy,    // warps in order; an operation goes on only when no warp can
  eager,   // an operation is done as soon as it is issued
  random,  // priorities drawn at random, one lowered now and then (PCT, Burckhardt et al., ASPLOS 2010)
  starve_producer,  // warps that issue asynchronous operations run only when nothing else can
  starve_consumer,  // all other warps do
  starve_stores     // operations that a bulk group waits for, stores from shared memory above all, do
};
struct PolicyName {
  Policy policy;
  std::string_view name;
};
inline constexpr std::array<PolicyName, 6> kPolicies{{{Policy::lazy, "lazy"},
                                                      {Policy::eager, "eager"},
                                                      {Policy::random, "random"},
                                                      {Policy::starve_producer, "starve-producer"},
                                                      {Policy::starve_consumer, "starve-consumer"},
                                                      {Policy::starve_stores, "starve-stores"}}};

// Whether a launch that may start while the one before goes on (griddepcontrol) starts only when that has
// ended. The random schedule chooses.
inline bool starts_late(Policy policy) {
  return policy == Policy::eager || policy == Policy::starve_consumer || policy == Policy::starve_stores;
}

struct Schedule {
  Policy policy = Policy::lazy;
  uint64_t seed = 0;  // of random
  // Of random: what it leaves in order. It tries all that devices may do, or all that the manual lets them.
  machine::Promise kept = machine::Promise::devices;
};

}  // namespace bitwell::run
