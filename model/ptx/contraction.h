// Products and sums that ptxas may make one instruction of.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "model/ptx/syntax.h"

namespace bitwell::ptx {

// A sum that may take a product's result unrounded. Both point into the function.
struct Contractible {
  const Instruction* product = nullptr;
  const Instruction* sum = nullptr;
  size_t operand = 0;     // of the sum, which holds the product: 1 or 2
  bool negated = false;   // by neg on the way
  std::string_view type;  // ".f32"
  bool certain =
      false;  // nothing else can stand there: each register on the way is written at one place, or the
              // product's own is not written again before the sum, which follows whatever happens
  bool at_once = false;  // the sum takes the product's own register
};

// Of each add and sub of the function every mul that may stand in one of its operands, of the same type and
// with the same flushing of denormals: those without a rounding modifier, which PTX leaves to ptxas (PTX
// ISA 9.0, 9.7.3.3 and 9.7.3.5), and of .f32x2 those with .rn too, which ptxas 12.9 and 13.0 fuse all the
// same. A result is followed by the registers' names through mov and neg, on whatever path; registers of one
// name are one.
std::vector<Contractible> contractible(const Function& function);

}  // namespace bitwell::ptx
