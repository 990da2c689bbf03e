// Tensor maps that a kernel changes, and their fences (PTX ISA 9.0, 9.7.9.28 and 9.7.13.16).
#include <cstring>
#include <map>

#include "model/isa/family/copy/transfer_reader.h"
#include "model/isa/family/memory/memory.h"
#include "model/isa/family/operands.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "model/run/port.h"
#include "model/run/turns/synchronised.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Region;

namespace {

struct ReplaceUse : Payload {
  AddressOperand to;
  machine::TensorMapField field{};
  uint32_t ordinal = 0;
  size_t value = 0;    // source
  uint32_t bytes = 0;  // of the value
};
struct CopyUse : Payload {
  AddressOperand to, from;
  Order order;
};
struct AcquireUse : FenceUse {
  AddressOperand map;
};

constexpr uint64_t kMapBytes = 128;
constexpr uint64_t kMapAlignment = 64;  // of CUtensorMap

// 128 bytes that an address names.
struct MapPlace {
  Region* region;
  uint64_t address;
};

// What stands there, and which of it was written.
struct MapContent {
  machine::TensorMapBytes bytes;
  std::array<uint8_t, kMapBytes> defined;
};

// Whether all that copies read was written.
bool read_map(const run::Port& port, const MapPlace& from, MapContent& map) {
  port.read(*from.region, from.address, kMapBytes, map.bytes.data(), map.defined.data());
  const bool known = machine::all_written(map.defined.data(), machine::kMapBytesRead);
  if (!known && port.follow() != nullptr) port.follow()->used_here("a tensor map");
  return known || port.follow() != nullptr;
}

MapPlace map_place(const TransferReader& r, run::Context& context, const AddressOperand& a, bool writes,
                   int lane) {
  const uint64_t address = r.address(a);
  if (address % kMapAlignment != 0)
    throw Fault("a tensor map at address " + std::to_string(address) + ", not a multiple of 64", lane);
  const bool shared = a.space == Space::shared ||
                      (a.space == Space::generic && address - machine::kSharedWindow < machine::kWindowSize);
  if (shared) {
    const run::SharedPlace place = r.shared(a, kMapBytes, kMapAlignment);
    if (context.cta.mbarriers.overlapping(place.address, kMapBytes) != nullptr)
      throw Fault("a tensor map over an mbarrier, which is live", lane);
    return {&place.cta->shared, place.address};
  }
  Region* region = r.global(address, kMapBytes, "a tensor map");
  if (writes && region->read_only)
    throw Fault("a tensor map is written to '" + region->name() + "', which is read-only", lane);
  return {region, address};
}

void replace_field(const Op& op, run::Context& context, int lane) {
  const auto& t = op.as<ReplaceUse>();
  const TransferReader r(op, context, lane);
  const MapPlace place = map_place(r, context, t.to, true, lane);
  const run::Port port(context, lane, {});
  MapContent map;
  if (!read_map(port, place, map))
    throw Fault("there is no tensor map at this address whose field could be replaced", lane);
  uint64_t value = 0;
  std::memcpy(&value, r.bytes(t.value, t.bytes), t.bytes);
  // A buffer's address counts from its place in global memory, as everywhere.
  const machine::TensorMapBytes before = map.bytes;
  try {
    machine::replace(map.bytes, t.field, t.ordinal, value);
  } catch (const machine::InputError& e) {
    throw Fault(e.what(), lane);
  }
  for (size_t i = 0; i < kMapBytes; ++i)
    if (i < machine::kMapBytesRead || map.bytes[i] != before[i]) map.defined[i] = machine::kWritten;
  port.write(*place.region, place.address, kMapBytes, map.bytes.data(), map.defined.data());
}

Next replace_tensor_map(const Op& op, run::Context& context, uint32_t mask) {
  require_sources(op, context, mask);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1)
    replace_field(op, context, __builtin_ctz(lanes));
  return Next::advance;
}

// The warp does it, once for all lanes that name the same two places: they have met there.
Next copy_tensor_map(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  require_sources(op, context, mask);
  const auto& t = op.as<CopyUse>();
  for (uint32_t rest = mask; rest != 0;) {
    const int lane = __builtin_ctz(rest);
    const TransferReader r(op, context, lane);
    for (uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
      const TransferReader other(op, context, __builtin_ctz(lanes));
      if (other.address(t.from) == r.address(t.from) && other.address(t.to) == r.address(t.to))
        rest &= ~(lanes & -lanes);
    }
    const MapPlace from = map_place(r, context, t.from, false, lane);
    const MapPlace to = map_place(r, context, t.to, true, lane);
    MapContent map;
    if (!read_map(run::Port(context, lane, mask, {}), from, map))
      throw Fault("a tensor map is copied that was never written", lane);
    run::Port(context, lane, mask, t.order)
        .write(*to.region, to.address, kMapBytes, map.bytes.data(), map.defined.data());
  }
  run::tell_synchronised(machine::Synchronisation::Kind::fence, context.cta, context.warp, context.split(),
                         mask, 0, t.order);
  return Next::advance;
}

