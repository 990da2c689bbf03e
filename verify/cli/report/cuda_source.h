// The CUDA files that PTX names by .file: what their lines say, and what code review calls them.
#pragma once
#include <string>

#include "model/machine/cuda_line.h"
#include "verify/session/source_lines.h"

namespace bitwell::cli {

using session::source_lines;

// A line on PTX that nvcc made without -lineinfo; empty of any other.
std::string without_lines(const std::string& ptx);

// A message whose first line names that place, with those lines under it, or with why there are none.
std::string with_source(const std::string& message, const machine::CudaPlace& place, const std::string& ptx);

// RFC 3986: relative to the working directory where the file is below it, else file:///...; of a path, and
// of a file that the PTX at `ptx` names.
std::string review_uri(const std::string& path);
std::string review_uri(const machine::CudaLine::At& at, const std::string& ptx);

}  // namespace bitwell::cli
