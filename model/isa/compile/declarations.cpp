// What a function declares: parameters, registers, variables, labels, and the rows behind them.
#include <algorithm>

#include "model/isa/compile/directives.h"
#include "model/isa/compile/function_builder.h"
#include "model/isa/form/frame.h"
#include "model/machine/failure.h"
#include "model/machine/limits.h"
#include "model/machine/memory/memory.h"

namespace bitwell::isa {

using machine::InputError;
using machine::ModelBug;
using machine::Unsupported;

namespace {

// What a call passes is aligned to at most 128 bytes (ptxas 13.0).
void check_call_alignment(const ptx::Variable& v) {
  if (v.align > 128)
    throw InputError("line " + std::to_string(v.at.line) + ": parameter '" + v.name +
                     "' is aligned to more than 128 bytes");
}

}  // namespace

FunctionBuilder::FunctionBuilder(const ModuleLayout& layout, const ptx::Function& source, Function& out,
                                 bool collect, Approximate approximate, std::vector<Finding>& findings)
    : layout_(layout),
      source_(source),
      out_(out),
      collect_(collect),
      approximate_(approximate),
      findings_(findings) {
  rows.push_back({32, true});  // kSink
  rows.push_back({64, true});  // kZero
  rows.push_back({64, true});  // its second half
  check_directives(source, layout.module.version, layout.sm);
  scopes_.emplace_back();
  Scope& scope = scopes_.back();
  uint64_t block = 0;
  const auto parameter = [&](const ptx::Variable& v, std::vector<Parameter>& list) {
    if (v.space == ".reg")
      throw Unsupported("line " + std::to_string(v.at.line) + ": .reg parameter '" + v.name + "'");
    if (!v.dims.empty() && v.dims[0] <= 0)
      throw InputError("line " + std::to_string(v.at.line) + ": parameter '" + v.name + "' has no size");
    const uint64_t size = size_of(v);
    if (!out_.is_entry) check_call_alignment(v);
    uint64_t at = 0;
    if (out_.is_entry) {
      at = (block + align_of(v) - 1) / align_of(v) * align_of(v);
      block = at + size;
    } else {
      at = local_place(size, std::max<uint64_t>(align_of(v), 1));
    }
    list.push_back({v.name, v.type, at, size, v.pointer});
    const Space space = out_.is_entry ? Space::param : Space::local;
    if (!scope.variables
             .emplace(v.name, Variable{space, at, size, align_of(v), find_type(v.type), !v.dims.empty(),
                                       !out_.is_entry, false, out_.uses.add_variable(v.name)})
             .second)
      throw InputError("line " + std::to_string(v.at.line) + ": parameter '" + v.name +
                       "' is declared twice");
  };
  for (const ptx::Variable& v : source.returns) parameter(v, out_.returns);
  for (const ptx::Variable& v : source.params) parameter(v, out_.params);
  if (const uint64_t most = machine::max_parameters(layout.module.version); block > most)
    throw InputError("line " + std::to_string(source.at.line) + ": the parameters of entry '" + source.name +
                     "' take " + std::to_string(block) + " bytes, the limit is " + std::to_string(most));
}

uint64_t FunctionBuilder::local_place(uint64_t size, uint64_t align) {
  const uint64_t at = place_in_frame(out_.local_size, align);
  if (size > machine::kMaxLocal || at > machine::kMaxLocal)
    throw Unsupported("more than " + std::to_string(machine::kMaxLocal >> 10) +
                      " KiB of local memory a thread, which no " + "device gives: function '" + out_.name +
                      "', with a variable of " + std::to_string(size) + " bytes");
  out_.local_size = static_cast<uint32_t>(at + size);
  return at;
}

void FunctionBuilder::declare(const ptx::Variable& v) {
  Scope& scope = scopes_.back();
  const Type& declared = *find_type(v.type);
  if (v.space == ".reg") {
    if (!v.dims.empty() || v.initialized)
      throw Invalid("register '" + v.name + "' cannot be an array or initialised");
    if (v.vector != 1)
      declare_vector(v, declared);
    else if (v.range)
      scope.registers.declare_range(v.name, *v.range, declared, 1);
    else
      scope.registers.declare(v.name, {register_row(declared, v.name), &declared});
    for (const auto& [name, variable] : scope.variables)
      if (scope.registers.has(name)) throw Invalid("variable '" + name + "' is declared twice");
    return;
  }
  const uint64_t size = size_of(v);
  Variable place{Space::local, 0, size, align_of(v), &declared, !v.dims.empty(), false};
  if (!v.dims.empty() && v.dims[0] <= 0) throw Invalid("variable '" + v.name + "' has no size");
  if (v.space == ".shared") {
    if (v.initialized) throw Invalid(".shared variable '" + v.name + "' cannot be initialised");
    place.space = Space::shared;
    place.address = layout_.shared_places.at(&v);
  } else if (v.space == ".local" || v.space == ".param") {
    place.call_param = place.argument = v.space == ".param";
    if (v.initialized) throw Invalid(v.space + " variable '" + v.name + "' cannot be initialised");
    if (place.argument) check_call_alignment(v);
    place.address = local_place(size, align_of(v));
    if (!place.argument) out_.locals.push_back({v.name, place.address, size});
  } else {
    throw Unsupported(v.space + " variable inside a function");
  }
  place.number = out_.uses.add_variable(v.name);
  if (scope.registers.has(v.name) || !scope.variables.emplace(v.name, place).second)
    throw Invalid("variable '" + v.name + "' is declared twice");
}

const Type& FunctionBuilder::type(const std::string& name) const {
  const Type* t = find_type(name);
  if (t == nullptr) throw ModelBug("type '" + name + "'");
  return *t;
}

const FunctionBuilder::Register* FunctionBuilder::find_register(const std::string& name) {
  const auto row = [this](const Type& type, const std::string& of) { return register_row(type, of); };
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const Register* r = scope->registers.find(name, row)) return r;
  return nullptr;
}

