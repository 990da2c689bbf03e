// Which variable a register's address derives from: what is assigned to it before in the same block of
// instructions, or else of all that ever is. What cannot be followed is not known, and never guessed.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::hazard {

class ObjectFlow {
 public:
  // Of a program that outlives this. `objects`: the names of variables; those that stand there twice are not
  // followed.
  ObjectFlow(const isa::Program& program, const std::vector<std::string>& objects);
  ObjectFlow(const ObjectFlow&) = delete;
  ObjectFlow& operator=(const ObjectFlow&) = delete;

  // An instruction, with the numbers of the values that its operands have and of those that it makes.
  struct Use {
    int line;  // of the PTX
    isa::Uses what;
    const isa::FunctionUses* of;
    std::span<const size_t> values;   // by operand; of what is written alone a constant's
    std::span<const size_t> results;  // of registers

    // Calls visit(operand, value) for what it does something with.
    template <class Visit>
    void each_data(Visit visit) const {
      using enum isa::Use::Take;
      for (size_t i = 0; i < values.size(); ++i) {
        const isa::Use& operand = what.operands[i];
        if (operand.take == data || operand.take == accumulator || operand.take == fragment)
          visit(operand, values[i]);
      }
    }
    std::vector<size_t> data() const {
      std::vector<size_t> out;
      each_data([&](const isa::Use&, size_t value) { out.push_back(value); });
      return out;
    }
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
  // Of a function's registers and parameters, by their numbers.
  struct Register {
    size_t value = 0;   // all that it ever holds; 0: it was not met
    size_t latest = 0;  // what it holds now
    size_t block = 0;   // if this is the block that is walked
  };
  struct Names {
    std::vector<Register> registers;
    std::vector<size_t> parameters;  // 0: it was not met
  };

  static Value joined(const Value& a, const Value& b);
  static Value sum(const Value& a, const Value& b);
  static Value difference(const Value& a, const Value& b);
  Value result(const Step& step) const;
  void settle();

  size_t new_value() { return new_value(Value{}); }
  size_t new_value(const Value& value);
  Register& register_at(uint32_t number);
  size_t parameter(size_t function, uint32_t number);
  size_t value_of(const isa::FunctionUses& uses, const isa::Use& operand);
  void walk(const isa::FunctionUses& uses, const std::vector<isa::Line>& lines, size_t first_operand);
  void computes(const Use& use, bool maybe);
  void call(const Use& use);
  // `maybe`: only where the instruction's guard holds.
  void assign(Rule rule, const Use& use, const std::vector<size_t>& from, bool maybe);

  const isa::Program& program_;
  std::vector<Value> values_;
  std::vector<Step> steps_;
  std::vector<Use> uses_;
  std::vector<size_t> operand_values_, result_values_;  // of all uses
  std::map<std::string, size_t> objects_;               // by name: numbers of values
  std::map<size_t, size_t> object_values_;              // by number of the object
  std::vector<Names> names_;                            // by function
  size_t function_ = 0;                                 // that is walked
  size_t block_ = 0;
};

}  // namespace bitwell::hazard
