// suld and sust of bytes on arrays of one to three dimensions (PTX ISA 9.0, 9.7.11.5 and 9.7.11.6).
#include <algorithm>
#include <optional>

#include "model/isa/family/memory/image.h"
#include "model/run/port.h"

namespace bitwell::isa {
namespace {

using machine::Fault;
using machine::kLanes;
using machine::Texture;

struct SurfaceUse : ImageUse {
  uint32_t bytes = 0;  // of an element
  uint32_t count = 1;
  uint32_t register_bytes = 0;
  char outside = 't';  // .trap, .clamp, .zero
  size_t values = 0;   // source of the first element that is stored
  const char* name = "suld";
};

// The first byte that a lane reaches, or none, where it reaches nothing.
std::optional<uint64_t> address_of(const Op& op, const SurfaceUse& use, run::Context& context,
                                   const Texture& t, int lane) {
  const auto source = [&](size_t n) { return context.row<uint32_t>((*op.sources)[n])[lane]; };
  const auto trap = [&](const std::string& what) {
    throw Fault(std::string(use.name) + " outside '" + t.name + "': " + what, lane);
  };
  const uint64_t layer = use.layered ? source(use.layer) : 0;
  if (use.layered && layer >= t.layers) {
    if (use.outside == 't') trap("layer " + std::to_string(layer) + " of " + std::to_string(t.layers));
    throw machine::Unsupported(std::string(use.name) + " of a layer that '" + t.name + "' does not have");
  }
  const int64_t size = int64_t{use.bytes} * use.count;
  const auto row = static_cast<int64_t>(t.size[0] * t.texel_bytes());
  std::array<uint64_t, 3> at{};
  int64_t x = static_cast<int32_t>(source(use.coordinates));
  if (x % size != 0)
    throw Fault("misaligned " + std::string(use.name) + " of " + std::to_string(size) + " bytes at byte " +
                    std::to_string(x) + " of a row of '" + t.name + "'",
                lane);
  for (size_t i = 0; i < use.dimensions; ++i) {
    const int64_t place = static_cast<int32_t>(source(use.coordinates + i));
    const int64_t last = i == 0 ? row - size : static_cast<int64_t>(t.size[i]) - 1;
    const int64_t inside = std::clamp(place, int64_t{0}, std::max(last, int64_t{0}));
    if (place < 0 || place > last) {
      if (use.outside == 't')
        trap(std::string(i == 0 ? "byte " : "row or slice ") + std::to_string(place) + " of " +
             std::to_string(i == 0 ? row : static_cast<int64_t>(t.size[i])));
      if (use.outside == 'z') return std::nullopt;
      if (i == 0 && row % size != 0)
        throw machine::Unsupported(std::string(use.name) + ".clamp of " + std::to_string(size) +
                                   " bytes at the end of rows of " + std::to_string(row));
    }
    if (i == 0)
      x = inside;
    else
      at[i] = static_cast<uint64_t>(inside);
  }
  return t.address_of(at, layer) + static_cast<uint64_t>(x);
}

void require_place(const Op& op, const SurfaceUse& use, run::Context& context, uint32_t mask) {
  context.require_defined((*op.sources)[0], mask, "a surface's handle");
  if (use.layered) context.require_defined((*op.sources)[use.layer], mask, "a surface's layer");
  for (size_t i = 0; i < use.dimensions; ++i)
    context.require_defined((*op.sources)[use.coordinates + i], mask, "a surface's coordinate");
}

Next load_surface(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<SurfaceUse>();
  require_place(op, use, context, mask);
  // All that is read, before a destination that is a source changes it.
  std::array<std::array<std::byte, 16>, kLanes> bytes{};
  std::array<std::array<uint8_t, 16>, kLanes> written{};
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const auto n = static_cast<size_t>(lane);
    const Texture& t = object_of(op, use, context, lane, true);
    const std::optional<uint64_t> at = address_of(op, use, context, t, lane);
    if (at)
      run::Port(context, lane, {})
          .read(texels_of(context, t, lane), *at, uint64_t{use.bytes} * use.count, bytes[n].data(),
                written[n].data());
    else
      written[n].fill(machine::kWritten);
  }
  context.split().polls(false);
  context.cta.cluster.touch();
  for (size_t i = 0; i < use.count; ++i) {
    const uint32_t row = (*op.results)[i];
    uint32_t known = 0;
    for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
      uint64_t value = 0;
      std::memcpy(&value, bytes[lane].data() + i * use.bytes, use.bytes);
      std::memcpy(context.rows() + row + lane * use.register_bytes, &value, use.register_bytes);
      if (machine::all_written(written[lane].data() + i * use.bytes, use.bytes)) known |= 1u << lane;
    }
    context.set_known(row, mask, known);
  }
  return Next::advance;
}

