// The CUDA files that PTX names by .file: what their lines say.
#pragma once
#include <filesystem>
#include <string>

#include "model/machine/cuda_line.h"

namespace bitwell::session {

// Of a file that PTX names: nvcc writes the path that it was given, relative to where it ran, which may be
// where that lies which was `made` of it.
std::filesystem::path source_path(const std::string& file, const std::string& made);

// "gemm.cu:59 | wait(full, 1);", a line of its own for each place of the chain that its words name, where the
// file is there and has the line; each begins with `indent`. A file that is newer than what was `made` of it
// says so: its lines may be others. `what`: what that is called.
std::string source_lines(const machine::CudaPlace& place, const std::string& made, const std::string& indent,
                         const char* what = "PTX");

}  // namespace bitwell::session
