#include "model/isa/compile/module_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "model/isa/form/reserved_shared.h"
#include "model/machine/arch.h"
#include "model/machine/failure.h"
#include "model/machine/limits.h"
#include "model/machine/memory/memory.h"

namespace bitwell::isa {
namespace {

using machine::InputError;

// PTX versions by major number and last minor one; earlier ones know none of these targets.
constexpr std::pair<int, int> kLastMinor[] = {{3, 2}, {4, 3}, {5, 1}, {6, 5}, {7, 8}, {8, 8}, {9, 5}};
constexpr int kNewestVersion = 95;

std::string at_line(int line) { return "line " + std::to_string(line) + ": "; }

constexpr std::string_view kReservedNames = "%reserved_smem_";

// Adds names to `all`, and those that are new there to `fresh`.
struct NamesIn {
  std::unordered_set<std::string_view>& all;
  std::vector<std::string_view>& fresh;
  bool percents;  // some variable or function of the module is called %...: else such names are registers'

  void add(std::string_view name) {
    if (name[0] == '%' && !percents && !name.starts_with(kReservedNames)) return;
    if (all.insert(name).second) fresh.push_back(name);
  }
  void add(const ptx::Operand& operand) {
    if (!operand.name.empty()) add(operand.name);
    for (const ptx::Operand& e : operand.elements) add(e);
  }
  void add(const std::vector<ptx::Statement>& body) {
    for (const ptx::Statement& s : body) {
      for (const ptx::Operand& o : s.instruction.operands) add(o);
      for (const std::string& t : s.targets) add(t);
      add(s.body);
    }
  }
};

// Whether it calls what only an address tells. `.calltargets` says which functions that may be.
bool calls_any(const std::vector<ptx::Statement>& body) {
  return std::any_of(body.begin(), body.end(), [](const ptx::Statement& s) {
    return s.kind == ptx::Statement::Kind::call_prototype || calls_any(s.body);
  });
}

// `visit` of each name that stands in another instruction than a call.
void named_but_for_calls(const std::vector<ptx::Statement>& body,
                         const std::function<void(const std::string&)>& visit) {
  const std::function<void(const ptx::Operand&)> in = [&](const ptx::Operand& o) {
    if (!o.name.empty()) visit(o.name);
    for (const ptx::Operand& e : o.elements) in(e);
  };
  for (const ptx::Statement& s : body) {
    if (s.instruction.opcode != "call")
      for (const ptx::Operand& o : s.instruction.operands) in(o);
    named_but_for_calls(s.body, visit);
  }
}

void shared_in(const std::vector<ptx::Statement>& body,
               const std::function<void(const ptx::Variable&)>& visit) {
  for (const ptx::Statement& s : body) {
    if (s.kind == ptx::Statement::Kind::variable && s.variable.space == ".shared") visit(s.variable);
    shared_in(s.body, visit);
  }
}

uint64_t align_up(uint64_t v, uint64_t align) { return (v + align - 1) / align * align; }

}  // namespace

namespace {

// A variable whose size is written nowhere, or is 0, is only a name for one elsewhere.
void require_size(const ptx::Variable& v) {
  const bool none = !v.dims.empty() && v.dims[0] <= 0 && !(v.dims[0] < 0 && v.initialized);
  if (none && v.linkage != ".extern")
    throw InputError(at_line(v.at.line) + "variable '" + v.name + "' has no size");
}

}  // namespace

ModuleLayout::ModuleLayout(const ptx::Module& m, const std::string& entry, const machine::ModulePlace& place)
    : module(m) {
  const machine::Target target = machine::find_target(m.target);
  const auto* last = std::find_if(std::begin(kLastMinor), std::end(kLastMinor),
                                  [&](const auto& v) { return v.first == m.version / 10; });
  if (m.version > kNewestVersion)
    throw machine::Unsupported("PTX version " + std::to_string(m.version / 10) + "." +
                               std::to_string(m.version % 10) + ", which is newer than 9.5 (CUDA 13.5)");
  if (last == std::end(kLastMinor) || m.version % 10 > last->second)
    throw InputError("PTX version " + std::to_string(m.version / 10) + "." + std::to_string(m.version % 10) +
                     " never was, or is older than every target");
  if (m.version < target.version)
    throw InputError("PTX version " + std::to_string(m.version / 10) + "." + std::to_string(m.version % 10) +
                     " does not know target '" + m.target + "'");
  if (m.address_size != 64) throw machine::Unsupported(".address_size " + std::to_string(m.address_size));
  for (const std::string& option : m.target_options)
    if (option != "debug") throw machine::Unsupported("target option '" + option + "'");
  sm = target.arch->sm;
  if (target.suffix != 0) suffix = target.suffix;
  index_functions();
  reach(entry);
  place_variables(entry, place);
}

// A declaration and its definition must agree.
bool same_parameters(const std::vector<ptx::Variable>& a, const std::vector<ptx::Variable>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const ptx::Variable& x, const ptx::Variable& y) {
        return x.space == y.space && size_of(x) == size_of(y) && x.dims.size() == y.dims.size() &&
               find_type(x.type)->kind == find_type(y.type)->kind;
      });
}

