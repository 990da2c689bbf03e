#include "model/isa/builder.h"

#include <algorithm>
#include <bit>

#include "model/isa/definedness.h"
#include "model/isa/limits.h"
#include "model/machine/failure.h"
#include "model/machine/memory.h"

namespace bitwell::isa {

using machine::InputError;
using machine::ModelBug;
using machine::Unsupported;
using ptx::OperandKind;

namespace {

// What a call passes is aligned to at most 128 bytes (ptxas 13.0).
void check_call_alignment(const ptx::Variable& v) {
  if (v.align > 128)
    throw InputError("line " + std::to_string(v.at.line) + ": parameter '" + v.name +
                     "' is aligned to more than 128 bytes");
}

}  // namespace

Builder::Builder(const ModuleLayout& layout, const ptx::Function& source, Function& out, bool collect,
                 std::vector<Finding>& findings)
    : layout_(layout), source_(source), out_(out), collect_(collect), findings_(findings) {
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
                                       !out_.is_entry})
             .second)
      throw InputError("line " + std::to_string(v.at.line) + ": parameter '" + v.name +
                       "' is declared twice");
  };
  for (const ptx::Variable& v : source.returns) parameter(v, out_.returns);
  for (const ptx::Variable& v : source.params) parameter(v, out_.params);
  if (const uint64_t most = max_parameters(layout.module.version); block > most)
    throw InputError("line " + std::to_string(source.at.line) + ": the parameters of entry '" + source.name +
                     "' take " + std::to_string(block) + " bytes, the limit is " + std::to_string(most));
}

void Builder::body() {
  block(source_.body);
  instruction_ = nullptr;
  ptx::Instruction ret;
  ret.opcode = "ret";  // falling off the end returns
  ret.at = source_.at;
  instruction(ret);
  for (size_t n = 0; n < label_at.size(); ++n)
    if (!label_at[n])
      throw InputError("in function '" + out_.name + "': a branch names a label that is not there");
}

void Builder::block(const std::vector<ptx::Statement>& statements) {
  // Labels may be used before they stand: each block's labels are known at its start.
  for (const ptx::Statement& s : statements) {
    if (s.kind == ptx::Statement::Kind::label) {
      const auto line = "line " + std::to_string(s.at.line) + ": ";
      if (!scopes_.back().labels.emplace(s.name, next_label_).second)
        throw InputError(line + "label '" + s.name + "' stands twice");
      ++next_label_;
      label_at.emplace_back();
    } else if (s.kind == ptx::Statement::Kind::branch_targets ||
               s.kind == ptx::Statement::Kind::call_prototype ||
               s.kind == ptx::Statement::Kind::call_targets) {
      scopes_.back().tables[s.name] = &s;
    }
  }
  for (const ptx::Statement& s : statements) {
    try {
      switch (s.kind) {
        case ptx::Statement::Kind::instruction: instruction(s.instruction); break;
        case ptx::Statement::Kind::label:
          label_at[scopes_.back().labels.at(s.name)] = static_cast<uint32_t>(out_.code.size());
          break;
        case ptx::Statement::Kind::variable: declare(s.variable); break;
        case ptx::Statement::Kind::block:
          scopes_.emplace_back();
          block(s.body);
          scopes_.pop_back();
          break;
        default: break;
      }
    } catch (const Invalid& e) {
      if (!collect_) throw InputError("line " + std::to_string(s.at.line) + ": " + e.what());
      findings_.push_back({Finding::Kind::invalid, s.at.line, e.what()});
    } catch (const Unsupported& e) {
      if (s.kind == ptx::Statement::Kind::block) throw;  // it names its line already
      if (!collect_) throw Unsupported("line " + std::to_string(s.at.line) + ": " + e.what());
      findings_.push_back({Finding::Kind::unsupported, s.at.line, e.what()});
    }
  }
}

