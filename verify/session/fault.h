// A kernel's fault as data.
#pragma once
#include <nlohmann/json.hpp>

#include "model/machine/failure.h"

namespace bitwell::session {

// {"kind": "access" | "deadlock" | "fault", "message", "ptx_line", "source", "inlined_at", "called_from",
// "cta", "thread"}, of an access that may not be with "access" (kind, space, address, bytes, buffer), of a
// deadlock with "waiters", each with its place, instruction, threads and what it waits on. What is not known
// is left out.
nlohmann::json fault_facts(const machine::Fault& fault);

}  // namespace bitwell::session
