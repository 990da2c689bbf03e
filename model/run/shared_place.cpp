#include "model/run/shared_place.h"

#include "model/run/stuck/nearby.h"

namespace bitwell::run {

using machine::Fault;

uint64_t low_half(Context& context, int lane, uint64_t generic) {
  context.note(lane, "a generic address where one of shared memory is wanted: its low 32 bits are taken");
  return generic - machine::kSharedWindow;
}

SharedPlace shared_place(Context& context, int lane, uint64_t address, isa::Space space, uint64_t size,
                         uint64_t align) {
  if (space == isa::Space::generic) {
    if (address - machine::kSharedWindow >= machine::kWindowSize)
      throw Fault("a generic address that is not in shared memory", lane);
    address -= machine::kSharedWindow;
  } else if (address - machine::kSharedWindow < machine::kWindowSize) {
    address = low_half(context, lane, address);
  }
  Cta* cta = context.cta.cluster.cta_of(address);
  if (cta == nullptr)
    throw Fault("shared address " + std::to_string(address) + " names CTA rank " +
                    std::to_string(address >> machine::kRankShift) + ", which the cluster does not have",
                lane);
  if (space == isa::Space::shared && cta != &context.cta)
    throw Fault("a shared::cta address that is another CTA's, of rank " + std::to_string(cta->rank), lane);
  if (!cta->alive())
    throw Fault(
        "an access to the shared memory of CTA rank " + std::to_string(cta->rank) + ", which has ended",
        lane);
  if (address % align != 0)
    throw Fault(
        "shared address " + std::to_string(address) + " is not a multiple of " + std::to_string(align), lane);
  if (!cta->shared.contains(address, size))
    throw Fault("out-of-bounds access of " + std::to_string(size) + " bytes at offset " +
                    std::to_string(address - cta->shared.base()) + " of shared memory, which has " +
                    std::to_string(cta->shared.size()) + " bytes" + beside_shared(*cta, address).text,
                lane);
  return {cta, address};
}

SharedPlace shared_place(const isa::AddressUse& use, uint32_t row, Context& context, int lane, uint64_t size,
                         uint64_t align, bool own) {
  const uint64_t address = use.narrow ? static_cast<uint32_t>(context.row<uint32_t>(row)[lane] + use.offset)
                                      : context.row<uint64_t>(row)[lane] + use.offset;
  const SharedPlace place = shared_place(context, lane, address, use.space, size, align);
  if (own && place.cta != &context.cta)
    throw Fault("this instruction takes shared memory of its own CTA, the address is in CTA rank " +
                    std::to_string(place.cta->rank),
                lane);
  return place;
}

}  // namespace bitwell::run
