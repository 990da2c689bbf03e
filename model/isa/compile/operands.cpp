// What operands name: registers, constants, variables.
#include <algorithm>
#include <bit>

#include "model/isa/compile/function_builder.h"
#include "model/isa/form/explicit_cluster.h"
#include "model/machine/failure.h"

namespace bitwell::isa {

using ptx::OperandKind;

Value FunctionBuilder::source(const ptx::Operand& o, const Type& want, bool widen, bool constants) {
  if (o.negated) throw Invalid("'!' before '" + o.name + "'");
  if (o.kind == OperandKind::name && o.integer != 0) throw Invalid("an offset after '" + o.name + "'");
  if (o.kind == OperandKind::integer || o.kind == OperandKind::floating) {
    const bool half =
        want.kind == 'x' || (want.kind == 'f' && want.bits == 16) || want.name.starts_with(".bf16");
    if (!constants || half) throw Invalid("a constant where a register is needed");
    const bool floating_type = want.kind == 'f';
    uint64_t value = o.integer;
    if (o.kind == OperandKind::floating) {
      if (!floating_type && want.kind != 'b')
        throw Invalid("a floating-point constant where " + std::string(want.name) + " is needed");
      if (want.bits == 32 && !o.is_single)
        value = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
      if (want.bits == 64 && o.is_single)
        value =
            std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value))));
      if (want.bits < 32)
        throw Invalid("a floating-point constant where " + std::string(want.name) + " is needed");
    } else if (floating_type) {
      throw Invalid("an integer constant where " + std::string(want.name) + " is needed");
    }
    if (want.bits < 64) value &= (uint64_t{1} << want.bits) - 1;
    out_.uses.add_constant(Use::Take::data, value);
    return {constant_row(std::max(want.bits, 16), value), nullptr};
  }
  if (o.kind != OperandKind::name) throw Invalid("a register or constant is needed");
  if (const Register* r = o.suffix.empty() ? find_register(o.name) : nullptr; r != nullptr) {
    const Value value = register_value(*r, o.name, want, widen);
    out_.uses.add(Use::Of::reg, Use::Take::data, r->row / 128);
    return value;
  }
  if (const std::optional<Value> found = special(o, want)) {
    out_.uses.add(Use::Of::special, Use::Take::data);
    return *found;
  }
  if (!o.suffix.empty()) throw Invalid("'" + o.name + o.suffix + "' is not a register");
  if (find_function(o.name) >= 0)
    throw machine::Unsupported("the address of function '" + o.name + "' as an operand");
  throw Invalid("unknown name '" + o.name + "'");
}

Value FunctionBuilder::register_value(const Register& r, const std::string& name, const Type& want,
                                      bool widen) {
  if (r.type->kind == 'p')
    throw Invalid("predicate '" + name + "' where " + std::string(want.name) + " is needed");
  // ld, st and cvt take registers wider than the type: untyped ones for any type (not bf16), any for an
  // untyped one, integers for integers (PTX ISA 9.0, 9.4.1). ptxas lets .f16x2 stand for an integer there.
  const char kind = r.type->kind;
  const bool integer = want.kind == 'u' || want.kind == 's';
  const bool wider = r.type->bits > want.bits && !want.name.starts_with(".bf16") &&
                     (kind == 'b' || untyped(want) || (integer && (kind == 'u' || kind == 's')));
  const bool packed = integer && kind == 'x' && r.type->bits >= want.bits;
  const bool fits = (widen && (wider || packed)) || agrees(want, *r.type);
  if (!fits)
    throw Invalid("register '" + name + "' is " + std::string(r.type->name) + " where " +
                  std::string(want.name) + " is needed");
  return {r.row, r.type};
}

Value FunctionBuilder::destination(const ptx::Operand& o, const Type& want, bool widen, bool discard) {
  if (o.kind != OperandKind::name || o.negated || !o.suffix.empty() || o.integer != 0)
    throw Invalid("the destination must be a register");
  if (o.name == "_" && !discard) throw Invalid("'_' where the result cannot be discarded");
  if (o.name == "_") {
    out_.uses.add(Use::Of::nothing, Use::Take::result);
    return {new_row(std::max(want.bits, 16)), nullptr};
  }
  const Register* r = find_register(o.name);
  if (r == nullptr) throw Invalid("unknown register '" + o.name + "'");
  const Value value = register_value(*r, o.name, want, widen);
  out_.uses.add(Use::Of::reg, Use::Take::result, r->row / 128);
  return value;
}

