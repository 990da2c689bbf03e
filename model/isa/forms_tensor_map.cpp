// Tensor maps that a kernel changes, and their fences (PTX ISA 9.0, 9.7.9.28 and 9.7.13.16).
#include "model/isa/effects.h"
#include "model/isa/forms.h"
#include "model/isa/operands.h"
#include "model/machine/tensor_map.h"

namespace bitwell::isa {
namespace {

// tensormap.replace.tile.FIELD[.space].b1024.type [map], [ordinal,] value
void replace(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(replace_tensor_map);
  Transfer* t = b.new_transfer();
  op.imm = reinterpret_cast<uint64_t>(t);
  Operands operands(b, op);
  t->to = operands.address(b.operand(0), space_of(i));
  const std::string name = i.modifiers[2].substr(1);
  uint32_t field = 0;
  while (machine::kTensorMapFields[field] != name) ++field;
  const bool ordinal = name.ends_with("_dim") || name.ends_with("_stride");
  operands_left(b, m, ordinal ? 3 : 2);
  op.target = field;
  if (ordinal) {
    const uint64_t n = b.constant(b.operand(1));
    if (n > 4)
      throw Invalid("ordinal " + std::to_string(n) + " of a tensor map's " + name + ", it is 0 to 4");
    op.target |= static_cast<uint32_t>(n) << 8;
  }
  const ptx::Operand& value = b.operand(ordinal ? 2 : 1);
  const bool enumerated = field >= static_cast<uint32_t>(machine::TensorMapField::elemtype);
  if (enumerated) b.constant(value);  // refuses registers
  const std::string& type = i.modifiers.back();
  op.size = type == ".b64" ? 8 : 4;
  t->size = operands.value(value, type.c_str());
  b.emit(op);
}

// tensormap.cp_fenceproxy... [global], [shared], 128
void copy(Builder& b, const Match& m) {
  operands_left(b, m, 3);
  if (b.constant(b.operand(2)) != 128) throw Invalid("'" + m.name + "' copies 128 bytes, nothing else");
  Op op = effect(copy_tensor_map);
  Transfer* t = b.new_transfer();
  op.imm = reinterpret_cast<uint64_t>(t);
  Operands operands(b, op);
  t->to = operands.address(b.operand(0), Space::global);
  t->from = operands.address(b.operand(1), Space::shared);
  b.emit(op);
}

// Memory is one here: fences order nothing that this machine could show otherwise.
void fence(Builder& b, const Match& m) {
  if (has(b.instruction(), ".acquire")) {
    operands_left(b, m, 2);
    b.address(b.operand(0), Space::generic);
    if (b.constant(b.operand(1)) != 128) throw Invalid("'" + m.name + "' takes a size of 128, nothing else");
  }
  b.emit(effect(nothing));
}

#define SPACE "[.global,.shared::cta]"
#define SCOPES "{.cta,.cluster,.gpu,.sys}"
constexpr Form kTensorMap[] = {
    {"tensormap.replace.tile.global_address" SPACE ".b1024.b64", "*", replace, 83, 90, "a"},
    {"tensormap.replace.tile.rank" SPACE ".b1024.b32", "*", replace, 83, 90, "a"},
    {"tensormap.replace.tile{.box_dim,.global_dim,.element_stride}" SPACE ".b1024.b32", "*", replace, 83, 90,
     "a"},
    {"tensormap.replace.tile.global_stride" SPACE ".b1024.b64", "*", replace, 83, 90, "a"},
    {"tensormap.replace.tile{.elemtype,.interleave_layout,.swizzle_mode,.fill_mode}" SPACE ".b1024.b32", "*",
     replace, 83, 90, "a"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release" SCOPES ".sync.aligned", "*",
     copy, 83, 90},
    {"fence.proxy.tensormap::generic.release" SCOPES, "", fence, 83, 90},
    {"fence.proxy.tensormap::generic.acquire" SCOPES, "*", fence, 83, 90},
};

}  // namespace

std::span<const Form> tensor_map_forms() { return kTensorMap; }

}  // namespace bitwell::isa
