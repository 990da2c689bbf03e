// %is_explicit_cluster, the only special register that is a predicate.
#pragma once
#include <string_view>

namespace bitwell::isa {

inline constexpr std::string_view kExplicitCluster = "%is_explicit_cluster";

}  // namespace bitwell::isa
