// LAUNCH.json: a launch as a file (docs/launch-file.md describes the format).
#pragma once
#include <map>
#include <string>

#include "verify/launch/file/expected.h"
#include "verify/launch/fmad.h"
#include "verify/launch/launch.h"
#include "verify/launch/output/output_files.h"

namespace bitwell::launch {

// What becomes of a buffer, or a variable, after the run.
struct Output {
  std::string path;      // where it is written; empty: nowhere
  std::string named_by;  // "'l.json': argument 1: its output", for refusals
  std::string dtype = "u1";
  std::vector<uint64_t> shape;  // empty: one dimension
  std::string format;           // of its elements, as packed() leaves them; empty: dtype's
  std::optional<Expected> expected;
};

struct LaunchFile {
  Launch launch;
  std::map<size_t, Output> outputs;           // by buffer
  std::map<size_t, Output> variable_outputs;  // by variable
  std::vector<Fused> fused{};                 // by ptxas, where the file asks for it
  std::vector<std::string> inputs;            // every file it was read from, and its PTX
};

// Paths in the file are relative to it. Throws InputError naming the file and the field: unknown keys,
// missing or mis-sized data.
// `fmad`: as if the file had "fmad".
LaunchFile read_launch(const std::string& path, bool fmad = false);

// Tells `files` what the launch reads and will write, before the work. Throws InputError naming the field of
// an output that cannot be written or would replace a file in use.
void plan_outputs(const LaunchFile& file, OutputFiles& files);
// What the buffers hold, into planned files; the caller commits. Throws InputError.
void write_outputs(const LaunchFile& file, OutputFiles& files);

// Writes `launch`, buffers beside it as .bin, so that `bitwell run` repeats it. Returns the path of the JSON.
// All files are there after it, or none where it throws InputError.
std::string write_launch(const Launch& launch, const std::string& folder);

}  // namespace bitwell::launch