bool FunctionBuilder::is_predicate(const std::string& name) {
  const Register* r = find_register(name);
  return r != nullptr && r->type->kind == 'p';
}

Value FunctionBuilder::predicate(const ptx::Operand& o, bool is_destination, bool& negated) {
  const bool logic = written_ == "and.pred" || written_ == "or.pred" || written_ == "xor.pred";
  if (logic && o.kind == OperandKind::integer && !is_destination && !o.negated) {
    // True where it is not 0, as ptxas 13.0 takes it: nvcc writes xor.pred %p1, %p2, -1.
    negated = false;
    out_.uses.add_constant(Use::Take::data, o.integer);
    return {constant_row(32, o.integer != 0 ? ~uint32_t{0} : 0), find_type(".pred")};
  }
  if (o.kind != OperandKind::name || !o.suffix.empty() || o.integer != 0)
    throw Invalid("a predicate is needed");
  negated = o.negated;
  if (is_destination && negated) throw Invalid("'!' before a destination");
  if (is_destination && o.name == "_") {
    out_.uses.add(Use::Of::nothing, Use::Take::result);
    return {new_predicate(), nullptr};
  }
  const Register* r = find_register(o.name);
  if (r == nullptr && o.name == kExplicitCluster && !is_destination)
    throw machine::Unsupported("special register '" + o.name +
                               "' here: move it into a predicate, and go by that");
  if (r == nullptr) throw Invalid("unknown predicate '" + o.name + "'");
  if (r->type->kind != 'p')
    throw Invalid("register '" + o.name + "' is " + std::string(r->type->name) +
                  " where a predicate is needed");
  out_.uses.add(Use::Of::reg, is_destination ? Use::Take::result : Use::Take::data, r->row / 128);
  return {r->row, r->type};
}

// address = [register + n] | [variable + n] | [n]
Address FunctionBuilder::address(const ptx::Operand& o, Space space) {
  if (o.kind != OperandKind::memory || o.elements.size() != 1)
    throw Invalid("an address in brackets is needed");
  const ptx::Operand& base = o.elements[0];
  Address out;
  out.offset = o.integer;
  if (base.kind == OperandKind::integer) {
    if (space != Space::local) throw Invalid("a constant address is for .local only");
    out.row = constant_row(64, base.integer);
    out_.uses.add_constant(Use::Take::address, base.integer);
    return out;
  }
  if (base.kind != OperandKind::name || !base.suffix.empty())
    throw Invalid("an address is a register, a variable or a constant");
  if (const Register* r = find_register(base.name)) {
    if (std::string_view("pfx").find(r->type->kind) != std::string_view::npos ||
        (r->type->bits != 64 && r->type->bits != 32))
      throw Invalid("register '" + base.name + "' is " + std::string(r->type->name) + ", not an address");
    if (r->type->bits == 32 && (space == Space::generic || space == Space::global))
      throw Invalid("a 32-bit register as a 64-bit address");
    out.row = r->row;
    out.narrow = r->type->bits == 32;
    out_.uses.add(Use::Of::reg, Use::Take::address, r->row / 128);
    return out;
  }
  const std::optional<Variable> v = find_variable(base.name);
  // ptxas 13.0 takes them in loads, and dies of stores to them.
  if (!v && is_special_register(base.name))
    throw machine::Unsupported("special register '" + base.name +
                               "' as an address: move it into a register, and go by that");
  if (!v) throw Invalid("unknown name '" + base.name + "'");
  const bool parameter = space == Space::param && (v->space == Space::param || v->call_param);
  const bool own = space == Space::cluster && v->space == Space::shared;
  if (v->space != space && !parameter && !own && space != Space::generic)
    throw Invalid("variable '" + base.name + "' is not in that state space");
  if (space == Space::generic && v->space != Space::global && v->space != Space::constant)
    throw Invalid("variable '" + base.name + "' has no generic address here; use cvta");
  out.space = v->space;
  name_variable(base.name, Use::Take::address);
  if (v->space == Space::local) {
    out.row = special_row(64, Special::local_base);
    out.offset += v->address;
  } else {
    out.row = address_row(64, *v);
  }
  return out;
}

}  // namespace bitwell::isa
