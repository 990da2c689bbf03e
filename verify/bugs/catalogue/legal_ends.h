// What a kernel of the catalogue may leave when it has no bug: what a GPU's bytes are held against.
#pragma once
#include <cstddef>
#include <vector>

#include "verify/bugs/catalogue/catalogue.h"

namespace bitwell::bugs {

// The exhibit's launch, but that buffers which the kernel never writes hold distinct words in place of zeros:
// what was read too early or too late is then told from what was not. Throws as isa::compile does.
launch::Launch with_distinct_inputs(const Exhibit& exhibit);

struct LegalEnds {
  launch::Launch launch;                                  // with distinct inputs
  std::vector<std::vector<std::vector<std::byte>>> ends;  // each the bytes of every buffer; all differ
  // Of every buffer: 0xFF where a byte counts; 0 in words of 8 bytes that depend on where buffers stand.
  std::vector<std::vector<std::byte>> compared;
  bool complete = false;  // no schedule ends otherwise; false: some of the schedules only
};

// Throws as isa::compile does, InputError where the kernel ends in a fault under every schedule, and Fault
// where it does so under the default one.
LegalEnds legal_ends(const Exhibit& exhibit);

}  // namespace bitwell::bugs