uint64_t Builder::local_place(uint64_t size, uint64_t align) {
  const uint64_t at = (out_.local_size + align - 1) / align * align;
  if (size > kMaxLocal || at > kMaxLocal)
    throw Unsupported("more than " + std::to_string(kMaxLocal >> 10) +
                      " KiB of local memory a thread, which no " + "device gives: function '" + out_.name +
                      "', with a variable of " + std::to_string(size) + " bytes");
  out_.local_size = static_cast<uint32_t>(at + size);
  return at;
}

void Builder::declare(const ptx::Variable& v) {
  Scope& scope = scopes_.back();
  const Type& declared = *find_type(v.type);
  if (v.space == ".reg") {
    if (!v.dims.empty() || v.initialized || v.vector != 1)
      throw Invalid("register '" + v.name + "' cannot be an array, a vector or initialised");
    if (v.range)
      scope.registers.declare_range(v.name, *v.range, declared);
    else
      scope.registers.declare(v.name, {register_row(declared), &declared});
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
  } else {
    throw Unsupported(v.space + " variable inside a function");
  }
  if (scope.registers.has(v.name) || !scope.variables.emplace(v.name, place).second)
    throw Invalid("variable '" + v.name + "' is declared twice");
}

const Form& Builder::choose(const ptx::Instruction& i, Match& found) const {
  static const std::map<std::string, std::vector<const Form*>, std::less<>> by_opcode = [] {
    std::map<std::string, std::vector<const Form*>, std::less<>> m;
    for (const Form* f : all_forms()) m[std::string(opcode_of(*f))].push_back(f);
    return m;
  }();
  std::string written = i.opcode;
  for (const std::string& m : i.modifiers) written += m;
  const auto candidates = by_opcode.find(i.opcode);
  if (candidates == by_opcode.end())
    throw Unsupported("instruction '" + written + "': opcode '" + i.opcode + "'");
  size_t best = 0;
  for (const Form* form : candidates->second) {
    size_t reached = 0;
    if (!match(*form, i.modifiers, found, reached)) {
      best = std::max(best, reached);
      continue;
    }
    if (layout_.module.version < form->version)
      throw Invalid("'" + written + "' needs PTX " + std::to_string(form->version / 10) + "." +
                    std::to_string(form->version % 10));
    if (layout_.sm < form->sm ||
        (!form->only.empty() &&
         form->only.find(layout_.suffix.empty() ? "-" : layout_.suffix) == std::string_view::npos))
      throw Invalid("'" + written + "' is not available on " + layout_.module.target + "; it needs sm_" +
                    std::to_string(form->sm) + std::string(form->only) +
                    (form->until == form->sm ? "" : " or later"));
    if (form->until != 0 && layout_.sm > form->until)
      throw Invalid("'" + written + "' is not available on " + layout_.module.target +
                    "; the last target that has it is sm_" + std::to_string(form->until) +
                    std::string(form->only));
    return *form;
  }
  if (best < i.modifiers.size())
    throw Unsupported("instruction '" + written + "': modifier '" + i.modifiers[best] + "' at that place");
  throw Unsupported("instruction '" + written + "': a modifier is missing");
}

void Builder::instruction(const ptx::Instruction& i) {
  instruction_ = &i;
  Match found;
  const Form& form = choose(i, found);
  Line line{i.at.line, "", found.name};
  const auto file = layout_.module.files.find(i.source.file);
  if (i.source.line > 0 && file != layout_.module.files.end()) {
    const size_t slash = file->second.rfind('/');
    line.source =
        file->second.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(i.source.line);
  }
  out_.lines.push_back(std::move(line));
  if (i.guard) {
    ptx::Operand guard;
    guard.name = i.guard->predicate;
    bool unused = false;
    predicate(guard, false, unused);
  }
  operands(form, found);
  note(i);
  form.build(*this, found);
}

