// How much of a launch a device holds at once.
#pragma once
#include <string>
#include <string_view>

#include "model/run/launch.h"

namespace bitwell::run {

// What lets no more CTAs onto a multiprocessor.
enum class Scarce : uint8_t { threads, shared_memory, ctas, registers };
inline constexpr std::string_view kScarce[] = {"threads", "shared memory", "CTAs",
                                               "registers"};  // as the enum

struct Residency {
  uint32_t ctas_per_sm = 0;  // at most: exact where the launch says how many registers a thread has
  uint32_t sure_per_sm = 0;  // of them, whatever of the registers is not known; 0: none
  uint64_t room = 0;         // clusters of this kind on the whole device
  uint64_t clusters = 0;     // on the whole device, at most all of the launch's
  uint64_t all = 0;          // clusters of the launch
  Scarce limited_by{};
  // What ctas_per_sm rests on: "threads; registers, which PTX does not tell, may allow fewer".
  std::string rests_on;
};
// By the rules of an occupancy calculator (cuda_occupancy.h of CUDA 13.0) for the device that machine::Arch
// has, the largest for the target. Of its processing clusters, in one of which each cluster lies, the largest
// size counts: a device may hold fewer clusters. For a launch that check_launch takes.
Residency residency(const isa::Program& program, const Shape& shape);

// Bytes of shared memory that a multiprocessor gives to a CTA that asks for `bytes`: whole units of its own.
uint64_t allocated_shared(int sm, uint64_t bytes);

// CTAs of so many threads that the registers of a multiprocessor are enough for. 0: not even for one.
uint32_t ctas_by_registers(uint32_t threads, uint32_t registers);

}  // namespace bitwell::run
