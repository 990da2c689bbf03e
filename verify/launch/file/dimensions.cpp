#include "verify/launch/file/dimensions.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::launch {

std::vector<int> parse_dimensions(std::string_view text, std::string_view form) {
  const auto most = static_cast<size_t>(std::count(form.begin(), form.end(), 'x')) + 1;
  const size_t least = most - (form.find('[') != std::string_view::npos ? 1 : 0);
  const auto refuse = [&] {
    throw machine::InputError("a shape is " + std::string(form) +
                              ", whole numbers from 1 to 2147483647; got '" + std::string(text) + "'");
  };
  std::vector<int> out;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();;) {
    int n = 0;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n < 1 || out.size() == most) refuse();
    out.push_back(n);
    if (next == end) break;
    if (*next != 'x') refuse();
    at = next + 1;
  }
  if (out.size() < least) refuse();
  out.resize(most, 1);
  return out;
}

}  // namespace bitwell::launch
