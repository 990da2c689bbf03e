#include "verify/dimensions.h"

#include <charconv>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::verify {

std::array<int, 3> parse_dimensions(std::string_view text, std::string_view form) {
  std::array<int, 3> out{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, out[i]);
    const bool last = i + 1 == out.size();
    if (error != std::errc() || out[i] < 1 || (last ? next != end : next == end || *next != 'x'))
      throw machine::InputError("a shape is " + std::string(form) +
                                ", whole numbers from 1 to 2147483647; got '" + std::string(text) + "'");
    at = next + 1;
  }
  return out;
}

}  // namespace bitwell::verify
