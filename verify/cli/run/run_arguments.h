// The arguments of `bitwell run`, with the help that they come with.
#pragma once
#include <CLI/CLI.hpp>

#include "verify/cli/run/run_options.h"

namespace bitwell::cli {

// `options` lives as long as `command`.
void add_arguments(CLI::App& command, RunOptions& options);

// --fmad, which judge has too.
void add_fmad(CLI::App& command, RunOptions& options);

// Of AsSizeValue's, to be added behind it, for then it runs first: CLI11 reads "-1" as 2^64 - 1, and "G" as a
// number too.
CLI::Validator number_of_bytes();

// --approximate, or what --strict makes of it
isa::Approximate approximate_of(const RunOptions& options);

}  // namespace bitwell::cli
