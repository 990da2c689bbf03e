// tex on arrays of one to three dimensions, the nearest texel (PTX ISA 9.0, 9.7.11.3).
#include <bit>
#include <cmath>
#include <optional>

#include "model/isa/family/memory/image.h"
#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"
#include "model/run/port.h"

namespace bitwell::isa {
namespace {

using machine::Boundary;
using machine::kLanes;
using machine::Texture;
using machine::Unsupported;

struct TextureUse : ImageUse {
  bool whole_coordinates = false;  // .s32, else .f32
  char kind = 'f';                 // of the result: u, s, f
};

[[noreturn]] void refuse(const Texture& t, const std::string& what) {
  throw Unsupported("tex of '" + t.name + "': " + what);
}

// What nobody has measured on a device, or the manual leaves open.
void check_supported(const Texture& t, const TextureUse& use) {
  if (t.linear)
    refuse(t, "linear filtering, whose weights nobody has measured; \"filter\": \"nearest\" runs");
  if (t.normalized_coordinates)
    refuse(t, "normalized coordinates, whose rounding nobody has measured; unnormalized ones run");
  if (t.normalized_values)
    refuse(t,
           "whole numbers read as fractions, whose rounding nobody has measured; read as they are, they run");
  if (t.channel.kind != use.kind)
    refuse(t, "texels of " + std::string(t.channel.name) + " read as ." + use.kind + "32");
}

// The texel that a coordinate names in an array of `size`; none where the border is read.
std::optional<uint64_t> texel(const Texture& t, double place, size_t dimension, bool whole) {
  const uint64_t size = t.size[dimension];
  if (place >= 0 && place < static_cast<double>(size)) return static_cast<uint64_t>(place);
  const Boundary boundary = t.boundary[dimension];
  if (boundary == Boundary::border) return std::nullopt;
  if (whole)
    refuse(t, "the whole coordinate " + std::to_string(static_cast<int64_t>(place)) + " outside the array");
  // Wrapping and mirroring are for normalized coordinates: CUDA takes them as clamping here.
  return place < 0 ? 0 : size - 1;
}

// A channel as a register of 32 bits has it.
uint32_t widened(const Texture& t, const std::byte* from) {
  uint32_t bits = 0;
  std::memcpy(&bits, from, t.channel.bytes);
  if (t.channel.kind == 'u' || t.channel.bytes == 4) return bits;
  if (t.channel.kind == 's') {
    const int unused = 32 - 8 * static_cast<int>(t.channel.bytes);
    return static_cast<uint32_t>(static_cast<int32_t>(bits << unused) >> unused);
  }
  const number::Exact v = number::decode(number::f16, bits);
  if (v.is_nan()) refuse(t, "a NaN of f16, whose bits as f32 nobody has measured");
  return static_cast<uint32_t>(number::encode(
      number::f32, number::round(number::f32, v, number::Rounding::nearest_even, number::Overflow::ieee)));
}

// What one lane reads: channels that the array does not have stay unknown.
struct Fetched {
  std::array<uint32_t, 4> words{};
  std::array<bool, 4> known{};
};
Fetched fetch_one(const Op& op, const TextureUse& use, run::Context& context, int lane) {
  const Texture& t = object_of(op, use, context, lane, false);
  check_supported(t, use);
  uint64_t layer = 0;
  if (use.layered) {
    layer = context.row<uint32_t>((*op.sources)[use.layer])[lane];
    if (layer >= t.layers) refuse(t, "layer " + std::to_string(layer) + " of " + std::to_string(t.layers));
  }
  Fetched out;
  for (size_t i = 0; i < t.channels; ++i) out.known[i] = true;
  std::array<uint64_t, 3> at{};
  for (size_t i = 0; i < use.dimensions; ++i) {
    const uint32_t bits = context.row<uint32_t>((*op.sources)[use.coordinates + i])[lane];
    double place = static_cast<int32_t>(bits);
    if (!use.whole_coordinates) {
      place = std::floor(static_cast<double>(std::bit_cast<float>(bits)));
      if (std::isnan(place)) refuse(t, "a coordinate that is no number");
    }
    const std::optional<uint64_t> found = texel(t, place, i, use.whole_coordinates);
    if (!found) return out;
    at[i] = *found;
  }
  std::array<std::byte, 16> bytes{};
  std::array<uint8_t, 16> written{};
  // Past the coherent cache, as ld.global.nc (CUDA programming guide, "Read/Write Coherency").
  run::Port(context, lane, {machine::Semantics::weak, machine::Scope::cta, machine::Proxy::non_coherent})
      .read(texels_of(context, t, lane), t.address_of(at, layer), t.texel_bytes(), bytes.data(),
            written.data());
  for (size_t i = 0; i < t.channels; ++i) {
    out.words[i] = widened(t, bytes.data() + i * t.channel.bytes);
    out.known[i] = machine::all_written(written.data() + i * t.channel.bytes, t.channel.bytes);
  }
  return out;
}

Next fetch(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<TextureUse>();
  context.require_defined((*op.sources)[0], mask, "a texture's handle");
  if (use.layered) context.require_defined((*op.sources)[use.layer], mask, "a texture's layer");
  for (size_t i = 0; i < use.dimensions; ++i)
    context.require_defined((*op.sources)[use.coordinates + i], mask, "a texture's coordinate");
  // All that is read, before a destination that is a source changes it.
  std::array<Fetched, kLanes> fetched{};
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    fetched[static_cast<size_t>(lane)] = fetch_one(op, use, context, lane);
  }
  context.split().polls(false);
  context.cta.cluster.touch();
  for (size_t i = 0; i < op.results->size(); ++i) {
    const uint32_t row = (*op.results)[i];
    uint32_t known = 0;
    for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
      context.row<uint32_t>(row)[lane] = fetched[lane].words[i];
      known |= (fetched[lane].known[i] ? 1u : 0u) << lane;
    }
    context.set_known(row, mask, known);
  }
  return Next::advance;
}

