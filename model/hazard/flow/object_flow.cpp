#include "model/hazard/flow/object_flow.h"

#include <algorithm>

namespace bitwell::hazard {

using isa::Act;
using isa::Carry;
using Of = isa::Use::Of;
using Take = isa::Use::Take;

namespace {

// The first two values: a constant, and what comes from elsewhere.
constexpr size_t kConstant = 0, kElsewhere = 1;

bool calls(const isa::Uses& uses) {
  return uses.act == Act::calls || uses.act == Act::allocates || uses.act == Act::frees;
}

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

// Values are numbered as they are met: objects, what functions take and return, then instruction by
// instruction.
ObjectFlow::ObjectFlow(const isa::Program& program, const std::vector<std::string>& objects)
    : program_(program), values_{{Value::Address::none, 0, false, true}, unknown()} {
  for (size_t i = 0; i < objects.size(); ++i) {
    if (std::count(objects.begin(), objects.end(), objects[i]) != 1) continue;
    objects_[objects[i]] = object_values_[i] = new_value({Value::Address::one, i, false, true});
  }
  names_.resize(program.functions.size());
  size_t operands = 0;
  for (size_t f = 0; f < program.functions.size(); ++f) {
    const isa::Function& function = program.functions[f];
    operands += function.uses.operand_count();
    const size_t formals = function.returns.size() + function.params.size();
    for (uint32_t n = 0; n < formals; ++n) {
      const size_t value = parameter(f, n);
      if (function.is_entry) values_[value] = unknown();
    }
  }
  operand_values_.resize(operands);
  result_values_.reserve(operands);
  size_t first = 0;
  for (function_ = 0; function_ < program.functions.size(); ++function_) {
    const isa::Function& function = program.functions[function_];
    ++block_;
    walk(function.uses, function.lines, first);
    first += function.uses.operand_count();
  }
  settle();
}

std::optional<size_t> ObjectFlow::object_of(size_t value) const {
  const Value& v = values_[value];
  return v.address == Value::Address::one && !v.other ? std::optional(v.object) : std::nullopt;
}

size_t ObjectFlow::new_value(const Value& value) {
  values_.push_back(value);
  return values_.size() - 1;
}

ObjectFlow::Register& ObjectFlow::register_at(uint32_t number) {
  std::vector<Register>& registers = names_[function_].registers;
  if (registers.size() <= number) registers.resize(number + 1);
  if (registers[number].value == 0) registers[number].value = new_value();
  return registers[number];
}

size_t ObjectFlow::parameter(size_t function, uint32_t number) {
  std::vector<size_t>& parameters = names_[function].parameters;
  if (parameters.size() <= number) parameters.resize(number + 1);
  if (parameters[number] == 0) parameters[number] = new_value();
  return parameters[number];
}

size_t ObjectFlow::value_of(const isa::FunctionUses& uses, const isa::Use& operand) {
  if (operand.take == Take::result) return kConstant;
  switch (operand.of) {
    case Of::reg: {
      const Register& r = register_at(operand.number);
      return r.block == block_ ? r.latest : r.value;
    }
    case Of::parameter: return parameter(function_, operand.number);
    case Of::variable: {
      const auto object = objects_.find(uses.variable(operand));
      return object == objects_.end() ? kElsewhere : object->second;
    }
    case Of::function: {
      // A function whose address is taken may be called with anything.
      const isa::Function& taken = program_.functions[operand.number];
      if (operand.take == Take::data)
        for (size_t n = 0; n < taken.params.size(); ++n)
          values_[parameter(operand.number, static_cast<uint32_t>(taken.returns.size() + n))] = unknown();
      return kElsewhere;
    }
    case Of::special: return kElsewhere;
    default: return kConstant;
  }
}

void ObjectFlow::walk(const isa::FunctionUses& uses, const std::vector<isa::Line>& lines,
                      size_t first_operand) {
  for (size_t i = 0; i < uses.size(); ++i) {
    const isa::Uses what = uses.at(i);
    if (what.behind_label) ++block_;
    const std::span<size_t> values(operand_values_.data() + first_operand + what.first_operand,
                                   what.operands.size());
    for (size_t n = 0; n < values.size(); ++n) values[n] = value_of(uses, what.operands[n]);
    const bool maybe = std::any_of(what.operands.begin(), what.operands.end(),
                                   [](const isa::Use& u) { return u.take == Take::guard; });
    const size_t results = result_values_.size();
    Use use{lines[i].ptx, what, &uses, values, {}};
    if (calls(what)) {
      call(use);
    } else if (what.touches.size() == 1 && what.touches[0].space == isa::Space::param) {
      // What is stored into a parameter is what is loaded from it.
      size_t& place = values[what.touches[0].address];
      if (what.touches[0].reads)
        assign(Rule::join, use, {place}, maybe);
      else
        steps_.push_back({Rule::join, place, use.data()});
      place = kConstant;
    } else if (!what.touches.empty()) {
      assign(Rule::join, use, {kElsewhere}, maybe);
    } else {
      computes(use, maybe);
    }
    use.results = {result_values_.data() + results, result_values_.size() - results};
    uses_.push_back(use);
  }
}

void ObjectFlow::computes(const Use& use, bool maybe) {
  std::vector<size_t> from = use.data();
  Carry carry = use.what.carry;
  if (from.empty()) {
    from.push_back(kElsewhere);
    carry = Carry::opaque;
  }
  Rule rule = Rule::opaque;
  if (carry == Carry::copy || carry == Carry::any) {
    rule = Rule::join;
  } else if (carry == Carry::first || isa::shuffles(carry)) {
    from.resize(1);
    rule = Rule::join;
  } else if (carry == Carry::either) {
    from.resize(2);
    rule = Rule::join;
  } else if (carry == Carry::sum) {
    rule = Rule::plus;
  } else if (carry == Carry::difference) {
    rule = Rule::minus;
  } else if (carry == Carry::product_sum) {
    // The product, then the sum with it.
    const size_t product = new_value();
    steps_.push_back({Rule::opaque, product, {from[0], from[1]}});
    from = {product, from[2]};
    rule = Rule::plus;
  }
  assign(rule, use, from, maybe);
}

// What is called, the arguments, the results.
void ObjectFlow::call(const Use& use) {
  const isa::Function* callee = nullptr;
  size_t function = 0;
  uint32_t argument = 0, result = 0;
  for (size_t i = 0; i < use.values.size(); ++i) {
    const isa::Use& operand = use.what.operands[i];
    if (operand.of == Of::function && operand.take == Take::address) {
      function = operand.number;
      callee = &program_.functions[function];
      if (callee->uses.size() == 0) callee = nullptr;  // of another module
    } else if (operand.of == Of::parameter && operand.take == Take::data) {
      if (callee != nullptr && argument < callee->params.size())
        steps_.push_back({Rule::join,
                          parameter(function, static_cast<uint32_t>(callee->returns.size()) + argument),
                          {use.values[i]}});
      ++argument;
    } else if (operand.of == Of::parameter && operand.take == Take::result) {
      const bool known = callee != nullptr && result < callee->returns.size();
      steps_.push_back({Rule::join,
                        parameter(function_, operand.number),
                        {known ? parameter(function, result) : kElsewhere}});
      ++result;
    }
  }
}

void ObjectFlow::assign(Rule rule, const Use& use, const std::vector<size_t>& from, bool maybe) {
  for (const isa::Use& operand : use.what.operands) {
    if (!operand.written() || operand.of != Of::reg) continue;
    const size_t next = new_value();
    Register& r = register_at(operand.number);
    steps_.push_back({rule, next, from});
    if (maybe) steps_.push_back({Rule::join, next, {r.block == block_ ? r.latest : r.value}});
    steps_.push_back({Rule::join, r.value, {next}});
    r.latest = next;
    r.block = block_;
    result_values_.push_back(next);
  }
}

}  // namespace bitwell::hazard
