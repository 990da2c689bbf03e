// Collectives of a warp: what their checks leave to their effects.
#pragma once
#include "model/isa/family/atomic_update.h"
#include "model/isa/family/scalar/extreme.h"
#include "model/isa/form/op.h"

namespace bitwell::isa {

enum class ShuffleMode : uint8_t { up, down, bfly, idx };
struct ShuffleUse : Payload {
  ShuffleMode mode{};
};
enum class VoteMode : uint8_t { all, any, uni, ballot };
struct VoteUse : Payload {
  VoteMode mode{};
  bool negated = false;
};
struct MatchUse : Payload {
  bool all = false;
  int size = 0;  // bytes of a lane's value
};
struct ReduceUse : Payload {
  AtomicOperation operation{};
  Extreme extreme;  // of min and max
};

// op.e holds the member mask.
Next warp_barrier(const Op& op, run::Context& context, uint32_t mask);
Next shuffle(const Op& op, run::Context& context, uint32_t mask);      // ShuffleUse
Next vote(const Op& op, run::Context& context, uint32_t mask);         // VoteUse
Next match_lanes(const Op& op, run::Context& context, uint32_t mask);  // MatchUse
Next reduce(const Op& op, run::Context& context, uint32_t mask);       // ReduceUse
Next active_mask(const Op& op, run::Context& context, uint32_t mask);
Next elect(const Op& op, run::Context& context, uint32_t mask);

}  // namespace bitwell::isa
