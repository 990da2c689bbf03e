// What would order the two acts of a finding, in the order in which they came.
#pragma once
#include <string>

#include "verify/findings/launched.h"

namespace bitwell::findings {

// By who did what: which wait an operation needs, and which barrier two threads can reach. Where the kind of
// the finding says it all, hazard::remedy_of.
std::string remedy(const Found& found);

}  // namespace bitwell::findings
