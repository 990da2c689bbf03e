// An answer in words.
#pragma once
#include <string>

#include "verify/session/session.h"

namespace bitwell::session {

// "error race between two threads: ...", its accesses, what would order them; with what its data can come to,
// where somebody asked what it came to. The last line without a newline.
std::string describe(const Weighed& weighed);
std::string describe(const Parting& parting);
// How it ended, its notes and its findings, but those of which nothing comes; each line with its end.
std::string describe(const Answer& answer);

}  // namespace bitwell::session
