// Tensor-core instructions (PTX ISA 9.0, 9.7.14 and 9.7.15).
#include <charconv>

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
// fp16, .f32 or .b32 for fp32, exactly .b32 for bf16 and tf32, and lets fp8 stand in anything of 32 bits.
void registers(Builder& b, const ptx::Operand& o, size_t count, const number::Format& format,
               bool destination, const char* what, std::vector<uint32_t>& out) {
  if (o.kind != ptx::OperandKind::vector || o.elements.size() != count)
    throw Invalid(std::string(what) + " must be a vector of " + std::to_string(count) + " registers");
  const bool exact = &format == &number::bf16 || &format == &number::tf32;
  const Type& type = b.type(&format == &number::f32 ? ".f32" : &format == &number::f16 ? ".f16x2" : ".b32");
  for (const ptx::Operand& e : o.elements) {
    const Value v = destination ? b.destination(e, type) : b.source(e, type, false, format.bits == 8);
    if (exact && v.type != nullptr && v.type->kind != 'b')
      throw Invalid("register '" + e.name + "' is " + std::string(v.type->name) + " where .b32 is needed");
    out.push_back(v.row);
  }
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
  registers(b, b.operand(0), mma->d_registers(), d, true, "D", *op.results);
  registers(b, b.operand(1), mma->a_registers(), *mma->input, false, "A", *op.sources);
  registers(b, b.operand(2), mma->b_registers(), *mma->input, false, "B", *op.sources);
  registers(b, b.operand(3), mma->d_registers(), d, false, "C", *op.sources);
  b.emit(op);
}

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
};

}  // namespace

std::span<const Form> tensor_forms() { return kTensor; }

}  // namespace bitwell::isa
