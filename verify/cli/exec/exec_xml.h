// A program's errors in the elements of compute-sanitizer's XML, for tools that read it.
#pragma once
#include <string>

#include "verify/cli/exec/exec_report.h"

namespace bitwell::cli {

// <ComputeSanitizerOutput> with a <record> an error: kind, level, what (text, space, size, address), where
// (func, path, line), who (threadIdx, blockIdx). What bitwell does not know is left out: there is no pc, for
// it runs PTX, and no host's stack.
std::string xml_of(const ProgramRun& run);

}  // namespace bitwell::cli
