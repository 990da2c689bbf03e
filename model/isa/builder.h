// Turns one function's checked instructions into ops on virtual rows. The forms' build functions are its
// users.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "model/isa/form.h"
#include "model/isa/module_layout.h"
#include "model/isa/program.h"
#include "model/isa/register_names.h"
#include "model/isa/type.h"

namespace bitwell::isa {

// The instruction under way is not valid PTX; the line is added by the caller.
struct Invalid : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `shared` is the executing CTA's own (shared::cta), `cluster` that of any CTA of the cluster.
enum class Space : uint16_t { generic, global, shared, local, param, constant, cluster };

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
  Builder(const ModuleLayout& layout, const ptx::Function& source, Function& out, bool collect,
          std::vector<Finding>& findings);

  // Emits the whole body; then function.code holds ops on virtual rows and targets are op indices.
  void body();

  // For build functions
  // -----------------------------------------------------------------------------------------------
  const ptx::Instruction& instruction() const { return *instruction_; }
  const ptx::Operand& operand(size_t i) const;
  size_t operand_count() const { return instruction_->operands.size(); }
  int version() const { return layout_.module.version; }
  int sm() const { return layout_.sm; }

  // The operand as a value of `type`; `widen` allows registers wider than the type (ld, st, cvt).
  Value source(const ptx::Operand& operand, const Type& type, bool widen = false, bool constants = true);
  // `discard`: the place takes `_` too.
  Value destination(const ptx::Operand& operand, const Type& type, bool widen = false, bool discard = false);
  // Whether a predicate register has that name.
  bool is_predicate(const std::string& name);
  Value predicate(const ptx::Operand& operand, bool destination, bool& negated);
  Address address(const ptx::Operand& operand, Space space);
  uint64_t constant(const ptx::Operand& operand) const;
  const Type& type(const std::string& name) const;

  uint32_t constant_row(int bits, uint64_t value);
  uint32_t special_row(int bits, Special special, uint64_t offset = 0);
  uint32_t new_row(int bits);
  // The row is written by something else than the function's own ops too: it is never shared.
  void pin(uint32_t row) { rows[row / 128].pinned = true; }
  uint32_t new_predicate();
  uint32_t carry_row();  // the thread's carry flag

  // Rows of the operands that the form's roles name, in order, already checked; absent optional ones are
  // kZero.
  const std::vector<Value>& values() const { return values_; }
  bool negated(size_t i) const { return negated_[i]; }

  Op& emit(Op op);                    // with the instruction's guard and line
  Op lanes(const std::string& name);  // catalog entry; ModelBug if there is none
  std::vector<uint32_t>* new_list();
  CallSite* new_call();
  Mma* new_mma();
  Transfer* new_transfer();
  uint32_t label(const std::string& name);  // its number
  const std::vector<std::string>* branch_targets(const std::string& name) const;
  const ptx::Function* prototype(const std::string& name) const;
  const ModuleLayout& layout() const { return layout_; }
  Function& function() { return out_; }
  struct Variable {
    Space space;
    uint64_t address;  // offset in its space (local: in the activation's frame)
    uint64_t size;
    uint64_t align;
    const Type* type;
    bool is_array;
    bool call_param;
    bool argument = false;  // a .param of a function's body: its address cannot be taken
  };
  const Variable* find_variable(const std::string& name) const;
  // A row of `bits` with the variable's address plus `offset` in its own space; not for local variables.
  uint32_t address_row(int bits, const Variable& v, uint64_t offset = 0);
  int find_function(const std::string& name) const { return layout_.find_function(name); }

  Approximate approximate = Approximate::captured;

  // Virtual rows: width in bits and what fills them.
  struct Row {
    int bits;
    bool fixed;  // constant or special
    bool pinned = false;
  };
  std::vector<Row> rows;

 private:
  using Register = RegisterNames::Register;
  struct Scope {
    RegisterNames registers;
    std::map<std::string, Variable> variables;
    std::map<std::string, const ptx::Statement*> tables;
    std::map<std::string, uint32_t> labels;
  };

  void block(const std::vector<ptx::Statement>& statements);
  void declare(const ptx::Variable& v);
  void instruction(const ptx::Instruction& i);
  const Form& choose(const ptx::Instruction& i, Match& match) const;
  void operands(const Form& form, const Match& match);
  void note(const ptx::Instruction& i);
  const Register* find_register(const std::string& name);
  uint32_t register_row(const Type& type);
  std::optional<Value> special(const ptx::Operand& operand, const Type& type);
  uint64_t local_place(uint64_t size, uint64_t align);

  const ModuleLayout& layout_;
  const ptx::Function& source_;
  Function& out_;
  bool collect_;
  std::vector<Finding>& findings_;
  const ptx::Instruction* instruction_ = nullptr;
  std::vector<Value> values_;
  std::vector<bool> negated_;
  std::vector<Scope> scopes_;
  std::map<std::pair<int, uint64_t>, uint32_t> constants_;
  std::map<std::tuple<int, Special, uint64_t>, uint32_t> specials_;
  uint32_t next_label_ = 0;
  uint32_t carry_ = 0;

 public:
  std::vector<std::optional<uint32_t>> label_at;  // label number -> op index
};

}  // namespace bitwell::isa
