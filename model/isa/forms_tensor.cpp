// Tensor-core instructions (PTX ISA 9.0, 9.7.14 and 9.7.15).
#include <charconv>
#include <set>

#include "model/isa/effects.h"
#include "model/isa/forms.h"
#include "model/isa/tensor.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

const number::Format& format_of(std::string_view type) {
  for (const number::Format* f : number::formats)
    if (f->name == type.substr(1)) return *f;
  throw machine::ModelBug("tensor-core type " + std::string(type));
}

// The number after `letter` in a shape such as ".m16n8k32".
size_t extent(std::string_view shape, char letter) {
  size_t value = 0;
  const char* first = shape.data() + shape.find(letter, 2) + 1;
  std::from_chars(first, shape.data() + shape.size(), value);
  return value;
}

// The registers of an operand's vector, each holding elements of `format`. ptxas wants .f16x2 or .b32 for
// fp16, .f32 or .b32 for fp32, .b32 as the first register for the others, but lets fp8 of mma.sync stand in
// anything of 32 bits.
void registers(Builder& b, const ptx::Operand& o, size_t count, const number::Format& format,
               const char* what, std::vector<uint32_t>& out) {
  if (o.kind != ptx::OperandKind::vector || o.elements.size() != count)
    throw Invalid(std::string(what) + " must be a vector of " + std::to_string(count) + " registers");
  const bool wgmma = b.instruction().opcode == "wgmma";
  const bool loose = format.bits == 8 && !wgmma;
  const bool destination = what[0] == 'D';
  const Type& type = b.type(&format == &number::f32 ? ".f32" : &format == &number::f16 ? ".f16x2" : ".b32");
  for (const ptx::Operand& e : o.elements) {
    const Value v = destination ? b.destination(e, type, false, wgmma) : b.source(e, type, false, loose);
    if (out.empty() && type.kind == 'b' && !loose && v.type != nullptr && v.type->kind != 'b')
      throw Invalid("register '" + e.name + "' is " + std::string(v.type->name) + " where .b32 is needed");
    out.push_back(v.row);
  }
}

// The same appended to a list that holds other operands.
void append(Builder& b, const ptx::Operand& o, size_t count, const number::Format& format, const char* what,
            std::vector<uint32_t>& out) {
  std::vector<uint32_t> own;
  registers(b, o, count, format, what, own);
  out.insert(out.end(), own.begin(), own.end());
}

// mma.sync d, a, b, c
void mma_form(Builder& b, const Match& m) {
  if (b.operand_count() != 4) throw Invalid("'" + m.name + "' takes 4 operands");
  const auto& modifiers = b.instruction().modifiers;  // .sync .aligned shape .row .col D A B C
  Mma* mma = b.new_mma();
  mma->input = &format_of(modifiers[6]);
  mma->rule = &dot_rule(b.sm(), "mma.sync", *mma->input, format_of(modifiers[5]));
  mma->n = extent(modifiers[2], 'n');
  mma->k = extent(modifiers[2], 'k');
  Op op;
  op.kind = OpKind::effect;
  op.effect = mma_sync;
  op.imm = reinterpret_cast<uint64_t>(mma);
  op.results = b.new_list();
  op.sources = b.new_list();  // A, B, C
  const number::Format& d = *mma->rule->output;
  registers(b, b.operand(0), mma->d_registers(), d, "D", *op.results);
  append(b, b.operand(1), mma->a_registers(), *mma->input, "A", *op.sources);
  append(b, b.operand(2), mma->b_registers(), *mma->input, "B", *op.sources);
  append(b, b.operand(3), mma->d_registers(), d, "C", *op.sources);
  b.emit(op);
}

// An immediate that must be one of two values.
bool choice(const Builder& b, size_t operand, uint64_t no, uint64_t yes, const char* what) {
  const uint64_t value = b.constant(b.operand(operand));
  if (value != no && value != yes)
    throw Invalid(std::string(what) + " is " + std::to_string(static_cast<int64_t>(value)) + ", it must be " +
                  std::to_string(static_cast<int64_t>(no)) + " or " +
                  std::to_string(static_cast<int64_t>(yes)));
  return value == yes;
}

