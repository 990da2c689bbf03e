#include "model/hazard/object_flow.h"

#include <algorithm>

#include "model/hazard/register_range.h"

namespace bitwell::hazard {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Statement;

namespace {

// The first two values: a constant, and what comes from elsewhere.
constexpr size_t kConstant = 0, kElsewhere = 1;

// A mask that clears low bits alone, as alignment does.
bool aligns(const Operand& mask, int bits) {
  if (mask.kind != OperandKind::integer) return false;
  const uint64_t low = ~mask.integer & (bits == 32 ? UINT32_MAX : UINT64_MAX);
  return (low & (low + 1)) == 0 && low < UINT32_MAX;
}

int bits_of(const Instruction& i) { return has(i, ".b32") ? 32 : 64; }

}  // namespace

ObjectFlow::Value ObjectFlow::joined(const Value& a, const Value& b) {
  using enum Value::Address;
  Value out = a.address == none ? b : a;
  out.other = a.other || b.other;
  out.assigned = a.assigned || b.assigned;
  const bool two = a.address != none && b.address != none;
  if (two && (a.address == lost || b.address == lost || a.object != b.object)) out.address = lost;
  return out;
}

// An address and a word from elsewhere, which is then an index.
ObjectFlow::Value ObjectFlow::sum(const Value& a, const Value& b) {
  using enum Value::Address;
  if (a.address != none && b.address != none) return {lost, 0, false, true};
  if (a.address == none && b.address == none) return {none, 0, a.other || b.other, true};
  return a.address != none ? a : b;
}

ObjectFlow::Value ObjectFlow::difference(const Value& a, const Value& b) {
  using enum Value::Address;
  if (b.address == none) return sum(a, b);
  const bool index = a.address == one && b.address == one && a.object == b.object && !a.other && !b.other;
  return index ? unknown() : Value{lost, 0, false, true};
}

ObjectFlow::Value ObjectFlow::result(const Step& step) const {
  using enum Value::Address;
  const bool waits = std::any_of(step.from.begin(), step.from.end(),
                                 [&](size_t number) { return !values_[number].assigned; });
  if (waits && step.rule != Rule::join) return {};
  Value out = values_[step.from.front()];
  for (size_t i = 1; i < step.from.size(); ++i) {
    const Value& next = values_[step.from[i]];
    if (step.rule == Rule::plus)
      out = sum(out, next);
    else if (step.rule == Rule::minus)
      out = difference(out, next);
    else
      out = joined(out, next);
  }
  if (step.rule == Rule::opaque && out.assigned)
    return out.address == none ? unknown() : Value{lost, 0, false, true};
  return out;
}

// What a name may hold only grows: until nothing does.
void ObjectFlow::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Step& step : steps_) {
      const Value next = joined(values_[step.to], result(step));
      changed = changed || !(next == values_[step.to]);
      values_[step.to] = next;
    }
  }
}

ObjectFlow::ObjectFlow(const ptx::Module& module, const std::vector<std::string>& objects) {
  values_ = {{Value::Address::none, 0, false, true}, unknown()};
  for (size_t i = 0; i < objects.size(); ++i) {
    if (std::count(objects.begin(), objects.end(), objects[i]) != 1) continue;
    objects_[objects[i]] = object_values_[i] = values_.size();
    values_.push_back({Value::Address::one, i, false, true});
  }
  std::vector<std::vector<Scope>> roots;
  for (const ptx::Function& f : module.functions) {
    enter();
    Callee callee;
    callee.has_body = f.has_body;
    for (const auto& [list, to] : {std::pair{&f.params, &callee.params}, {&f.returns, &callee.returns}})
      for (const ptx::Variable& v : *list) {
        declare(v);
        to->push_back(scopes_.back().names[v.name]);
        if (f.is_entry) values_[to->back()] = unknown();
      }
    if (f.has_body || callees_.count(f.name) == 0) callees_[f.name] = callee;
    roots.push_back(std::move(scopes_));
    scopes_.clear();
  }
  for (size_t i = 0; i < module.functions.size(); ++i) {
    scopes_ = std::move(roots[i]);
    latest_.clear();
    walk(module.functions[i].body);
  }
  scopes_.clear();
  settle();
}

std::optional<size_t> ObjectFlow::object_of(size_t value) const {
  const Value& v = values_[value];
  return v.address == Value::Address::one && !v.other ? std::optional(v.object) : std::nullopt;
}

void ObjectFlow::enter() { scopes_.push_back({scope_count_++, {}, {}}); }

void ObjectFlow::declare(const ptx::Variable& v) {
  if (v.range) {
    scopes_.back().ranges.emplace_back(v.name, *v.range);
  } else if (v.space == ".reg" || v.space == ".param") {
    scopes_.back().names[v.name] = values_.size();
    values_.emplace_back();
  }
}

// The value of a register or parameter, the innermost of that name.
std::optional<size_t> ObjectFlow::find(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto at = scope->names.find(name); at != scope->names.end()) return at->second;
    for (const auto& [prefix, count] : scope->ranges) {
      const auto one = register_of(name, prefix, count);
      if (!one) continue;
      const auto [at, fresh] =
          ranged_.try_emplace(std::to_string(scope->number) + " " + *one, values_.size());
      if (fresh) values_.emplace_back();
      return at->second;
    }
  }
  return std::nullopt;
}

