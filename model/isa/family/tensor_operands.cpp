#include "model/isa/family/tensor_operands.h"

#include <charconv>

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

// The registers of an operand's vector, each holding elements of `format`. ptxas wants .f16x2 or .b32 for
// fp16, .f32 or .b32 for fp32, .b32 as the first register for the others, but lets fp8 of mma.sync stand in
// anything of 32 bits.
void tensor_registers(Builder& b, const ptx::Operand& o, size_t count, const number::Format& format,
                      const char* what, std::vector<uint32_t>& out) {
  if (o.kind != ptx::OperandKind::vector || o.elements.size() != count)
    throw Invalid(std::string(what) + " must be a vector of " + std::to_string(count) + " registers");
  const bool wgmma = b.instruction().opcode == "wgmma";
  const bool loose = format.bits == 8 && !wgmma;
  const bool destination = what[0] == 'D';
  const Type& type = b.type(&format == &number::f32 ? ".f32" : &format == &number::f16 ? ".f16x2" : ".b32");
  bool first = true;
  for (const ptx::Operand& e : o.elements) {
    const Value v = destination ? b.destination(e, type, false, wgmma) : b.source(e, type, false, loose);
    if (first && type.kind == 'b' && !loose && v.type != nullptr && v.type->kind != 'b')
      throw Invalid("register '" + e.name + "' is " + std::string(v.type->name) + " where .b32 is needed");
    out.push_back(v.row);
    first = false;
  }
}

}  // namespace bitwell::isa
