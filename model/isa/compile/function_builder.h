// Turns one function's checked instructions into ops on virtual rows.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/isa/compile/compile.h"
#include "model/isa/compile/module_layout.h"
#include "model/isa/compile/register_names.h"
#include "model/isa/form/builder.h"

namespace bitwell::isa {

// Whether `name` is that of a special register, modelled or not.
bool is_special_register(std::string_view name);

class FunctionBuilder final : public Builder {
 public:
  // `collect`: what is invalid or unsupported becomes a finding instead of an exception.
  FunctionBuilder(const ModuleLayout& layout, const ptx::Function& source, Function& out, bool collect,
                  Approximate approximate, std::vector<Finding>& findings);

  // Emits the whole body; then function.code holds ops on virtual rows and targets are op indices.
  void body();

  // Virtual rows: width in bits and what fills them.
  struct Row {
    int bits;
    bool fixed;  // constant or special
    bool pinned = false;
  };
  std::vector<Row> rows;
  std::vector<std::optional<uint32_t>> label_at;  // label number -> op index

  const ptx::Instruction& instruction() const override { return *instruction_; }
  int version() const override { return layout_.module.version; }
  int sm() const override { return layout_.sm; }
  bool in_entry() const override { return out_.is_entry; }
  Approximate approximate() const override { return approximate_; }
  const std::vector<Value>& values() const override { return values_; }
  bool negated(size_t i) const override { return negated_[i]; }
  Value source(const ptx::Operand& operand, const Type& type, bool widen = false,
               bool constants = true) override;
  Value destination(const ptx::Operand& operand, const Type& type, bool widen = false,
                    bool discard = false) override;
  Value predicate(const ptx::Operand& operand, bool destination, bool& negated) override;
  Address address(const ptx::Operand& operand, Space space) override;
  FunctionUses& uses() override { return out_.uses; }
  void name_variable(const std::string& name, Use::Take take) override;
  bool is_predicate(const std::string& name) override;
  const Type& type(const std::string& name) const override;
  uint32_t label(const std::string& name) override;
  const std::vector<std::string>* branch_targets(const std::string& name) const override;
  const ptx::Function* prototype(const std::string& name) const override;
  int find_function(const std::string& name) const override { return layout_.find_function(name); }
  const ptx::Function& function(int number) const override {
    return *layout_.functions[static_cast<size_t>(number)];
  }
  std::optional<Variable> find_variable(const std::string& name) const override;
  uint32_t constant_row(int bits, uint64_t value) override;
  uint32_t special_row(int bits, Special special, uint64_t offset = 0) override;
  uint32_t address_row(int bits, const Variable& v, uint64_t offset = 0) override;
  uint32_t new_row(int bits) override;
  uint32_t new_predicate() override;
  uint32_t carry_row() override;
  void pin(uint32_t row) override { rows[row / 128].pinned = true; }
  void widen(uint32_t row, int bits) override {
    Row& r = rows[row / 128];
    if (!r.fixed) r.bits = std::max(r.bits, bits);
  }
  Op& emit(Op op) override;
  std::vector<uint32_t>* new_list() override { return &out_.lists.emplace_back(); }

 private:
  using Register = RegisterNames::Register;
  struct Scope {
    RegisterNames registers;
    std::map<std::string, Variable> variables;
    std::map<std::string, const ptx::Statement*> tables;
    std::map<std::string, uint32_t> labels;
    std::map<std::string, int> vectors;  // registers that are vectors, and how many components they have
  };

  void block(const std::vector<ptx::Statement>& statements);
  void declare(const ptx::Variable& v);
  void declare_vector(const ptx::Variable& v, const Type& type);
  int vector_register(const std::string& name) const;  // its components, 0 where it is none
  // With the components of registers that are vectors in their place.
  void spread(ptx::Operand& o) const;
  const ptx::Instruction& spread(const ptx::Instruction& i);
  machine::CudaPlace cuda_of(const ptx::SourceLine& source);
  void translate(const ptx::Instruction& i);
  // What all instructions with the same opcode and modifiers have in common.
  struct Chosen {
    const Form* form = nullptr;
    Match match;
    std::vector<Role> roles;
    std::vector<const Type*> types;  // of the roles; nullptr where none has that name
    Unit unit{};
  };
  const Chosen& chosen(const ptx::Instruction& i);
  const Form& choose(const ptx::Instruction& i, const std::string& written, Match& match) const;
  void operands(const Chosen& of);
  void note(const ptx::Instruction& i);
  void keep(std::unique_ptr<const Payload> payload) override { out_.payloads.push_back(std::move(payload)); }
  const Register* find_register(const std::string& name);
  uint32_t register_row(const Type& type, const std::string& name);
  Value register_value(const Register& r, const std::string& name, const Type& want, bool widen);
  std::optional<Value> special(const ptx::Operand& operand, const Type& type);
  uint64_t local_place(uint64_t size, uint64_t align);

  const ModuleLayout& layout_;
  const ptx::Function& source_;
  Function& out_;
  bool collect_;
  Approximate approximate_;
  std::vector<Finding>& findings_;
  const ptx::Instruction* instruction_ = nullptr;
  std::string written_;                             // its opcode and modifiers as they stand in the text
  std::unordered_map<std::string, Chosen> chosen_;  // by these
  ptx::SourceLine last_source_;
  machine::CudaPlace last_cuda_;
  std::vector<Value> values_;
  std::vector<bool> negated_;
  std::vector<Scope> scopes_;
  std::map<std::pair<int, uint64_t>, uint32_t> constants_;
  std::map<std::tuple<int, Special, uint64_t>, uint32_t> specials_;
  std::map<std::string, uint32_t> module_variables_;  // that were named, by number in the uses
  uint32_t next_label_ = 0;
  bool behind_label_ = false;  // the instruction that comes next
  uint32_t guard_ = 0;         // of the instruction under way
  bool has_effect_ = false;    // likewise
  uint32_t carry_ = 0;
  bool vectors_ = false;     // some register is one
  ptx::Instruction spread_;  // that under way, where some is
};

}  // namespace bitwell::isa