// What a reader of a verdict must know: results that ptxas, not the PTX, decides.
void Builder::note(const ptx::Instruction& i) {
  const auto has = [&](std::string_view m) {
    return std::find(i.modifiers.begin(), i.modifiers.end(), m) != i.modifiers.end();
  };
  const bool rounded = has(".rn") || has(".rz") || has(".rm") || has(".rp");
  const bool floating =
      has(".f32") || has(".f64") || has(".f16") || has(".f16x2") || has(".bf16") || has(".bf16x2");
  if ((i.opcode == "mul" || i.opcode == "add" || i.opcode == "sub") && floating && !rounded)
    findings_.push_back({Finding::Kind::contractible, i.at.line,
                         "'" + out_.lines.back().text +
                             "' without a rounding modifier: ptxas may fuse it with its neighbour"});
  if (has(".approx") || has(".full"))
    findings_.push_back({Finding::Kind::approximate, i.at.line,
                         "'" + out_.lines.back().text + "' has an error bound, not bits"});
}

void Builder::operands(const Form& form, const Match& found) {
  values_.clear();
  negated_.clear();
  if (form.operands == "*") return;
  const std::vector<Role> roles = roles_of(form, found);
  const auto& written = instruction_->operands;
  const auto least = static_cast<size_t>(
      std::count_if(roles.begin(), roles.end(), [](const Role& r) { return !r.optional; }));
  if (written.size() < least || written.size() > roles.size())
    throw Invalid("'" + found.name + "' takes " + std::to_string(least) +
                  (least == roles.size() ? "" : " to " + std::to_string(roles.size())) + " operands, found " +
                  std::to_string(written.size()));
  for (size_t n = 0; n < roles.size(); ++n) {
    negated_.push_back(false);
    if (n >= written.size()) {
      values_.emplace_back();
      continue;
    }
    const Role& role = roles[n];
    bool negated = false;
    switch (role.kind) {
      case 'd': values_.push_back(destination(written[n], type(role.type))); break;
      case 's': values_.push_back(source(written[n], type(role.type))); break;
      case 'r': values_.push_back(source(written[n], type(role.type), false, false)); break;
      case 'i': values_.push_back({constant_row(type(role.type).bits, constant(written[n])), nullptr}); break;
      case 'q': values_.push_back(predicate(written[n], true, negated)); break;
      case 'p': values_.push_back(predicate(written[n], false, negated)); break;
      default:
        throw ModelBug("role '" + std::string(1, role.kind) + "' in form " + std::string(form.pattern));
    }
    negated_.back() = negated;
  }
}

const ptx::Operand& Builder::operand(size_t i) const {
  if (i >= instruction_->operands.size()) throw Invalid("too few operands");
  return instruction_->operands[i];
}

const Type& Builder::type(const std::string& name) const {
  const Type* t = find_type(name);
  if (t == nullptr) throw ModelBug("type '" + name + "'");
  return *t;
}

const Builder::Register* Builder::find_register(const std::string& name) {
  const auto row = [this](const Type& type) { return register_row(type); };
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const Register* r = scope->registers.find(name, row)) return r;
  return nullptr;
}

const Builder::Variable* Builder::find_variable(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->variables.find(name);
    if (at != scope->variables.end()) return &at->second;
  }
  static thread_local Variable module_variable;
  const auto at = layout_.variables.find(name);
  if (at == layout_.variables.end()) return nullptr;
  const ptx::Variable& v = *at->second.variable;
  const Space space = v.space == ".shared"  ? Space::shared
                      : v.space == ".const" ? Space::constant
                                            : Space::global;
  module_variable = {
      space, at->second.address, at->second.size, align_of(v), find_type(v.type), !v.dims.empty(), false};
  return &module_variable;
}

