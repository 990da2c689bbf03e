#include "model/hazard/register_range.h"

#include <algorithm>

namespace bitwell::hazard {

std::optional<std::string> register_of(const std::string& name, const std::string& prefix, int count) {
  if (name.size() <= prefix.size() || !name.starts_with(prefix)) return std::nullopt;
  const std::string digits = name.substr(prefix.size());
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const std::string number = digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  constexpr size_t kMostDigits = 9;  // no range has more
  if (number.size() > kMostDigits || std::stoi(number) >= count) return std::nullopt;
  return prefix + number;
}

}  // namespace bitwell::hazard