void ModuleLayout::index_functions() {
  for (const ptx::Function& f : module.functions) {
    const auto [at, is_new] = function_at_.emplace(f.name, static_cast<int>(functions.size()));
    if (is_new) {
      functions.push_back(&f);
      continue;
    }
    const ptx::Function*& known = functions[static_cast<size_t>(at->second)];
    if (f.has_body && known->has_body)
      throw InputError(at_line(f.at.line) + "function '" + f.name + "' is defined twice");
    if (f.is_entry != known->is_entry || !same_parameters(f.params, known->params) ||
        !same_parameters(f.returns, known->returns))
      throw InputError(at_line(f.at.line) + "function '" + f.name +
                       "' is declared with other parameters elsewhere");
    if (f.has_body) known = &f;
  }
}

int ModuleLayout::find_function(std::string_view name) const {
  const auto at = function_at_.find(name);
  return at == function_at_.end() ? -1 : at->second;
}

std::vector<SharedVariable> ModuleLayout::shared_variables() const {
  std::vector<SharedVariable> out;
  if (reserved_shared != 0) out.push_back({std::string(kReservedShared), 0, reserved_shared});
  // Dynamic shared memory has a name for each kernel that uses it, and all begin at the same place.
  for (const auto& [name, v] : variables)
    if (v.variable->space == ".shared" && names_.contains(name)) out.push_back({name, v.address, v.size});
  for (const auto& [variable, offset] : shared_places)
    out.push_back({variable->name, offset, size_of(*variable)});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return out;
}

void ModuleLayout::reach(const std::string& entry) {
  reachable.assign(functions.size(), entry.empty());
  // Names of functions, and of variables whose initializers may name functions.
  std::vector<std::string_view> work;
  const auto percent = [](const auto& named) { return named.name.starts_with('%'); };
  const bool percents = std::any_of(module.variables.begin(), module.variables.end(), percent) ||
                        std::any_of(module.functions.begin(), module.functions.end(), percent);
  NamesIn names{names_, work, percents};
  if (entry.empty()) {
    for (const ptx::Function* f : functions) names.add(f->body);
    return;
  }
  const int start = find_function(entry);
  if (start < 0 || !functions[static_cast<size_t>(start)]->is_entry ||
      !functions[static_cast<size_t>(start)]->has_body) {
    std::string known;
    for (const ptx::Function* f : functions)
      if (f->is_entry) known += (known.empty() ? "" : ", ") + f->name;
    throw InputError("no entry '" + entry + "' in the module; it has " + (known.empty() ? "none" : known));
  }
  std::multimap<std::string_view, const ptx::Variable*> initialized;
  for (const ptx::Variable& v : module.variables)
    if (!v.initializers.empty()) initialized.emplace(v.name, &v);
  // An address may come from a kernel that ran before: the table of an object that it made.
  const auto add_addresses = [&] {
    const auto add = [&](const std::string& name) {
      if (find_function(name) >= 0) names.add(name);
    };
    for (const auto& [name, v] : initialized)
      for (const ptx::Initializer& i : v->initializers) add(i.value.name);
    for (const ptx::Function* f : functions) named_but_for_calls(f->body, add);
  };
  bool any = false;
  work.push_back(entry);
  while (!work.empty()) {
    const std::string_view name = work.back();
    work.pop_back();
    if (const int f = find_function(name); f >= 0) {
      if (reachable[static_cast<size_t>(f)]) continue;
      reachable[static_cast<size_t>(f)] = true;
      const std::vector<ptx::Statement>& body = functions[static_cast<size_t>(f)]->body;
      names.add(body);
      if (!any && calls_any(body)) {
        any = true;
        add_addresses();
      }
    }
    for (auto [v, last] = initialized.equal_range(name); v != last; ++v)
      for (const ptx::Initializer& i : v->second->initializers) names.add(i.value);
  }
}

