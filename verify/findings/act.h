// Which events of a run are the acts of a finding.
#pragma once
#include "model/hazard/finding.h"
#include "model/machine/event.h"

namespace bitwell::findings {

// Whether bytes of the access, of that lane or of any, are among those from `address` on; of tensor memory
// lanes of a column.
bool meets(const machine::Access& a, int lane, uint64_t address, uint64_t bytes);

// Whether it is what that party does; the lane and the place are not looked at.
bool is_of(const machine::Access& a, const hazard::Party& p);

}  // namespace bitwell::findings
