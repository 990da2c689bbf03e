// Which part of the cases a process judges.
#pragma once
#include <string>

#include "verify/verdict/journal.h"

namespace bitwell::cli {

// Of "2/4"; of "auto", or "auto/4" where nobody else says of how many, what the scheduler says that started
// the process: Bazel, GoogleTest's runners, an array of Slurm's, an indexed Job of Kubernetes'. Throws
// InputError.
verdict::Shard shard_of(const std::string& text);

}  // namespace bitwell::cli
