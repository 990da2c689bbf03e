// Clusters of a launch that run side by side, each host thread some of them.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/claim/claims.h"
#include "model/run/launch.h"
#include "model/run/parallel/apart.h"

namespace bitwell::run {

// By function and line of its uses: atomics whose order does not matter, as nothing reads what they give.
using Unordered = std::vector<std::vector<bool>>;
Unordered unordered_atomics(const isa::Program& program);

// Why the clusters of a launch are to run one after the other, as far as that is known before it starts;
// empty: nothing says so.
std::string why_in_order(const isa::Program& program, const Shape& shape, const Options& options,
                         const Unordered& unordered);

// What a cluster that runs beside others goes by.
class Parallel {
 public:
  static constexpr size_t kLocks = 256;
  using Locks = std::array<std::mutex, kLocks>;

  Parallel(machine::Claims& of_thread, const Unordered& those, Locks& locks)
      : claims(of_thread), unordered(those), locks_(locks) {}
  virtual ~Parallel() = default;

  machine::Claims& claims;  // of its host thread
  const Unordered& unordered;
  // Additions to a word, one after the other.
  std::mutex& lock_of(uint64_t address) const { return locks_[address / 64 % locks_.size()]; }
  // To be called now and then, at the logical time of its thread: whether it goes on. Else nothing that they
  // do is kept.
  virtual bool goes_on(uint64_t time) const = 0;
  // Whether who watches the cluster that runs need not be told that a warp of the CTA, or an operation that
  // it has issued, reads there weakly, by the instruction of that line: it has been counted then.
  virtual bool passes_over(const machine::Region&, const std::array<uint32_t, 3>& /*cta*/, int /*warp*/,
                           int /*ptx_line*/) const {
    return false;
  }
  // Who alone watches the cluster that is about to run, or nullptr.
  virtual TakesRows* taker_of_rows() const { return nullptr; }

 private:
  Locks& locks_;
};

}  // namespace bitwell::run
