// The name that somebody may have meant.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace bitwell::schema {

// The one of `names` that fewest edits (a letter more, less, another, two exchanged) make of `word`, of
// several the first; empty where that takes more than a third of the letters, two at least, or all of them.
std::string nearest(std::string_view word, std::span<const std::string> names);

// "; did you mean 'x'?", or empty where no name is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace bitwell::schema