void ModuleLayout::place_variables(const std::string& entry, const machine::ModulePlace& where) {
  uint64_t global = where.globals - machine::kGuard;  // the end of the last one
  uint64_t constant = 0;
  uint64_t dynamic_align = 16;
  const auto asks = [](std::string_view name) { return name.starts_with(kReservedNames); };
  if (std::any_of(names_.begin(), names_.end(), asks))
    reserved_shared = machine::arch(sm).sm_shared - machine::arch(sm).shared;
  uint64_t shared = reserved_shared;  // the end of the last variable
  const auto place = [](uint64_t& end, const ptx::Variable& v) {
    require_size(v);
    const uint64_t at = align_up(end, align_of(v));
    end = at + size_of(v);
    return at;
  };
  for (const ptx::Variable& v : module.variables) {
    if (v.space == ".shared" && v.initialized)
      throw InputError(at_line(v.at.line) + ".shared variable '" + v.name + "' cannot be initialised");
    const bool dynamic = v.space == ".shared" && v.linkage == ".extern";
    if (v.space == ".shared") {
      if (dynamic && names_.count(v.name) != 0) dynamic_align = std::max(dynamic_align, align_of(v));
      require_size(v);
      if (dynamic || names_.count(v.name) == 0) continue;
      variables[v.name] = {&v, place(shared, v), size_of(v)};
    } else if (v.space == ".global") {
      if (v.linkage == ".extern")
        throw machine::Unsupported(at_line(v.at.line) + ".extern .global '" + v.name + "'");
      global = align_up(global + machine::kGuard, 256);
      variables[v.name] = {&v, place(global, v), size_of(v)};
      if (global + machine::kGuard > machine::kBuffers)
        throw machine::Unsupported(at_line(v.at.line) + ".global variables of more than " +
                                   std::to_string((machine::kBuffers - machine::kModuleGlobals) >> 40) +
                                   " TiB");
    } else if (v.space == ".const") {
      variables[v.name] = {&v, where.constants + place(constant, v), size_of(v)};
      if (constant > machine::kMaxConstant)
        throw InputError(at_line(v.at.line) + "the module's .const variables take " +
                         std::to_string(constant) + " bytes with '" + v.name + "', the limit is " +
                         std::to_string(machine::kMaxConstant));
    } else {
      throw InputError(at_line(v.at.line) + v.space + " variable '" + v.name + "' outside a function");
    }
  }
  for (size_t f = 0; f < functions.size(); ++f)
    if (reachable[f])
      shared_in(functions[f]->body, [&](const ptx::Variable& v) { shared_places[&v] = place(shared, v); });
  shared_size = shared - reserved_shared;
  if (const uint64_t most = machine::max_static_shared(sm, suffix); !entry.empty() && shared_size > most)
    throw InputError("entry '" + entry + "' has " + std::to_string(shared_size) +
                     " bytes of static shared memory, " + module.target + " allows " + std::to_string(most));
  dynamic_shared = align_up(shared, dynamic_align);
  for (const ptx::Variable& v : module.variables)
    if (v.space == ".shared" && v.linkage == ".extern") variables[v.name] = {&v, dynamic_shared, 0};
}

std::vector<GlobalVariable> ModuleLayout::globals() const {
  std::map<std::string_view, int> first_line;  // where a name is first declared
  const auto declared = [&](const auto& d) {
    const auto at = first_line.emplace(d.name, d.at.line).first;
    at->second = std::min(at->second, d.at.line);
  };
  for (const ptx::Function& f : module.functions) declared(f);
  for (const ptx::Variable& v : module.variables) declared(v);
  std::vector<GlobalVariable> out;
  for (const auto& [name, place] : variables) {
    if (place.variable->space == ".shared") continue;
    GlobalVariable g{name, place.address, place.size, {}, place.variable->space == ".const"};
    const size_t element = static_cast<size_t>(find_type(place.variable->type)->bits) / 8;
    if (place.variable->initialized && element < 4 && place.variable->type[1] == 'f')
      throw machine::Unsupported(at_line(place.variable->at.line) + "an initialised " + place.variable->type +
                                 " variable");
    size_t offset = 0;
    for (const ptx::Initializer& i : place.variable->initializers) {
      uint64_t value = i.value.integer;
      if (i.value.kind == ptx::OperandKind::name) {
        const int line = place.variable->at.line;
        if (const int f = find_function(i.value.name); f >= 0 && !functions[static_cast<size_t>(f)]->has_body)
          throw machine::Unsupported(at_line(line) + "the address of '" + i.value.name +
                                     "', which has no body");
        if (const auto at = first_line.find(i.value.name); at == first_line.end() || at->second >= line)
          throw InputError(at_line(line) + "'" + i.value.name + "' in an initializer is not declared before");
        const auto symbol = variables.find(i.value.name);
        const int f = find_function(i.value.name);
        if (symbol != variables.end())
          value += symbol->second.address;
        else if (f >= 0)
          value += kFunctionWindow + static_cast<uint64_t>(f);
        else
          throw InputError(at_line(i.value.at.line) + "unknown name '" + i.value.name +
                           "' in an initializer");
      } else if (i.value.kind == ptx::OperandKind::floating) {
        if (element == 4 && !i.value.is_single)
          value = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
        if (element == 8 && i.value.is_single)
          value = std::bit_cast<uint64_t>(
              static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value))));
      }
      if (g.size == 0)
        throw machine::Unsupported(at_line(place.variable->at.line) +
                                   "an initialized array of 0 elements, '" + name + "'");
      if (offset + element > g.size)
        throw InputError(at_line(place.variable->at.line) + "too many initializers for '" + name + "'");
      g.bytes.resize(offset + element);
      std::memcpy(g.bytes.data() + offset, &value, std::min<size_t>(element, 8));
      offset += element;
    }
    out.push_back(std::move(g));
  }
  return out;
}

}  // namespace bitwell::isa
