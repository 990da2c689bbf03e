// Registers that are vectors (.reg .v4 .s32 v): v.x, v.y, v.z and v.w are registers of their own, and v as an
// operand is {v.x, v.y, v.z, v.w} (PTX ISA 9.0, 6.4.3).
#include <algorithm>
#include <string_view>

#include "model/isa/compile/function_builder.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

constexpr std::string_view kComponents = "xyzw", kColours = "rgba";
constexpr int kMostBits = 128;

std::string component(const std::string& vector, size_t i) { return vector + "." + kComponents[i]; }

}  // namespace

void FunctionBuilder::declare_vector(const ptx::Variable& v, const Type& type) {
  Scope& scope = scopes_.back();
  if (type.kind == 'p') throw Invalid("predicate '" + v.name + "' cannot be a vector");
  if (v.vector * type.bits > kMostBits)
    throw Invalid("register '" + v.name + "' has more than " + std::to_string(kMostBits) + " bits");
  vectors_ = true;
  if (v.range) return scope.registers.declare_range(v.name, *v.range, type, v.vector);
  scope.registers.declare(v.name, {0, &type});  // its name is taken; no operand reaches it
  for (size_t i = 0; i < static_cast<size_t>(v.vector); ++i)
    scope.registers.declare(component(v.name, i), {register_row(type, component(v.name, i)), &type});
  scope.vectors[v.name] = v.vector;
}

int FunctionBuilder::vector_register(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->vectors.find(name); found != scope->vectors.end()) return found->second;
    if (const int n = scope->registers.components_in_range(name); n != 0) return n;
    if (scope->registers.has(name) || scope->variables.count(name) != 0) return 0;
  }
  return 0;
}

void FunctionBuilder::spread(ptx::Operand& o) const {
  for (ptx::Operand& e : o.elements) spread(e);
  if (o.kind == ptx::OperandKind::memory && o.elements[0].kind == ptx::OperandKind::vector)
    throw Invalid("an address is a register, a variable or a constant");
  const int n = o.kind == ptx::OperandKind::name ? vector_register(o.name) : 0;
  if (n == 0) return;
  if (o.suffix.empty()) {
    o.kind = ptx::OperandKind::vector;
    for (int i = 0; i < n; ++i) {
      ptx::Operand& e = o.elements.emplace_back();
      e.name = component(o.name, static_cast<size_t>(i));
      e.at = o.at;
    }
    return;
  }
  for (const std::string_view names : {kComponents, kColours})
    for (size_t i = 0; i < static_cast<size_t>(n); ++i)
      if (o.suffix.size() == 2 && o.suffix[1] == names[i]) {
        o.name = component(o.name, i);
        o.suffix.clear();
        return;
      }
  throw Invalid("register '" + o.name + "' has " + std::to_string(n) + " components, and no '" + o.suffix +
                "'");
}

const ptx::Instruction& FunctionBuilder::spread(const ptx::Instruction& i) {
  if (!vectors_) return i;
  spread_ = i;
  for (ptx::Operand& o : spread_.operands) spread(o);
  return spread_;
}

}  // namespace bitwell::isa
