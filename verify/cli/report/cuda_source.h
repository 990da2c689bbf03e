// The CUDA files that PTX names by .file: what their lines say, and what code review calls them.
#pragma once
#include <string>

#include "model/machine/cuda_line.h"

namespace bitwell::cli {

// "gemm.cu:59 | wait(full, 1);", a line of its own for each place of the chain that its words name, where the
// file is there and has the line; each begins with `indent`. A file that is newer than the PTX says so: its
// lines may be others. `ptx`: the path of the PTX file.
std::string source_lines(const machine::CudaPlace& place, const std::string& ptx, const std::string& indent);

// A line on PTX that nvcc made without -lineinfo; empty of any other.
std::string without_lines(const std::string& ptx);

// A message whose first line names that place, with those lines under it, or with why there are none.
std::string with_source(const std::string& message, const machine::CudaPlace& place, const std::string& ptx);

// RFC 3986: relative to the working directory where the file is below it, else file:///...; of a path, and
// of a file that the PTX at `ptx` names.
std::string review_uri(const std::string& path);
std::string review_uri(const machine::CudaLine::At& at, const std::string& ptx);

}  // namespace bitwell::cli
