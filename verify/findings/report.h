// Findings in words: both accesses with their lines and threads, where, and what would order them.
#pragma once
#include <string>
#include <vector>

#include "model/hazard/checker.h"
#include "model/hazard/flow/ways.h"
#include "verify/findings/launched.h"

namespace bitwell::findings {

// A line of what is said of a finding. Of an instruction: where it comes from, and of which launch it is.
struct Said {
  std::string text;
  machine::CudaPlace cuda;
  const Launched* launch;
};
// The first line without indent. Of a list it says which launches.
std::vector<Said> said_of(const Found& found);
// The same as one text, the last line without a newline.
std::string describe(const Found& found);
// Of a launch that overlaps none.
std::string describe(const hazard::Finding& finding, const isa::Program& program, const run::Shape& shape);
// "launch 2 of 3, 'scale'".
std::string name_of(const Launched& launch);

// The PTX line whose data a finding spoils, and of which launch: of the one that reads, or else of the later
// write.
struct Asked {
  const Launched& launch;
  int ptx_line;
};
Asked asked_of(const Found& found);
// "can come to an output: PTX lines 31 ld.shared.u32, 40 st.global.u32", or that it cannot come to any.
std::string describe(const hazard::Way& way, const isa::Program& program);

// What stands at a PTX line of the program, or nullptr.
const isa::Line* line_of(int ptx, const isa::Program& program);
// "PTX line 56 (copy.cuh:6, from gemm.cu:10)".
std::string place_of(int ptx, const isa::Program& program);

// "thread (127,0,0)", of a CTA of that block.
std::string thread_of(int warp, int lane, const std::array<uint32_t, 3>& block);

// A checker for a launch of the program; `once` as the checker takes it.
hazard::Checker checker_of(const isa::Program& program, const run::Shape& shape, bool once = false);

}  // namespace bitwell::findings