Next store_surface(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<SurfaceUse>();
  require_place(op, use, context, mask);
  for (size_t i = 0; i < use.count; ++i)
    context.require_defined((*op.sources)[use.values + i], mask, "what is stored into a surface");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const Texture& t = object_of(op, use, context, lane, true);
    const std::optional<uint64_t> at = address_of(op, use, context, t, lane);
    if (!at) continue;
    machine::Region& to = texels_of(context, t, lane);
    if (to.read_only) throw Fault("write to '" + to.name() + "', which is read-only", lane);
    std::array<std::byte, 16> bytes{};
    for (size_t i = 0; i < use.count; ++i)
      std::memcpy(
          bytes.data() + i * use.bytes,
          context.rows() + (*op.sources)[use.values + i] + static_cast<size_t>(lane) * use.register_bytes,
          use.bytes);
    run::Port(context, lane, {}).write(to, *at, uint64_t{use.bytes} * use.count, bytes.data());
  }
  context.cta.cluster.change();
  context.cta.cluster.touch();
  return Next::advance;
}

// Its registers are all of one size, the type's or more.
std::vector<uint32_t> registers(Builder& b, const Match& m, const ptx::Operand& list, const Type& type,
                                bool stores, SurfaceUse& use) {
  std::vector<const ptx::Operand*> given;
  if (list.kind == ptx::OperandKind::vector)
    for (const ptx::Operand& e : list.elements) given.push_back(&e);
  else
    given.push_back(&list);
  if (use.count == 1 && (given.size() == 2 || given.size() == 4))
    throw machine::Unsupported("'" + m.name + "' of one element with a vector of more");
  if (given.size() != use.count)
    throw Invalid("'" + m.name + "' needs " + std::to_string(use.count) + " registers");
  std::vector<uint32_t> out;
  int bits = 0;
  ElementKinds kinds;
  bool any = false;
  for (const ptx::Operand* e : given) {
    if (e->kind == ptx::OperandKind::floating)
      throw machine::Unsupported("'" + m.name + "' of a floating-point constant");
    any = any || e->name != "_";
    const Value v = stores ? b.source(*e, type, true) : b.destination(*e, type, true, use.count > 1);
    const int have = v.type != nullptr ? std::max(v.type->bits, 16) : stores ? std::max(type.bits, 16) : 0;
    if (bits != 0 && have != 0 && have != bits)
      throw machine::Unsupported("'" + m.name + "' of registers of different sizes");
    if (have != 0) bits = have;
    kinds.add(*e, v);
    out.push_back(v.row);
  }
  if (!any) throw Invalid("'_' in all places of '" + m.name + "'");
  if (!stores)
    for (const uint32_t row : out) b.widen(row, bits);  // `_` is written as its neighbours are
  use.register_bytes = static_cast<uint32_t>(bits / 8);
  return out;
}

void surface(Builder& b, const Match& m) {
  operands_left(b, m, 2);
  const ptx::Instruction& i = b.instruction();
  const bool stores = i.opcode == "sust";
  Op op = effect(stores ? store_surface : load_surface);
  auto& use = b.payload<SurfaceUse>(op);
  use.name = stores ? "sust" : "suld";
  use.outside = ptx::has(i, ".trap") ? 't' : ptx::has(i, ".clamp") ? 'c' : 'z';
  use.count = ptx::has(i, ".v4") ? 4 : ptx::has(i, ".v2") ? 2 : 1;
  const Type* type = nullptr;
  for (const char* name : {".b8", ".b16", ".b32", ".b64"})
    if (ptx::has(i, name)) type = &b.type(name);
  use.bytes = static_cast<uint32_t>(type->bits / 8);
  if (use.bytes * use.count > 16) throw Invalid("a vector of more than 128 bits");
  for (const char* geometry : {".1d", ".2d", ".3d", ".a1d", ".a2d"})
    if (ptx::has(i, geometry)) set_geometry(geometry, use);
  Operands operands(b, op);
  set_image(b, operands, b.operand(stores ? 0 : 1), ".s32", use);
  b.uses().touch({.space = Space::global, .reads = !stores, .writes = stores});
  const std::vector<uint32_t> rows = registers(b, m, b.operand(stores ? 1 : 0), *type, stores, use);
  if (stores) {
    for (const uint32_t row : rows) {
      const size_t at = operands.add(row);
      if (row == rows.front() && use.values == 0) use.values = at;
    }
  } else {
    op.results = b.new_list();
    *op.results = rows;
  }
  b.emit(op);
}

constexpr Form kSurface[] = {
    {"suld.b|{.1d,.2d,.3d,.a1d,.a2d}[.ca,.cg,.cs,.cv][.v2,.v4]{.b8,.b16,.b32,.b64}{.trap,.clamp,.zero}", "*",
     surface, 30, 20},
    {"sust.b|{.1d,.2d,.3d,.a1d,.a2d}[.wb,.cg,.cs,.wt][.v2,.v4]{.b8,.b16,.b32,.b64}{.trap,.clamp,.zero}", "*",
     surface, 30, 20},
};

}  // namespace

std::span<const Form> surface_forms() { return kSurface; }

}  // namespace bitwell::isa
