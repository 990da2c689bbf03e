// Products and sums that ptxas may make one instruction of.
#pragma once
#include <vector>

#include "model/isa/compile/compile.h"
#include "model/ptx/syntax.h"

namespace bitwell::isa {

// Of a function each add and sub without a rounding modifier that may take the result of such a mul of the
// same type: ptxas may fuse the two, so that the product is not rounded (PTX ISA 9.0, 9.7.3.3 and 9.7.3.5). A
// result is followed by the registers' names through mov and neg, on whatever path; registers of one name are
// one.
std::vector<Finding> contractions(const ptx::Module& module, const ptx::Function& function);

}  // namespace bitwell::isa
