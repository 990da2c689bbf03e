// tensormap.replace and tensormap.cp_fenceproxy: tensor maps that a kernel changes.
#include <cstring>

#include "model/isa/effects.h"
#include "model/isa/transfer_reader.h"
#include "model/machine/tensor_map.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Region;

namespace {

constexpr uint64_t kMapBytes = 128;
constexpr uint64_t kMapAlignment = 64;  // of CUtensorMap

// 128 bytes that an address names, and which of them were written.
struct MapPlace {
  Region* region;
  uint64_t offset;
  std::byte* bytes() const { return region->data() + offset; }
};

MapPlace map_place(const TransferReader& r, Context& context, const AddressOperand& a, bool writes,
                   int lane) {
  const uint64_t address = r.address(a);
  if (address % kMapAlignment != 0)
    throw Fault("a tensor map at address " + std::to_string(address) + ", not a multiple of 64", lane);
  const bool shared = a.space == Space::shared ||
                      (a.space == Space::generic && address - machine::kSharedWindow < machine::kWindowSize);
  if (shared) {
    const SharedPlace place = r.shared(a, kMapBytes, kMapAlignment);
    if (context.cta.mbarriers.overlapping(place.address, kMapBytes) != nullptr)
      throw Fault("a tensor map over an mbarrier, which is live", lane);
    return {&place.cta->shared, place.address - place.cta->shared.base()};
  }
  Region* region = r.global(address, kMapBytes, "a tensor map");
  if (writes && region->read_only)
    throw Fault("a tensor map is written to '" + region->name() + "', which is read-only", lane);
  return {region, address - region->base()};
}

void replace_field(const Op& op, Context& context, int lane) {
  const Transfer& t = *reinterpret_cast<const Transfer*>(op.imm);
  const TransferReader r(op, context, lane);
  const MapPlace place = map_place(r, context, t.to, true, lane);
  auto map = machine::decode_tensor_map({place.bytes(), kMapBytes});
  if (!map || !place.region->is_defined(place.offset, kMapBytes))
    throw Fault("there is no tensor map at this address whose field could be replaced", lane);
  uint64_t value = 0;
  std::memcpy(&value, r.bytes(t.size, op.size), op.size);
  const auto field = static_cast<machine::TensorMapField>(op.target & 0xFF);
  // A buffer's address counts from its place in global memory, as everywhere.
  try {
    machine::replace(*map, field, op.target >> 8, value);
  } catch (const machine::InputError& e) {
    throw Fault(e.what(), lane);
  }
  const machine::TensorMapBytes bytes = machine::encode(*map);
  std::memcpy(place.bytes(), bytes.data(), bytes.size());
}

}  // namespace

Next replace_tensor_map(const Op& op, Context& context, uint32_t mask) {
  require_sources(op, context, mask);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1)
    replace_field(op, context, __builtin_ctz(lanes));
  return Next::advance;
}

Next copy_tensor_map(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  require_sources(op, context, mask);
  const Transfer& t = *reinterpret_cast<const Transfer*>(op.imm);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const TransferReader r(op, context, lane);
    const MapPlace from = map_place(r, context, t.from, false, lane);
    const MapPlace to = map_place(r, context, t.to, true, lane);
    if (!from.region->is_defined(from.offset, kMapBytes))
      throw Fault("a tensor map is copied that was never written", lane);
    std::memcpy(to.bytes(), from.bytes(), kMapBytes);
    to.region->mark_defined(to.offset, kMapBytes);
  }
  return Next::advance;
}

}  // namespace bitwell::isa