Value Builder::source(const ptx::Operand& o, const Type& want, bool widen, bool constants) {
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
    return {constant_row(std::max(want.bits, 16),
                         want.bits >= 64 ? value : value & ((uint64_t{1} << want.bits) - 1)),
            nullptr};
  }
  if (o.kind != OperandKind::name) throw Invalid("a register or constant is needed");
  if (const std::optional<Value> found = special(o, want)) return *found;
  if (!o.suffix.empty()) throw Invalid("'" + o.name + o.suffix + "' is not a register");
  if (const Register* r = find_register(o.name)) {
    if (r->type->kind == 'p')
      throw Invalid("predicate '" + o.name + "' where " + std::string(want.name) + " is needed");
    // ld, st and cvt take registers wider than the type: untyped ones for any type (not bf16), any for an
    // untyped one, integers for integers (PTX ISA 9.0, 9.4.1). ptxas lets .f16x2 stand for an integer there.
    const char kind = r->type->kind;
    const bool integer = want.kind == 'u' || want.kind == 's';
    const bool wider = r->type->bits > want.bits && !want.name.starts_with(".bf16") &&
                       (kind == 'b' || untyped(want) || (integer && (kind == 'u' || kind == 's')));
    const bool packed = integer && kind == 'x' && r->type->bits >= want.bits;
    const bool fits = (widen && (wider || packed)) || agrees(want, *r->type);
    if (!fits)
      throw Invalid("register '" + o.name + "' is " + std::string(r->type->name) + " where " +
                    std::string(want.name) + " is needed");
    return {r->row, r->type};
  }
  if (find_function(o.name) >= 0)
    throw machine::Unsupported("the address of function '" + o.name + "' as an operand");
  throw Invalid("unknown name '" + o.name + "'");
}

Value Builder::destination(const ptx::Operand& o, const Type& want, bool widen, bool discard) {
  if (o.kind != OperandKind::name || o.negated || !o.suffix.empty() || o.integer != 0)
    throw Invalid("the destination must be a register");
  if (o.name == "_" && !discard) throw Invalid("'_' where the result cannot be discarded");
  if (o.name == "_") return {new_row(std::max(want.bits, 16)), nullptr};
  const Register* r = find_register(o.name);
  if (r == nullptr) throw Invalid("unknown register '" + o.name + "'");
  return source(o, want, widen, false);
}

bool Builder::is_predicate(const std::string& name) {
  const Register* r = find_register(name);
  return r != nullptr && r->type->kind == 'p';
}

Value Builder::predicate(const ptx::Operand& o, bool is_destination, bool& negated) {
  if (o.kind != OperandKind::name || !o.suffix.empty() || o.integer != 0)
    throw Invalid("a predicate is needed");
  negated = o.negated;
  if (is_destination && negated) throw Invalid("'!' before a destination");
  if (is_destination && o.name == "_") {
    return {new_predicate(), nullptr};
  }
  const Register* r = find_register(o.name);
  if (r == nullptr) throw Invalid("unknown predicate '" + o.name + "'");
  if (r->type->kind != 'p')
    throw Invalid("register '" + o.name + "' is " + std::string(r->type->name) +
                  " where a predicate is needed");
  return {r->row, r->type};
}

uint64_t Builder::constant(const ptx::Operand& o) const {
  if (o.kind != OperandKind::integer) throw Invalid("an integer constant is needed");
  return o.integer;
}

// address = [register + n] | [variable + n] | [n]
Address Builder::address(const ptx::Operand& o, Space space) {
  if (o.kind != OperandKind::memory || o.elements.size() != 1)
    throw Invalid("an address in brackets is needed");
  const ptx::Operand& base = o.elements[0];
  Address out;
  out.offset = o.integer;
  if (base.kind == OperandKind::integer) {
    if (space != Space::local) throw Invalid("a constant address is for .local only");
    out.row = constant_row(64, base.integer);
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
    return out;
  }
  const Variable* v = find_variable(base.name);
  if (v == nullptr) throw Invalid("unknown name '" + base.name + "'");
  const bool parameter = space == Space::param && (v->space == Space::param || v->call_param);
  const bool own = space == Space::cluster && v->space == Space::shared;
  if (v->space != space && !parameter && !own && space != Space::generic)
    throw Invalid("variable '" + base.name + "' is not in that state space");
  if (space == Space::generic && v->space != Space::global && v->space != Space::constant)
    throw Invalid("variable '" + base.name + "' has no generic address here; use cvta");
  out.space = v->space;
  if (v->space == Space::local) {
    out.row = special_row(64, Special::local_base);
    out.offset += v->address;
  } else {
    out.row = address_row(64, *v);
  }
  return out;
}

