// The model of time beside the figures of five articles on NVFP4 kernels for a B200.
#pragma once
#include <cstdint>
#include <string>

namespace bitwell::articles {

// Prints tables, of the kernels whose compiled texts lie in that folder. `most`: clusters of a multiprocessor
// that are run.
void print_articles(const std::string& kernels, uint32_t most);

}  // namespace bitwell::articles
