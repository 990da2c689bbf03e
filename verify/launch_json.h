// LAUNCH.json: a launch as a file (README.md, "Run any kernel", describes the format).
#pragma once
#include <map>
#include <string>

#include "verify/launch.h"

namespace bitwell::verify {

// Where a buffer goes after the run.
struct Output {
  std::string path;
  std::string dtype = "u1";
  std::vector<uint64_t> shape;  // empty: one dimension
};

struct LaunchFile {
  Launch launch;
  std::map<size_t, Output> outputs;  // by buffer
};

// Paths in the file are relative to it. Throws InputError naming the file and the field: unknown keys,
// missing or mis-sized data.
LaunchFile read_launch(const std::string& path);

// Whether two paths name one file, there or not.
bool same_path(const std::string& a, const std::string& b);

// Writes every output to a temporary name first, and renames when all are there: a kernel's fault, a full
// disk or a folder that is not there loses no earlier output. InputError otherwise.
void write_outputs(const LaunchFile& file);

// Writes `launch`, buffers beside it as .bin, so that `bitwell run` repeats it. Returns the path of the JSON.
std::string write_launch(const Launch& launch, const std::string& folder);

}  // namespace bitwell::verify