void tex(Builder& b, const Match& m) {
  if (b.operand_count() > 2) throw Unsupported("'" + m.name + "' with an offset or a value to compare with");
  operands_left(b, m, 2);
  Op op = effect(fetch);
  auto& use = b.payload<TextureUse>(op);
  set_geometry(m.modifiers[0], use);
  const Type& result = b.type(m.modifiers[2]);
  use.kind = result.kind;
  use.whole_coordinates = m.modifiers[3] == ".s32";
  Operands operands(b, op);
  set_image(b, operands, b.operand(1), use.whole_coordinates ? ".s32" : ".f32", use);
  b.uses().touch({.space = Space::global, .reads = true});
  const ptx::Operand& d = b.operand(0);
  if (d.kind == ptx::OperandKind::pair)
    throw Unsupported("'" + m.name + "' that says whether the texels are resident");
  if (d.kind != ptx::OperandKind::vector || d.elements.size() != 4)
    throw Invalid("'" + m.name + "' needs a vector of 4 registers");
  op.results = b.new_list();
  ElementKinds kinds;
  bool any = false;
  for (const ptx::Operand& e : d.elements) {
    const Value v = b.destination(e, b.type(".b32"), false, true);
    kinds.add(e, v);
    any = any || e.name != "_";
    op.results->push_back(v.row);
  }
  if (!any) throw Invalid("'_' in all places of '" + m.name + "'");
  if (kinds.any_floating() && use.kind != 'f')
    throw Unsupported("'" + m.name + "' of whole numbers into registers of .f32");
  b.emit(op);
}

constexpr Form kTexture[] = {
    {"tex{.1d,.2d,.3d,.a1d,.a2d}.v4{.u32,.s32,.f32}{.s32,.f32}", "*", tex, 31, 0},
};

}  // namespace

std::span<const Form> texture_forms() { return kTexture; }

}  // namespace bitwell::isa