// tensormap.replace.tile.FIELD[.space].b1024.type [map], [ordinal,] value
void replace(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(replace_tensor_map);
  ReplaceUse* t = &b.payload<ReplaceUse>(op);
  Operands operands(b, op);
  t->to = operands.address(b.operand(0), space_of(i));
  b.uses().touch_there({.space = space_of(i), .reads = true, .writes = true, .bytes = 128});
  const std::string name = i.modifiers[2].substr(1);
  uint32_t field = 0;
  while (machine::kTensorMapFields[field] != name) ++field;
  const bool ordinal = name.ends_with("_dim") || name.ends_with("_stride");
  operands_left(b, m, ordinal ? 3 : 2);
  t->field = static_cast<machine::TensorMapField>(field);
  if (ordinal) {
    const uint64_t n = b.constant(b.operand(1));
    if (n > 4)
      throw Invalid("ordinal " + std::to_string(n) + " of a tensor map's " + name + ", it is 0 to 4");
    t->ordinal = static_cast<uint32_t>(n);
  }
  const ptx::Operand& value = b.operand(ordinal ? 2 : 1);
  const bool enumerated = field >= static_cast<uint32_t>(machine::TensorMapField::elemtype);
  if (enumerated) {
    b.constant(value);  // refuses registers
    const std::map<std::string_view, uint64_t> most{{"elemtype", b.sm() >= 100 ? 15 : 12},
                                                    {"interleave_layout", 2},
                                                    {"swizzle_mode", 3},
                                                    {"fill_mode", 1}};
    need_range(value, 0, most.at(name), 1, name.c_str());
  }
  const std::string& type = i.modifiers.back();
  t->bytes = type == ".b64" ? 8 : 4;
  t->value = operands.value(value, type.c_str());
  b.emit(op);
}

// tensormap.cp_fenceproxy... [global], [shared], 128
void copy(Builder& b, const Match& m) {
  operands_left(b, m, 3);
  if (b.constant(b.operand(2)) != 128) throw Invalid("'" + m.name + "' copies 128 bytes, nothing else");
  Op op = effect(copy_tensor_map);
  CopyUse* t = &b.payload<CopyUse>(op);
  t->order = order_of(b.instruction());
  t->order.proxy = Proxy::tensor_map;
  Operands operands(b, op);
  t->to = operands.address(b.operand(0), Space::global);
  b.uses().touch_there({.space = Space::global, .writes = true, .bytes = 128});
  t->from = operands.address(b.operand(1), Space::shared);
  b.uses().touch_there({.space = Space::shared, .reads = true, .bytes = 128});
  b.emit(op);
}

// Memory is one here: fences order nothing that this machine could show otherwise. Who watches is told.
Next release_maps(const Op& op, run::Context& context, uint32_t mask) {
  run::tell_synchronised(machine::Synchronisation::Kind::fence, context.cta, context.warp, context.split(),
                         mask, 0, op.as<FenceUse>().order);
  return Next::advance;
}

Next acquire_map(const Op& op, run::Context& context, uint32_t mask) {
  const auto& t = op.as<AcquireUse>();
  context.require_defined(op.sources->front(), mask, "the address of a tensor map");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    run::tell_synchronised(machine::Synchronisation::Kind::fence, context.cta, context.warp, context.split(),
                           1u << lane, TransferReader(op, context, lane).address(t.map), t.order);
  }
  return Next::advance;
}

// fence.proxy.tensormap::generic.acquire.scope [map], 128, and .release without operands
void fence(Builder& b, const Match& m) {
  Order order = order_of(b.instruction());
  order.proxy = Proxy::tensor_map;
  if (!ptx::has(b.instruction(), ".acquire")) {
    Op op = effect_without_memory(b, release_maps);
    b.payload<FenceUse>(op).order = order;
    b.emit(op);
    return;
  }
  operands_left(b, m, 2);
  if (b.constant(b.operand(1)) != 128) throw Invalid("'" + m.name + "' takes a size of 128, nothing else");
  Op op = effect_without_memory(b, acquire_map);
  auto& use = b.payload<AcquireUse>(op);
  use.order = order;
  Operands operands(b, op);
  use.map = operands.address(b.operand(0), Space::generic);
  b.emit(op);
}

#define SPACE "[.global,.shared::cta]"
#define SCOPES "{.cta,.cluster,.gpu,.sys}"
constexpr Form kTensorMap[] = {
    {"tensormap.replace|.tile.global_address" SPACE ".b1024.b64", "*", replace, 83, 90, "a"},
    {"tensormap.replace|.tile.rank" SPACE ".b1024.b32", "*", replace, 83, 90, "a"},
    {"tensormap.replace|.tile{.box_dim,.global_dim,.element_stride}" SPACE ".b1024.b32", "*", replace, 83, 90,
     "a"},
    {"tensormap.replace|.tile.global_stride" SPACE ".b1024.b64", "*", replace, 83, 90, "a"},
    {"tensormap.replace|.tile{.elemtype,.interleave_layout,.swizzle_mode,.fill_mode}" SPACE ".b1024.b32", "*",
     replace, 83, 90, "a"},
    {"tensormap.cp_fenceproxy|.global.shared::cta.tensormap::generic.release" SCOPES ".sync.aligned", "*",
     copy, 83, 90},
    {"fence.proxy|.tensormap::generic.release" SCOPES, "", fence, 83, 90},
    {"fence.proxy|.tensormap::generic.acquire" SCOPES, "*", fence, 83, 90},
};
#undef SPACE
#undef SCOPES

}  // namespace

std::span<const Form> tensor_map_forms() { return kTensorMap; }

}  // namespace bitwell::isa
