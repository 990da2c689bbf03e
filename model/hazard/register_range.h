// Registers of a range, as `.reg .b32 %r<8>;` declares them.
#pragma once
#include <optional>
#include <string>

namespace bitwell::hazard {

// The one name of the register of that range, %r1 for %r01; nothing where `name` is none of it.
std::optional<std::string> register_of(const std::string& name, const std::string& prefix, int count);

}  // namespace bitwell::hazard
