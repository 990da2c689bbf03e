// Which bitwell this is.
#pragma once
#include <string>

namespace bitwell::cli {

// "bitwell 0.1.0 (commit 1a2b3c4d5e6f, g++ 12.2.0)"
std::string version();
// What `bitwell` alone says: what it is, and where to go on.
std::string overview();

}  // namespace bitwell::cli
