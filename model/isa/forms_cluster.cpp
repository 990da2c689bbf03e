// What a cluster adds: ranks of addresses, its barrier, and what only helps the hardware (PTX ISA 9.0,
// 9.7.9.23, 9.7.9.24, 9.7.13.4, 9.7.13.14, 9.7.19.5).
#include "model/isa/effects.h"
#include "model/isa/forms.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

// A shared::cluster or generic address: a register, or a shared variable by name.
uint32_t shared_operand(Builder& b, const ptx::Operand& o, const Type& type, bool generic) {
  if (const Builder::Variable* v = o.kind == ptx::OperandKind::name ? b.find_variable(o.name) : nullptr;
      v != nullptr) {
    if (v->space != Space::shared || generic)
      throw Invalid("variable '" + o.name + "' is not in that state space");
    return b.address_row(type.bits, *v, o.integer);
  }
  return b.source(o, type, false, false).row;
}

// mapa[.shared::cluster].type d, a, rank; getctarank[.shared::cluster].type d, a
void mapping(Builder& b, const Match& m) {
  const bool maps = b.instruction().opcode == "mapa";
  const Type& type = b.type(b.instruction().modifiers.back());
  if (b.operand_count() != (maps ? 3 : 2))
    throw Invalid("'" + m.name + "' takes " + (maps ? "3" : "2") + " operands");
  const bool generic = m.choice[0].empty();
  if (generic && type.bits != 64) throw machine::Unsupported("'" + m.name + "': a 32-bit generic address");
  Op op;
  op.kind = OpKind::effect;
  op.effect = maps ? map_address : address_rank;
  op.size = static_cast<uint16_t>(type.bits / 8);
  op.d = b.destination(b.operand(0), maps ? type : b.type(".u32")).row;
  op.a = shared_operand(b, b.operand(1), type, generic);
  op.imm = generic ? 1 : 0;
  if (maps) op.b = b.source(b.operand(2), b.type(".u32")).row;
  b.emit(op);
}

void barrier_cluster(Builder& b, const Match&) {
  Op op;
  op.kind = OpKind::effect;
  op.effect = b.instruction().modifiers[1] == ".arrive" ? cluster_arrive : cluster_wait;
  op.imm = has(b.instruction(), ".aligned") ? 1 : 0;
  b.emit(op);
}

// setmaxnreg: registers are not a resource here; the count is checked, and that a warpgroup's warps agree.
void registers(Builder& b, const Match&) {
  if (b.operand_count() != 1) throw Invalid("'setmaxnreg' takes 1 operand");
  const uint64_t count = b.constant(b.operand(0));
  if (count < 24 || count > 256 || count % 8 != 0)
    throw Invalid("setmaxnreg " + std::to_string(count) + ", it must be a multiple of 8 from 24 to 256");
  Op op;
  op.kind = OpKind::effect;
  op.effect = set_max_registers;
  op.imm = count;
  b.emit(op);
}

void hint(Builder& b, const Match&) {
  Op op;
  op.kind = OpKind::effect;
  op.effect = nothing;
  b.emit(op);
}

constexpr Form kCluster[] = {
    {"mapa[.shared::cluster]{.u32,.u64}", "*", mapping, 78, 90},
    {"getctarank[.shared::cluster]{.u32,.u64}", "*", mapping, 78, 90},
    {"barrier.cluster.arrive[.release,.relaxed][.aligned]", "", barrier_cluster, 78, 90},
    {"barrier.cluster.wait[.acquire][.aligned]", "", barrier_cluster, 78, 90},
    {"setmaxnreg{.inc,.dec}.sync.aligned.u32", "*", registers, 80, 90, "a"},
    {"griddepcontrol{.launch_dependents,.wait}", "", hint, 78, 90},
};

}  // namespace

std::span<const Form> cluster_forms() { return kCluster; }

}  // namespace bitwell::isa
