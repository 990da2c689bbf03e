#include "model/isa/family/mma/tensor_operands.h"

#include <charconv>

#include "model/isa/family/emit.h"
#include "model/machine/failure.h"

namespace bitwell::isa {

const number::Format& tensor_format(std::string_view type) {
  for (const number::Format* f : number::formats)
    if (f->name == type.substr(1)) return *f;
  throw machine::ModelBug("tensor-core type " + std::string(type));
}

size_t extent(std::string_view shape, char letter) {
  size_t value = 0;
  const char* first = shape.data() + shape.find(letter, 2) + 1;
  std::from_chars(first, shape.data() + shape.size(), value);
  return value;
}

// A vector is of the type that its registers have, of none where one of them is .b32; two types do not go
// together (ptxas 13.0). Elements of 16 and 32 bits want their own type or none, others none; fp8, fp6 and
// fp4 of mma.sync without scales stand in anything of 32 bits.
void tensor_registers(Builder& b, const ptx::Operand& o, size_t count, const number::Format& format,
                      const char* what, std::vector<uint32_t>& out) {
  if (o.kind != ptx::OperandKind::vector || o.elements.size() != count)
    throw Invalid(std::string(what) + " must be a vector of " + std::to_string(count) + " registers");
  const bool wgmma = b.instruction().opcode == "wgmma";
  const bool loose = format.bits <= 8 && !wgmma && !ptx::has(b.instruction(), ".block_scale");
  const bool destination = what[0] == 'D';
  const Type& type = b.type(&format == &number::f32 ? ".f32" : &format == &number::f16 ? ".f16x2" : ".b32");
  const Type& none = b.type(".b32");
  const Type* named = nullptr;
  bool untyped = false;
  for (const ptx::Operand& e : o.elements) {
    const bool constant = e.kind == ptx::OperandKind::integer || e.kind == ptx::OperandKind::floating;
    const Value v = destination ? b.destination(e, none, false, true)
                                : b.source(e, constant ? type : none, false, !wgmma);
    out.push_back(v.row);
    const Type* const is = v.type == nullptr && constant && type.kind == 'f' ? &type : v.type;
    if (is == nullptr) continue;
    if (is->kind == 'b')
      untyped = true;
    else if (named != nullptr && named != is)
      throw Invalid(std::string(what) + " has registers of two types, " + std::string(named->name) + " and " +
                    std::string(is->name));
    else
      named = is;
  }
  if (!untyped && !(named != nullptr && (loose || named == &type)))
    throw Invalid(std::string(what) + " has " +
                  (named == nullptr ? "constants alone" : "registers of " + std::string(named->name)) +
                  " where " + std::string(type.name) + " is needed");
}

}  // namespace bitwell::isa
