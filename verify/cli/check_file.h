// What of a PTX file is not supported, or not fixed by it.
#pragma once
#include <string>

#include "verify/cli/run/run_once.h"

namespace bitwell::cli {

// Of the file, or of one entry and what it calls. `status` becomes what the findings come to: held, unusable
// for what is not valid, or unsupported. Throws as the reader of a launch does.
Judged check_file(const std::string& path, const std::string& entry, bool verbose, int& status);

}  // namespace bitwell::cli