size_t ObjectFlow::value_of(const Operand& o) {
  if (o.kind == OperandKind::memory) return o.elements.empty() ? kElsewhere : value_of(o.elements.front());
  if (o.kind != OperandKind::name) return kConstant;
  if (const auto found = find(o.name)) return latest(*found);
  // A function whose address is taken may be called with anything.
  if (const auto callee = callees_.find(o.name); callee != callees_.end())
    for (const size_t p : callee->second.params) values_[p] = unknown();
  const auto object = objects_.find(o.name);
  return object == objects_.end() ? kElsewhere : object->second;
}

void ObjectFlow::values_of(const Operand& o, std::vector<size_t>& out) {
  if (o.kind != OperandKind::vector && o.kind != OperandKind::list && o.kind != OperandKind::pair)
    return out.push_back(value_of(o));
  for (const Operand& e : o.elements) values_of(e, out);
}

void ObjectFlow::walk(const std::vector<Statement>& body) {
  for (const Statement& s : body) {
    if (s.kind == Statement::Kind::variable) declare(s.variable);
    if (s.kind == Statement::Kind::label) latest_.clear();
    if (s.kind == Statement::Kind::instruction) instruction(s.instruction);
    if (s.kind != Statement::Kind::block) continue;
    enter();
    walk(s.body);
    scopes_.pop_back();
  }
}

void ObjectFlow::instruction(const Instruction& i) {
  if (i.opcode == "call") return call(i);
  uses_.push_back({&i, {}, {}, {}, {}});
  if (i.guard)
    if (const auto found = find(i.guard->predicate)) uses_.back().guard = latest(*found);
  if (i.operands.empty()) return;
  const bool parameter = has(i, ".param") || has(i, ".param::func") || has(i, ".param::entry");
  if (i.opcode == "ld" && parameter)
    return assign(Rule::join, i.operands[0], {value_of(i.operands[1])}, i.guard.has_value());
  if (i.opcode == "st" && parameter) {
    std::vector<size_t> from;
    values_of(i.operands[1], from);
    steps_.push_back({Rule::join, value_of(i.operands[0]), from});
    return;
  }
  Use& use = uses_.back();
  for (const Operand& o : i.operands) {
    if (o.kind == OperandKind::memory)
      use.addresses.push_back(value_of(o));
    else if (&o != &i.operands.front() || i.opcode == "wgmma")  // whose accumulators are read too
      values_of(o, use.sources);
  }
  if (use.addresses.empty()) return computes(i);
  if (i.operands[0].kind != OperandKind::memory)
    assign(Rule::join, i.operands[0], {kElsewhere}, i.guard.has_value());
}

void ObjectFlow::computes(const Instruction& i) {
  std::vector<size_t> from = uses_.back().sources;
  const std::string& op = i.opcode;
  if (from.empty()) from.push_back(kElsewhere);
  Rule rule = Rule::opaque;
  if (op == "mov" || op == "cvta" || op == "cvt" || op == "shfl" || op == "mapa") {
    if (op == "shfl" || op == "mapa") from.erase(from.begin() + 1, from.end());
    rule = Rule::join;
  } else if (op == "selp" && from.size() == 3) {
    from.pop_back();
    rule = Rule::join;
  } else if (op == "add" || op == "or" || op == "xor") {
    rule = Rule::plus;
  } else if (op == "sub") {
    rule = Rule::minus;
  } else if (op == "and" && (aligns(i.operands[1], bits_of(i)) || aligns(i.operands[2], bits_of(i)))) {
    rule = Rule::plus;
  } else if (op == "mad" && from.size() == 3) {
    // The product, then the sum with it.
    const size_t product = values_.size();
    values_.emplace_back();
    steps_.push_back({Rule::opaque, product, {from[0], from[1]}});
    from = {product, from[2]};
    rule = Rule::plus;
  }
  assign(rule, i.operands[0], from, i.guard.has_value());
}

void ObjectFlow::call(const Instruction& i) {
  std::vector<std::vector<size_t>> lists;
  const Callee* callee = nullptr;
  size_t before = 0;  // lists before the function: what it returns
  for (const Operand& o : i.operands) {
    if (o.kind == OperandKind::list) {
      values_of(o, lists.emplace_back());
    } else if (o.kind == OperandKind::name && before == 0 && callee == nullptr) {
      const auto at = find(o.name) ? callees_.end() : callees_.find(o.name);
      callee = at == callees_.end() ? nullptr : &at->second;
      before = lists.size() + 1;
    }
  }
  const bool known = callee != nullptr && callee->has_body;
  if (before == 2)
    for (size_t k = 0; k < lists[0].size(); ++k)
      steps_.push_back(
          {Rule::join, lists[0][k], {known && k < callee->returns.size() ? callee->returns[k] : kElsewhere}});
  if (known && before - 1 < lists.size())
    for (size_t k = 0; k < std::min(lists[before - 1].size(), callee->params.size()); ++k)
      steps_.push_back({Rule::join, callee->params[k], {lists[before - 1][k]}});
}

void ObjectFlow::assign(Rule rule, const Operand& to, const std::vector<size_t>& from, bool maybe) {
  if (to.kind == OperandKind::vector || to.kind == OperandKind::pair) {
    for (const Operand& e : to.elements) assign(rule, e, from, maybe);
  } else if (const auto found = to.kind == OperandKind::name ? find(to.name) : std::nullopt) {
    const size_t next = values_.size();
    values_.emplace_back();
    steps_.push_back({rule, next, from});
    if (maybe) steps_.push_back({Rule::join, next, {latest(*found)}});
    steps_.push_back({Rule::join, *found, {next}});
    latest_[*found] = next;
    uses_.back().results.push_back(next);
  }
}

size_t ObjectFlow::latest(size_t number) const {
  const auto at = latest_.find(number);
  return at == latest_.end() ? number : at->second;
}

}  // namespace bitwell::hazard
