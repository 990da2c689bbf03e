// Findings in words: both accesses with their lines and threads, where, and what would order them.
#pragma once
#include <string>

#include "model/hazard/checker.h"
#include "model/isa/form/program.h"
#include "model/run/launch.h"

namespace bitwell::verify {

// Several lines, the first without indent, the last without a newline.
std::string describe(const hazard::Finding& finding, const isa::Program& program, const isa::Shape& shape);

// A checker for a launch of the program.
hazard::Checker checker_of(const isa::Program& program, const isa::Shape& shape);

}  // namespace bitwell::verify