// wgmma.mma_async d, a | a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b[, imm-trans-a][, imm-trans-b]
void wgmma_form(Builder& b, const Match& m) {
  const auto& modifiers = b.instruction().modifiers;  // .mma_async .sync .aligned shape D A B
  Mma* mma = b.new_mma();
  mma->input = &format_of(modifiers[5]);
  if (modifiers[5] != modifiers[6])
    throw machine::Unsupported("'" + m.name + "': A and B of different types");
  mma->rule = &dot_rule(b.sm(), "wgmma", *mma->input, format_of(modifiers[4]));
  mma->n = extent(modifiers[3], 'n');
  mma->k = extent(modifiers[3], 'k');
  if (b.operand_count() < 2) throw Invalid("too few operands");
  mma->a_in_registers = b.operand(1).kind == ptx::OperandKind::vector;
  const bool transposes = mma->input->container == 16;
  const size_t count = 6 + (transposes ? (mma->a_in_registers ? 1 : 2) : 0);
  if (b.operand_count() != count)
    throw Invalid("'" + m.name + "' takes " + std::to_string(count) + " operands here");
  Op op;
  op.kind = OpKind::effect;
  op.effect = wgmma_mma;
  op.imm = reinterpret_cast<uint64_t>(mma);
  op.results = b.new_list();
  registers(b, b.operand(0), mma->d_registers(), *mma->rule->output, "D", *op.results);
  if (std::set<uint32_t>(op.results->begin(), op.results->end()).size() != op.results->size())
    throw machine::Unsupported("'" + m.name + "' with a register twice in D");
  for (const uint32_t r : *op.results) b.pin(r);
  if (mma->a_in_registers) {
    op.sources = b.new_list();
    registers(b, b.operand(1), mma->a_registers(), *mma->input, "A", *op.sources);
  } else {
    op.a = b.source(b.operand(1), b.type(".b64")).row;
  }
  op.b = b.source(b.operand(2), b.type(".b64")).row;
  if (b.operand(3).kind == ptx::OperandKind::integer) {
    op.c = b.constant_row(32, choice(b, 3, 0, 1, "scale-d") ? ~0u : 0);
  } else {
    bool negated = false;
    op.c = b.predicate(b.operand(3), false, negated).row;
    if (negated) op.flags = kNegatedScale;
  }
  mma->negate_a = choice(b, 4, 1, ~uint64_t{0}, "imm-scale-a");
  mma->negate_b = choice(b, 5, 1, ~uint64_t{0}, "imm-scale-b");
  if (count == 8) mma->transpose_a = choice(b, 6, 0, 1, "imm-trans-a");
  if (transposes) mma->transpose_b = choice(b, count - 1, 0, 1, "imm-trans-b");
  b.emit(op);
}

void wgmma_order(Builder& b, const Match&) {
  Op op;
  op.kind = OpKind::effect;
  const std::string& which = b.instruction().modifiers[0];
  op.effect = which == ".fence" ? wgmma_fence : which == ".commit_group" ? wgmma_commit : wgmma_wait;
  if (which == ".wait_group") {
    if (b.operand_count() != 1) throw Invalid("'wgmma.wait_group' takes 1 operand");
    op.imm = b.constant(b.operand(0));
  }
  b.emit(op);
}

#define SHAPES(k)                                                                                        \
  "{.m64n8" k ",.m64n16" k ",.m64n24" k ",.m64n32" k ",.m64n40" k ",.m64n48" k ",.m64n56" k ",.m64n64" k \
  ",.m64n72" k ",.m64n80" k ",.m64n88" k ",.m64n96" k ",.m64n104" k ",.m64n112" k ",.m64n120" k          \
  ",.m64n128" k ",.m64n136" k ",.m64n144" k ",.m64n152" k ",.m64n160" k ",.m64n168" k ",.m64n176" k      \
  ",.m64n184" k ",.m64n192" k ",.m64n200" k ",.m64n208" k ",.m64n216" k ",.m64n224" k ",.m64n232" k      \
  ",.m64n240" k ",.m64n248" k ",.m64n256" k "}"
constexpr Form kTensor[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "*", mma_form, 65, 75},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "*", mma_form, 65, 75},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "*", mma_form, 70, 80},
    {"mma.sync.aligned{.m16n8k8,.m16n8k16}.row.col.f32.bf16.bf16.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned{.m16n8k4,.m16n8k8}.row.col.f32.tf32.tf32.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "*", mma_form, 84, 89},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", "*", mma_form, 84, 89},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", "*", mma_form, 87, 89},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", "*", mma_form, 87, 89},
    {"wgmma.mma_async.sync.aligned" SHAPES("k16") "{.f32,.f16}.f16.f16", "*", wgmma_form, 80, 90, "a", 90},
    {"wgmma.mma_async.sync.aligned" SHAPES("k16") ".f32.bf16.bf16", "*", wgmma_form, 80, 90, "a", 90},
    {"wgmma.mma_async.sync.aligned" SHAPES("k8") ".f32.tf32.tf32", "*", wgmma_form, 80, 90, "a", 90},
    {"wgmma.mma_async.sync.aligned" SHAPES("k32") "{.f32,.f16}{.e4m3,.e5m2}{.e4m3,.e5m2}", "*", wgmma_form,
     80, 90, "a", 90},
    {"wgmma.fence.sync.aligned", "", wgmma_order, 80, 90, "a", 90},
    {"wgmma.commit_group.sync.aligned", "", wgmma_order, 80, 90, "a", 90},
    {"wgmma.wait_group.sync.aligned", "*", wgmma_order, 80, 90, "a", 90},
};

}  // namespace

std::span<const Form> tensor_forms() { return kTensor; }

}  // namespace bitwell::isa
