// Findings in words: both accesses with their lines and threads, where, and what would order them.
#pragma once
#include <string>

#include "model/hazard/checker.h"
#include "model/hazard/ways.h"
#include "model/isa/form/program.h"
#include "model/run/launch.h"

namespace bitwell::verify {

// Several lines, the first without indent, the last without a newline.
std::string describe(const hazard::Finding& finding, const isa::Program& program, const isa::Shape& shape);

// The PTX line whose data a finding spoils: of the one that reads, or else of the later write.
int asked_of(const hazard::Finding& finding);
// "can come to an output: PTX lines 31 ld.shared.u32, 40 st.global.u32", or that it cannot come to any.
std::string describe(const hazard::Way& way, const isa::Program& program);

// What stands at a PTX line of the program, or nullptr.
const isa::Line* line_of(int ptx, const isa::Program& program);

// Where the addresses of the program's instructions come from; `text`: the module that it was compiled from.
hazard::Objects objects_of(const std::string& text, const isa::Program& program);

// A checker for a launch of the program; `once` as the checker takes it.
hazard::Checker checker_of(const isa::Program& program, const isa::Shape& shape, bool once = false);

}  // namespace bitwell::verify
