// The registers that one scope of a function declares.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "model/isa/form/type.h"

namespace bitwell::isa {

// Registers declared one by one, and ranges ("%r<10>" names %r0 to %r9; "%r07" is %r7), whose registers get a
// row when they are first used: a range may name 2^31 - 1 of them. Of a range of vectors "%r1.x" has a row.
class RegisterNames {
 public:
  struct Register {
    uint32_t row;
    const Type* type;
  };
  using NewRow = std::function<uint32_t(const Type&, const std::string& name)>;

  // Invalid if the name is taken.
  void declare(const std::string& name, Register r);
  // Invalid if it names a register declared before, Unsupported if another range does so too (ptxas takes
  // both). Each has as many components; 1: it is no vector.
  void declare_range(const std::string& name, int count, const Type& type, int components);
  int components_in_range(const std::string& name) const;  // of a register of a range of vectors; or 0
  bool has(const std::string& name) const;
  const Register* find(const std::string& name, const NewRow& new_row);  // nullptr if there is none

 private:
  struct Range {
    int count;
    const Type* type;
    int components;
  };
  // The range that names the register, and in `canonical` its name without leading zeros; nullptr if none
  // does.
  const Range* range_of(const std::string& name, std::string& canonical) const;

  std::map<std::string, Register> registers_;
  std::map<std::string, Range> ranges_;
};

}  // namespace bitwell::isa
