// Clusters of a launch that run side by side, each host thread some of them.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/claim/claims.h"
#include "model/run/launch.h"

namespace bitwell::run {

// By function and line of its uses: atomics whose order does not matter, as nothing reads what they give.
using Unordered = std::vector<std::vector<bool>>;
Unordered unordered_atomics(const isa::Program& program);

// Why the clusters of a launch are to run one after the other, as far as that is known before it starts;
// empty: nothing says so.
std::string why_in_order(const isa::Program& program, const Shape& shape, const Options& options,
                         const Unordered& unordered);

// What a cluster that runs beside others goes by.
struct Parallel {
  machine::Claims& claims;  // of its host thread
  const Unordered& unordered;
  const std::atomic<bool>& given_up;  // by any of them: nothing that they do is kept
  // Additions to a word, one after the other.
  std::mutex& lock_of(uint64_t address) const { return locks[address / 64 % locks.size()]; }
  static constexpr size_t kLocks = 256;
  std::array<std::mutex, kLocks>& locks;
};

}  // namespace bitwell::run
