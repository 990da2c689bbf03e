// Which part of the cases a process takes.
#pragma once
#include <cstdint>
#include <string>

namespace bitwell::journal {

// From 1.
struct Shard {
  uint64_t index = 1, of = 1;
};
// Of "2/4"; of "auto", or "auto/4" where nobody else says of how many, what the scheduler says that started
// the process: Bazel, GoogleTest's runners, an array of Slurm's, an indexed Job of Kubernetes'. Of "" all.
// Throws InputError.
Shard shard_of(const std::string& text);

}  // namespace bitwell::journal