std::optional<FunctionBuilder::Variable> FunctionBuilder::find_variable(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->variables.find(name);
    if (at != scope->variables.end()) return at->second;
  }
  const auto at = layout_.variables.find(name);
  if (at == layout_.variables.end()) return std::nullopt;
  const ptx::Variable& v = *at->second.variable;
  const Space space = v.space == ".shared"  ? Space::shared
                      : v.space == ".const" ? Space::constant
                                            : Space::global;
  return Variable{space, at->second.address, at->second.size, align_of(v), find_type(v.type), !v.dims.empty(),
                  false};
}

void FunctionBuilder::name_variable(const std::string& name, Use::Take take) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->variables.find(name);
    if (at == scope->variables.end()) continue;
    const bool parameter = at->second.call_param || at->second.space == Space::param;
    return out_.uses.add(parameter ? Use::Of::parameter : Use::Of::variable, take, at->second.number);
  }
  const auto [at, fresh] = module_variables_.try_emplace(name, 0);
  if (fresh) at->second = out_.uses.add_variable(name);
  out_.uses.add(Use::Of::variable, take, at->second);
}

uint32_t FunctionBuilder::new_row(int bits) {
  if (rows.size() > 1u << 20) throw Unsupported("a function with more than a million registers");
  rows.push_back({bits, false});
  return static_cast<uint32_t>(rows.size() - 1) * 128;
}

uint32_t FunctionBuilder::register_row(const Type& type, const std::string& name) {
  const uint32_t row = type.kind == 'p' ? new_predicate() : new_row(std::max(type.bits, 16));
  out_.uses.name_register(row / 128, name);
  return row;
}

uint32_t FunctionBuilder::new_predicate() {
  const uint32_t row = new_row(16);
  rows.back().bits = 1;
  return row;
}

uint32_t FunctionBuilder::carry_row() {
  if (carry_ == 0) {
    carry_ = new_row(32);
    out_.uses.name_register(carry_ / 128, "the carry flag");
  }
  return carry_;
}

uint32_t FunctionBuilder::constant_row(int bits, uint64_t value) {
  const auto [at, is_new] = constants_.try_emplace({bits, value}, 0);
  if (is_new) {
    at->second = new_row(bits);
    rows.back().fixed = true;
    out_.constants.push_back({at->second, bits, value});
  }
  return at->second;
}

uint32_t FunctionBuilder::address_row(int bits, const Variable& v, uint64_t offset) {
  const uint64_t address = v.address + offset;
  if (v.space == Space::shared) return special_row(bits, Special::shared_base, address);
  return constant_row(bits, bits == 64 ? address : address & 0xFFFFFFFFu);
}

uint32_t FunctionBuilder::special_row(int bits, Special s, uint64_t offset) {
  const auto [at, is_new] = specials_.try_emplace({bits, s, offset}, 0);
  if (is_new) {
    at->second = new_row(bits);
    rows.back().fixed = true;
    out_.specials.push_back({at->second, bits, s, offset});
  }
  return at->second;
}

uint32_t FunctionBuilder::label(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->labels.find(name);
    if (at != scope->labels.end()) return at->second;
  }
  throw Invalid("unknown label '" + name + "'");
}

const std::vector<std::string>* FunctionBuilder::branch_targets(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->tables.find(name);
    if (at != scope->tables.end() && at->second->kind == ptx::Statement::Kind::branch_targets)
      return &at->second->targets;
  }
  return nullptr;
}

const ptx::Function* FunctionBuilder::prototype(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->tables.find(name);
    if (at != scope->tables.end() && at->second->kind == ptx::Statement::Kind::call_prototype)
      return &at->second->prototype[0];
  }
  return nullptr;
}

}  // namespace bitwell::isa
