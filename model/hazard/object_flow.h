// Which variable a register's address derives from: what is assigned to it before in the same block of
// instructions, or else of all that ever is. What cannot be followed is not known, and never guessed.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/ptx/syntax.h"

namespace bitwell::hazard {

class ObjectFlow {
 public:
  // `objects`: the names of variables; those that stand there twice are not followed.
  ObjectFlow(const ptx::Module& module, const std::vector<std::string>& objects);

  // An instruction, with the numbers of the values in its operands and those that it makes.
  struct Use {
    const ptx::Instruction* instruction;
    std::vector<size_t> addresses, sources, results;
    std::optional<size_t> guard;
  };
  const std::vector<Use>& uses() const { return uses_; }
  // The one object that a value is an address in, or nothing.
  std::optional<size_t> object_of(size_t value) const;
  // Calls visit(from, to) where one value becomes part of another.
  template <class Visit>
  void each_flow(Visit visit) const {
    for (const Step& s : steps_)
      for (const size_t from : s.from) visit(from, s.to);
  }
  // The same of what may be an address still: not of products, shifts and the like.
  template <class Visit>
  void each_address_flow(Visit visit) const {
    for (const Step& s : steps_)
      for (const size_t from : s.from)
        if (s.rule != Rule::opaque) visit(from, s.to);
  }
  size_t value_count() const { return values_.size(); }
  // The value that is the address of an object, or nothing: it is not followed.
  std::optional<size_t> value_of_object(size_t object) const {
    const auto at = object_values_.find(object);
    return at == object_values_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  // What a name may hold, once something was found that it is assigned: addresses of one object, of several
  // or of one that got lost on the way; and words that came from elsewhere: from memory, parameters, special
  // registers.
  struct Value {
    enum class Address : uint8_t { none, one, lost } address = Address::none;
    size_t object = 0;
    bool other = false;
    bool assigned = false;

    bool operator==(const Value&) const = default;
  };
  static Value unknown() { return {Value::Address::none, 0, true, true}; }
  enum class Rule : uint8_t { join, plus, minus, opaque };
  struct Step {
    Rule rule;
    size_t to;
    std::vector<size_t> from;  // numbers of values
  };
  struct Scope {
    size_t number;
    std::map<std::string, size_t> names;
    std::vector<std::pair<std::string, int>> ranges;
  };
  struct Callee {
    std::vector<size_t> params, returns;
    bool has_body = false;
  };

  static Value joined(const Value& a, const Value& b);
  static Value sum(const Value& a, const Value& b);
  static Value difference(const Value& a, const Value& b);
  Value result(const Step& step) const;
  void settle();

  void enter();
  void declare(const ptx::Variable& v);
  std::optional<size_t> find(const std::string& name);
  size_t value_of(const ptx::Operand& operand);
  void values_of(const ptx::Operand& operand, std::vector<size_t>& out);
  void walk(const std::vector<ptx::Statement>& body);
  void instruction(const ptx::Instruction& i);
  void computes(const ptx::Instruction& i);
  void call(const ptx::Instruction& i);
  // `maybe`: only where the instruction's guard holds.
  void assign(Rule rule, const ptx::Operand& to, const std::vector<size_t>& from, bool maybe);
  size_t latest(size_t number) const;

  std::vector<Value> values_;
  std::vector<Step> steps_;
  std::vector<Use> uses_;
  std::vector<Scope> scopes_;
  size_t scope_count_ = 0;
  std::map<std::string, size_t> objects_;   // by name: numbers of values
  std::map<size_t, size_t> object_values_;  // by number of the object
  std::map<std::string, size_t> ranged_;    // registers of ranges, by scope and name
  std::map<std::string, Callee> callees_;
  std::map<size_t, size_t> latest_;  // of registers assigned to since the last label: their values then
};

}  // namespace bitwell::hazard
