// ldmatrix and stmatrix (PTX ISA 9.0, 9.7.14.5.15 and 9.7.14.5.16).
#include "model/isa/effects.h"
#include "model/isa/forms.h"

namespace bitwell::isa {
namespace {

void matrix(Builder& b, const Match& m) {
  const bool loads = b.instruction().opcode == "ldmatrix";
  const size_t count = m.choice[0] == ".x1" ? 1 : m.choice[0] == ".x2" ? 2 : 4;
  if (b.operand_count() != 2) throw Invalid("'" + m.name + "' takes 2 operands");
  Op op;
  op.kind = OpKind::effect;
  op.effect = loads ? load_matrix : store_matrix;
  op.count = static_cast<uint16_t>(count);
  op.target = has(b.instruction(), ".trans") ? 1 : 0;
  set_address(b, op, b.operand(loads ? 1 : 0), space_of(b.instruction()));
  const ptx::Operand& registers = b.operand(loads ? 0 : 1);
  if (registers.kind != ptx::OperandKind::vector || registers.elements.size() != count)
    throw Invalid("'" + m.name + "' needs a vector of " + std::to_string(count) + " registers");
  std::vector<uint32_t>* list = b.new_list();
  for (const ptx::Operand& e : registers.elements)
    list->push_back(loads ? b.destination(e, b.type(".b32"), false, true).row
                          : b.source(e, b.type(".b32"), false, false).row);
  (loads ? op.results : op.sources) = list;
  b.emit(op);
}

constexpr Form kMatrix[] = {
    {"ldmatrix.sync.aligned.m8n8{.x1,.x2,.x4}[.trans][.shared,.shared::cta].b16", "*", matrix, 65, 75},
    {"stmatrix.sync.aligned.m8n8{.x1,.x2,.x4}[.trans][.shared,.shared::cta].b16", "*", matrix, 78, 90},
};

}  // namespace

std::span<const Form> matrix_forms() { return kMatrix; }

}  // namespace bitwell::isa
