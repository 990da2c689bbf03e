// Answers as JSON, for Python to make its data classes of.
#pragma once
#include <string>

#include "verify/session/session.h"

namespace bitwell::python {

std::string json_of(const session::Answer& answer, size_t launch, const std::string& printed);
// A module's entries with their parameters, and its variables.
std::string json_of(isa::Context& context, isa::ModuleHandle module);

}  // namespace bitwell::python
