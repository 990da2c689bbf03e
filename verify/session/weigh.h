// How serious what a race check found is, of launches that somebody else made: the cases of a suite, a
// kernel with a planted mistake.
#pragma once
#include <tuple>
#include <vector>

#include "verify/session/session.h"

namespace bitwell::session {

// All that was found so far; what its data came to was not followed. They refer to the watch.
std::vector<Weighed> weigh(const findings::Watch& watch);
// The first that is an error; nullptr: none is.
const Weighed* first_error(const std::vector<Weighed>& all);

// What tells one finding from another in any run of the same programs: the later act's launch, counted from
// 0, the kind, and the PTX lines of both acts.
using Site = std::tuple<size_t, hazard::Kind, int, int>;
Site site_of(const Weighed& weighed);

}  // namespace bitwell::session
