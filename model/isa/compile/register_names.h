// The registers that one scope of a function declares.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

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
  const Register* find(std::string_view name, const NewRow& new_row);  // nullptr if there is none

 private:
  struct Range {
    int count;
    const Type* type;
    int components;
    std::unordered_map<int, Register> used{};  // by number, of those with one component
  };
  // Where a name is one of a range: its number there.
  struct Place {
    const std::string* prefix = nullptr;
    const Range* range = nullptr;  // nullptr: it is of none
    int number = 0;
    std::string canonical() const { return *prefix + std::to_string(number); }  // without leading zeros
  };
  Place place_of(std::string_view name) const;

  std::map<std::string, Register, std::less<>> registers_;
  std::map<std::string, Range, std::less<>> ranges_;
};

}  // namespace bitwell::isa