uint32_t Builder::new_row(int bits) {
  if (rows.size() > 1u << 20) throw Unsupported("a function with more than a million registers");
  rows.push_back({bits, false});
  return static_cast<uint32_t>(rows.size() - 1) * 128;
}

uint32_t Builder::register_row(const Type& type) {
  return type.kind == 'p' ? new_predicate() : new_row(std::max(type.bits, 16));
}

uint32_t Builder::new_predicate() {
  const uint32_t row = new_row(16);
  rows.back().bits = 1;
  return row;
}

uint32_t Builder::carry_row() {
  if (carry_ == 0) carry_ = new_row(32);
  return carry_;
}

uint32_t Builder::constant_row(int bits, uint64_t value) {
  const auto [at, is_new] = constants_.try_emplace({bits, value}, 0);
  if (is_new) {
    at->second = new_row(bits);
    rows.back().fixed = true;
    out_.constants.push_back({at->second, bits, value});
  }
  return at->second;
}

uint32_t Builder::address_row(int bits, const Variable& v, uint64_t offset) {
  const uint64_t address = v.address + offset;
  if (v.space == Space::shared) return special_row(bits, Special::shared_base, address);
  return constant_row(bits, bits == 64 ? address : address & 0xFFFFFFFFu);
}

uint32_t Builder::special_row(int bits, Special s, uint64_t offset) {
  const auto [at, is_new] = specials_.try_emplace({bits, s, offset}, 0);
  if (is_new) {
    at->second = new_row(bits);
    rows.back().fixed = true;
    out_.specials.push_back({at->second, bits, s, offset});
  }
  return at->second;
}

Op& Builder::emit(Op op) {
  op.line = static_cast<int>(out_.lines.size()) - 1;
  if (instruction_->guard) {
    ptx::Operand guard;
    guard.name = instruction_->guard->predicate;
    bool unused = false;
    op.guard = predicate(guard, false, unused).row;
    op.guard_negated = instruction_->guard->negated;
  }
  out_.code.push_back(op);
  return out_.code.back();
}

Op Builder::lanes(const std::string& name) {
  const auto at = lanes_catalog().find(name);
  if (at == lanes_catalog().end()) throw ModelBug("no lane loop '" + name + "'");
  Op op;
  op.lanes = at->second;
  track_bits(op, name);
  return op;
}

std::vector<uint32_t>* Builder::new_list() { return &out_.lists.emplace_back(); }
CallSite* Builder::new_call() { return &out_.calls.emplace_back(); }
Transfer* Builder::new_transfer() { return &out_.transfers.emplace_back(); }
Mma* Builder::new_mma() { return &out_.mmas.emplace_back(); }

uint32_t Builder::label(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->labels.find(name);
    if (at != scope->labels.end()) return at->second;
  }
  throw Invalid("unknown label '" + name + "'");
}

const std::vector<std::string>* Builder::branch_targets(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->tables.find(name);
    if (at != scope->tables.end() && at->second->kind == ptx::Statement::Kind::branch_targets)
      return &at->second->targets;
  }
  return nullptr;
}

const ptx::Function* Builder::prototype(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto at = scope->tables.find(name);
    if (at != scope->tables.end() && at->second->kind == ptx::Statement::Kind::call_prototype)
      return &at->second->prototype[0];
  }
  return nullptr;
}

}  // namespace bitwell::isa
