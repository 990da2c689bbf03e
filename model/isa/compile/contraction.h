// Products and sums that ptxas may make one instruction of.
#pragma once
#include <vector>

#include "model/isa/compile/compile.h"
#include "model/ptx/syntax.h"

namespace bitwell::isa {

// Of a function each sum that ptx::contractible has a product for, with the first of its products.
std::vector<Finding> contractions(const ptx::Module& module, const ptx::Function& function);

}  // namespace bitwell::isa
