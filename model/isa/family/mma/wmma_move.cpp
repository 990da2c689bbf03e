// wmma.load and wmma.store: each register by an ordinary load or store at an address that its lane works out
// (PTX ISA 9.0, 9.7.14.4.3 and 9.7.14.4.4).
#include <bit>
#include <cstdio>
#include <set>
#include <vector>

#include "model/isa/family/emit.h"
#include "model/isa/family/memory/memory.h"
#include "model/isa/family/mma/wmma_fragment.h"
#include "model/machine/failure.h"
#include "model/run/context.h"

namespace bitwell::isa {
namespace {

// What the matrix's rows in memory must stand at a multiple of: ptxas 13.0 takes ldmatrix for A and B of
// shared memory, one access for two accumulators that lie side by side, and drops what a row's stride has too
// much. An H200 faults, or gets other rows.
struct RowsUse : Payload {
  const char* name = "";  // of the instruction
  uint64_t bytes = 0, offset = 0;
  Space space = Space::generic;
};

// What ptxas makes of it, for sm_90a: read from its machine code, and a third of it asked of an H200.
uint64_t row_alignment(char operand, const std::string& shape, bool row, const WmmaFragment& f, Space space) {
  if (operand != 'c') {
    const bool along = (operand == 'a') == row;  // k
    const bool by_matrices = space == Space::shared && (f.bits == 16 || (f.bits == 8 && along));
    return by_matrices ? 16 : f.bits == 64 ? 8 : 4;
  }
  const bool side_by_side = row != (shape == ".m8n32k16");
  return f.bits == 16 ? 4 : side_by_side ? f.bits / 4 : f.bits / 8;
}

Next rows_here(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<RowsUse>();
  const uint32_t known = mask & context.known_at(op.a, mask) & context.known_at(op.b, mask);
  if (!context.checked || known == 0) return Next::advance;
  const int lane = std::countr_zero(known);
  const uint64_t address = context.row<uint64_t>(op.a)[lane] + use.offset;
  const uint64_t pitch = context.row<uint64_t>(op.b)[lane];
  if (address % use.bytes == 0 && pitch % use.bytes == 0) return Next::advance;
  char at[24];
  std::snprintf(at, sizeof at, "0x%llx", static_cast<unsigned long long>(address));
  throw machine::Fault("misaligned " + std::string(use.name) + ": its rows begin at " +
                           (use.space == Space::shared ? context.cta.cluster.shared_name(address) : at) +
                           " and are " + std::to_string(pitch) +
                           " bytes apart, and must stand at multiples of " + std::to_string(use.bytes) +
                           " bytes",
                       lane);
}

// A new 64-bit row: a * b + c.
uint32_t multiplied(Builder& b, uint32_t x, uint32_t y, uint32_t added) {
  Op op = lane_op("mad.lo.u64");
  op.a = x;
  op.b = y;
  op.c = added;
  op.d = b.new_row(64);
  b.emit(op);
  return op.d;
}

// The lane number shifted or masked, as a 64-bit row.
uint32_t lane_share(Builder& b, const char* operation, uint64_t by) {
  Op op = lane_op(operation);
  op.a = b.special_row(32, Special::laneid);
  op.b = b.constant_row(32, by);
  op.d = b.new_row(32);
  b.emit(op);
  Op wide = lane_op("cvt.u64.u32");
  wide.a = op.d;
  wide.d = b.new_row(64);
  b.emit(wide);
  return wide.d;
}

// Where a lane's first element stands, and the bytes from one row of memory to the next.
struct Start {
  uint32_t address, pitch;
};
Start start(Builder& b, const WmmaFragment& f, bool by_inner, uint32_t address, const ptx::Operand* stride,
            size_t usual_stride) {
  const uint32_t zero = b.constant_row(64, 0);
  uint32_t count = b.constant_row(64, usual_stride);
  if (stride != nullptr) {
    Op wide = lane_op("cvt.u64.u32");
    wide.a = b.source(*stride, b.type(".u32")).row;
    b.uses().as(Use::Take::address);
    count = wide.d = b.new_row(64);
    b.emit(wide);
  }
  const uint32_t pitch = multiplied(b, count, b.constant_row(64, f.bits / 8), zero);
  const uint32_t outer = lane_share(b, "shr.u32", static_cast<uint64_t>(std::countr_zero(f.lanes_inner)));
  const uint32_t inner = lane_share(b, "and.b32", f.lanes_inner - 1);
  const uint64_t step = f.operand == 'c' ? 2 : f.each();  // of the lane's share of inner, in elements
  const uint32_t inner_pitch =
      by_inner ? multiplied(b, pitch, b.constant_row(64, step), zero) : b.constant_row(64, step * f.bits / 8);
  const uint32_t outer_pitch = by_inner ? b.constant_row(64, f.bits / 8) : pitch;
  return {multiplied(b, inner, inner_pitch, multiplied(b, outer, outer_pitch, address)), pitch};
}

// load.{a,b,c} r, [p]{, stride}; store.d [p], r{, stride}
void move_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool loads = i.modifiers[0] == ".load";
  const std::string& type = i.modifiers.back();
  const bool row = ptx::has(i, ".row");
  const char operand = loads ? i.modifiers[1][1] : 'c';
  if (b.operand_count() != 2 && b.operand_count() != 3)
    throw Invalid("'" + m.name + "' takes 2 or 3 operands");
  const WmmaFragment f = wmma_fragment(operand, i.modifiers[5], row, type);
  const bool by_inner = operand == 'c' && !row;  // memory's rows are the matrix's columns
  if (by_inner && f.each() > 1) throw machine::Unsupported("'" + m.name + "': fp16 accumulators in columns");
  const ptx::Operand& registers = b.operand(loads ? 0 : 1);
  if (registers.kind != ptx::OperandKind::vector || registers.elements.size() != f.registers)
    throw Invalid("'" + m.name + "' needs a vector of " + std::to_string(f.registers) + " registers");

