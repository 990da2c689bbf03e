// For which device a text was made.
#pragma once
#include <optional>
#include <string_view>

#include "model/machine/arch.h"

namespace bitwell::image {

// ".target sm_100a, debug" as a row and a suffix; none where the text has no target that bitwell knows.
std::optional<machine::Target> target_of(std::string_view ptx);

}  // namespace bitwell::image
