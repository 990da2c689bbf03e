// What fmt's headers leave to its library, compiled once. With all of fmt in its headers, the compiler makes
// this anew in each file that formats: a second or more of each. Debian's library can only be linked
// dynamically, and our programs run where it is not installed.
#include <fmt/format-inl.h>

namespace fmt::detail {
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
template auto dragonbox::to_decimal<float>(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal<double>(double) noexcept -> dragonbox::decimal_fp<double>;
}  // namespace fmt::detail