  Op first;
  AddressUse where;
  set_address(b, first, where, b.operand(loads ? 1 : 0), space_of(i));
  b.uses().touch_there({.space = where.space,
                        .reads = loads,
                        .writes = !loads,
                        .bytes = static_cast<uint32_t>(f.bits == 64 ? 8 : 4)});
  if (where.narrow) {
    Op wide = lane_op("cvt.u64.u32");
    wide.a = first.a;
    first.a = wide.d = b.new_row(64);
    b.emit(wide);
  }
  const Start at = start(b, f, by_inner, first.a, b.operand_count() == 3 ? &b.operand(2) : nullptr,
                         by_inner ? f.outer : f.inner);
  Op check = effect(rows_here);
  check.a = first.a;
  check.b = at.pitch;
  RowsUse rows;
  rows.name = loads ? "wmma.load" : "wmma.store";
  rows.bytes = row_alignment(operand, i.modifiers[5], row, f, where.space);
  rows.offset = where.offset;
  rows.space = where.space;
  b.payload(check, rows);
  b.emit(check);
  const Type& held = b.type(f.bits == 64     ? ".f64"
                            : type == ".f32" ? ".f32"
                            : type == ".f16" ? ".f16x2"
                            : operand == 'c' ? ".s32"
                                             : ".b32");
  std::vector<uint32_t> loaded;
  std::set<std::string> named;
  for (const ptx::Operand& element : registers.elements) named.insert(element.name);
  for (size_t r = 0; r < f.registers; ++r) {
    // Of a fragment that says everything twice, or four times, each is loaded once.
    if (loads && r >= f.distinct() && named.size() == f.registers) {
      Op copy = lane_op("mov.b32");
      copy.a = loaded[r % f.distinct()];
      copy.d = b.destination(registers.elements[r], held).row;
      b.emit(copy);
      continue;
    }
    const FragmentPlace place = f.place(0, r * f.each());
    const size_t strided = by_inner ? place.inner : place.outer;
    const size_t along = by_inner ? place.outer : place.inner;
    Op op = effect(loads ? load : store);
    RowUse use;
    use.space = where.space;
    use.order = {Semantics::weak, Scope::cta};
    use.size = use.register_bytes = f.bits == 64 ? 8 : 4;
    use.choose_moves();
    use.offset = where.offset + along * f.bits / 8;
    op.a = strided == 0 ? at.address : multiplied(b, at.pitch, b.constant_row(64, strided), at.address);
    const Value v = loads ? b.destination(registers.elements[r], held)
                          : b.source(registers.elements[r], held, false, false);
    if (held.name == ".b32" && v.type != nullptr && (v.type->kind == 'f' || v.type->kind == 'x'))
      throw Invalid("register '" + registers.elements[r].name + "' is " + std::string(v.type->name) +
                    " where .b32 is needed");
    (loads ? op.results : op.sources) = b.new_list();
    (loads ? op.results : op.sources)->push_back(v.row);
    loaded.push_back(v.row);
    b.payload(op, use);
    b.emit(op);
  }
}

#define SPACES "[.global,.shared,.shared::cta]"
#define OF(letter, shapes, types) "wmma.load." letter "|.sync.aligned{.row,.col}" shapes SPACES types
#define STORE(shapes, types) "wmma.store.d|.sync.aligned{.row,.col}" shapes SPACES types
#define K16 "{.m16n16k16,.m8n32k16,.m32n8k16}"
constexpr Form kWmmaMove[] = {
    {OF("a", K16, ".f16"), "*", move_form, 61, 70},
    {OF("b", K16, ".f16"), "*", move_form, 61, 70},
    {OF("c", K16, "{.f16,.f32}"), "*", move_form, 61, 70},
    {OF("a", K16, "{.u8,.s8}"), "*", move_form, 63, 72},
    {OF("b", K16, "{.u8,.s8}"), "*", move_form, 63, 72},
    {OF("c", K16, ".s32"), "*", move_form, 63, 72},
    {OF("a", K16, ".bf16"), "*", move_form, 70, 80},
    {OF("b", K16, ".bf16"), "*", move_form, 70, 80},
    {OF("a", ".m16n16k8", ".tf32"), "*", move_form, 70, 80},
    {OF("b", ".m16n16k8", ".tf32"), "*", move_form, 70, 80},
    {OF("c", ".m16n16k8", ".f32"), "*", move_form, 70, 80},
    {OF("a", ".m8n8k4", ".f64"), "*", move_form, 70, 80},
    {OF("b", ".m8n8k4", ".f64"), "*", move_form, 70, 80},
    {OF("c", ".m8n8k4", ".f64"), "*", move_form, 70, 80},
    {STORE(K16, "{.f16,.f32}"), "*", move_form, 61, 70},
    {STORE(K16, ".s32"), "*", move_form, 63, 72},
    {STORE(".m16n16k8", ".f32"), "*", move_form, 70, 80},
    {STORE(".m8n8k4", ".f64"), "*", move_form, 70, 80},
};
#undef SPACES
#undef OF
#undef STORE
#undef K16

}  // namespace

std::span<const Form> wmma_move_forms() { return kWmmaMove; }

}  // namespace bitwell::isa
