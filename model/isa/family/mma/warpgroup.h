// wgmma: the MMAs that the four warps of a warpgroup have issued together and that are not done
// (PTX ISA 9.0, 9.7.15).
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "model/isa/family/mma/fragments.h"
#include "model/machine/agent.h"
#include "model/machine/warp.h"
#include "model/run/port.h"

namespace bitwell::run {
class Cta;
class Context;
}  // namespace bitwell::run

namespace bitwell::isa {

// wgmma of bytes: sums are exact, with 32 bits kept.
struct ByteTypes {
  bool a_signed = false, b_signed = false;
  bool saturate = false;
};

struct WarpgroupMmaUse : Mma {
  std::optional<ByteTypes> bytes;  // without a rule; of the formats of A and B only the width counts
  bool a_in_registers = true;
  bool negate_a = false, negate_b = false;
  bool transpose_a = false, transpose_b = false;  // MN-major in shared memory
  bool negated_scale = false;                     // scale-d is !p

  std::unique_ptr<MatrixProduct> copy() const override { return std::make_unique<WarpgroupMmaUse>(*this); }
};

// One wgmma.mma_async. It can go on when all four warps have issued it; until then D's registers hold
// nothing. Shared memory is read when it is done, registers of A when they are issued.
struct WarpgroupMma {
  const Op* op = nullptr;
  uint64_t a = 0, b = 0;  // descriptors
  bool accumulate = false;
  machine::IssuePlace place;      // of the first warp that issued it
  int warps = 0;                  // that have issued it
  std::vector<uint32_t> a_codes;  // of all four warps, 16 rows each
  std::array<std::shared_ptr<machine::Activation>, 4> activations;
};

class Warpgroup {
 public:
  explicit Warpgroup(run::Cta& cta) : cta_(cta) {}

  void fence(size_t warp) { warps_[warp].fenced = true; }
  // Takes the warp's share of the next MMA. Faults if it is another one than the other warps' or if a
  // register cannot be used now. Returns true when the warpgroup's queue was empty: it needs an agent.
  bool issue(size_t warp, const Op& op, run::Context& context);
  void commit(size_t warp) { warps_[warp].groups.push_back(warps_[warp].issued); }
  // Whether all but the latest `pending` groups of the warp are done.
  bool groups_done(size_t warp, uint64_t pending);

  bool empty() const { return queue_.empty(); }
  bool front_ready() const { return !queue_.empty() && queue_.front().warps == 4; }
  void run_front(const run::Port& port);
  const WarpgroupMma& front() const { return queue_.front(); }
  uint64_t front_number() const { return done_; }  // counted from the warpgroup's first MMA

 private:
  struct Share {
    bool fenced = false;
    uint64_t issued = 0;
    std::deque<uint64_t> groups;  // `issued` at each commit
  };
  void take_sums(const WarpgroupMma& mma);
  void add_products(const WarpgroupMma& mma, std::span<const uint32_t> a, const number::DotColumns& b);
  void leave_sums(const WarpgroupMma& mma);

  run::Cta& cta_;
  std::deque<WarpgroupMma> queue_;
  uint64_t done_ = 0;  // number of the queue's front
  std::array<Share, 4> warps_;
  // D of the MMA that is done or was done last, [row][column]; `sums_kept_`: its registers do not have it,
  // for the queue's front adds to the same ones and nobody may read them between.
  std::vector<uint32_t> sums_;
  bool sums_kept_ = false;
};

}  // namespace bitwell::isa
