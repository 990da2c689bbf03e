// Who writes the bytes, later in the run, that a fault says nobody had written when they were read.
#pragma once
#include <array>
#include <optional>
#include <string>

#include "verify/findings/explain.h"

namespace bitwell::findings {

struct LaterWriter {
  int ptx_line;
  bool operation;  // a copy or another operation under way, which that instruction issued
  std::array<uint32_t, 3> cta;
  int warp, lane;  // that writes, or issued it
};

// Whether that can be looked for: the fault is about bytes of memory that were read and never written.
bool has_later_writer(const machine::Fault& fault);

// The first write of some of those bytes behind that read, where there is one soon. Makes the launch again,
// as if what was never written were defined.
std::optional<LaterWriter> later_writer(const machine::Fault& fault, const Rerun& rerun);

// "; thread (127,0,0) writes there later, by PTX line 44 (rev.cu:7): nothing made this read wait for it, as a
// __syncthreads (bar.sync) between the two would"
std::string describe(const LaterWriter& writer, const machine::Fault& fault, const isa::Program& program,
                     const run::Shape& shape);

}  // namespace bitwell::findings
