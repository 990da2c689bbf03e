// What the check of an instruction sees of the function that is compiled. model/isa/compile implements it.
#pragma once
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/isa/form/form.h"
#include "model/isa/form/memory_use.h"
#include "model/isa/form/program.h"
#include "model/isa/form/type.h"

namespace bitwell::isa {

// The instruction under way is not valid PTX; the line is added by the caller.
struct Invalid : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value that an operand names: a row, and what it was declared as (nullptr for constants).
struct Value {
  uint32_t row = kZero;
  const Type* type = nullptr;
};

struct Address {
  uint32_t row = kZero;  // 64-bit row, or 32-bit when `narrow`
  bool narrow = false;
  uint64_t offset = 0;
  std::optional<Space> space;  // of a variable named directly
};

class Builder {
 public:
  struct Variable {
    Space space;
    uint64_t address;  // offset in its space (local: in the activation's frame)
    uint64_t size;
    uint64_t align;
    const Type* type;
    bool is_array;
    bool call_param;
    bool argument = false;  // a .param of a function's body: its address cannot be taken
    uint32_t number = 0;    // in the function's uses
  };

  virtual ~Builder() = default;

  // The instruction under way, and what it is for.
  virtual const ptx::Instruction& instruction() const = 0;
  virtual int version() const = 0;  // 10 * major + minor
  virtual int sm() const = 0;
  virtual bool in_entry() const = 0;
  virtual Approximate approximate() const = 0;
  size_t operand_count() const { return instruction().operands.size(); }
  const ptx::Operand& operand(size_t i) const {
    if (i >= operand_count()) throw Invalid("too few operands");
    return instruction().operands[i];
  }

  // Rows of the operands that the form's roles name, in order, already checked; absent optional ones are
  // kZero.
  virtual const std::vector<Value>& values() const = 0;
  virtual bool negated(size_t value) const = 0;

  // Operands of forms whose roles are "*". Each throws Invalid for what ptxas refuses there, and adds the
  // operand to uses().
  // The operand as a value of `type`; `widen` allows registers wider than the type (ld, st, cvt).
  virtual Value source(const ptx::Operand& operand, const Type& type, bool widen = false,
                       bool constants = true) = 0;
  // `discard`: the place takes `_` too.
  virtual Value destination(const ptx::Operand& operand, const Type& type, bool widen = false,
                            bool discard = false) = 0;
  virtual Value predicate(const ptx::Operand& operand, bool destination, bool& negated) = 0;
  virtual Address address(const ptx::Operand& operand, Space space) = 0;
  // What the instruction reads, writes and addresses. Whatever has an effect says of memory what it touches.
  virtual FunctionUses& uses() = 0;
  // Adds an operand that is the name of a variable, which find_variable finds.
  virtual void name_variable(const std::string& name, Use::Take take) = 0;
  uint64_t constant(const ptx::Operand& operand) const {
    if (operand.kind != ptx::OperandKind::integer) throw Invalid("an integer constant is needed");
    return operand.integer;
  }
  // Whether a predicate register has that name.
  virtual bool is_predicate(const std::string& name) = 0;
  // The type of that name, with its dot; ModelBug if there is none.
  virtual const Type& type(const std::string& name) const = 0;

  // Names.
  virtual uint32_t label(const std::string& name) = 0;  // its number
  virtual const std::vector<std::string>* branch_targets(const std::string& name) const = 0;
  virtual const ptx::Function* prototype(const std::string& name) const = 0;
  virtual int find_function(const std::string& name) const = 0;  // -1: none
  virtual const ptx::Function& function(int number) const = 0;
  virtual std::optional<Variable> find_variable(const std::string& name) const = 0;

  // Rows.
  virtual uint32_t constant_row(int bits, uint64_t value) = 0;
  virtual uint32_t special_row(int bits, Special special, uint64_t offset = 0) = 0;
  // A row of `bits` with the variable's address plus `offset` in its own space; not for local variables.
  virtual uint32_t address_row(int bits, const Variable& v, uint64_t offset = 0) = 0;
  virtual uint32_t new_row(int bits) = 0;
  virtual uint32_t new_predicate() = 0;
  virtual uint32_t carry_row() = 0;  // the thread's carry flag
  // The row is written by something else than the function's own ops too: it is never shared.
  virtual void pin(uint32_t row) = 0;
  // The row holds at least that many bits, unless it is a constant's.
  virtual void widen(uint32_t row, int bits) = 0;

  // What is made of it.
  virtual Op& emit(Op op) = 0;  // with the instruction's guard and line
  virtual std::vector<uint32_t>* new_list() = 0;
  // A payload that lives as long as the function, set as the op's.
  template <class T>
  T& payload(Op& op, T value = {}) {
    auto owned = std::make_unique<T>(std::move(value));
    T& out = *owned;
    op.payload = &out;
    keep(std::move(owned));
    return out;
  }

 private:
  virtual void keep(std::unique_ptr<const Payload> payload) = 0;
};

}  // namespace bitwell::isa
