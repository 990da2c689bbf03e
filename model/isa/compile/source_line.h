// The CUDA lines of a .loc, by the module's files.
#pragma once
#include "model/machine/cuda_line.h"
#include "model/ptx/syntax.h"

namespace bitwell::isa {

// nullptr where the line is not known.
machine::CudaPlace cuda_place(const ptx::Module& module, const ptx::SourceLine& source);

}  // namespace bitwell::isa
