#include "model/isa/family/control/time.h"

#include "model/isa/family/emit.h"
#include "model/run/context.h"

namespace bitwell::isa {
namespace {

struct TimeUse : Payload {
  int bits = 32;
  bool high = false;
};

Next read_time(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<TimeUse>();
  const uint64_t now = context.cta.warp_instructions + ++context.warp.time_reads;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    if (use.bits == 64)
      context.row<uint64_t>(op.d)[lane] = now;
    else
      context.row<uint32_t>(op.d)[lane] = static_cast<uint32_t>(use.high ? now >> 32 : now);
  }
  context.set_defined(op.d, mask);
  return Next::advance;
}

}  // namespace

uint32_t emit_time(Builder& b, int bits, bool high) {
  Op op = effect_without_memory(b, read_time);
  auto& use = b.payload<TimeUse>(op);
  use.bits = bits;
  use.high = high;
  op.d = b.new_row(bits);
  b.emit(op);
  return op.d;
}

}  // namespace bitwell::isa
