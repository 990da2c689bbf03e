#include "verify/driver/core/filter.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <string_view>

#include "model/machine/failure.h"
#include "verify/launch/file/names.h"

namespace bitwell::driver {
namespace {

bool is_child() {
  const char* const program = std::getenv(kChildVariable);
  return program != nullptr && std::to_string(getpid()) != program;
}

}  // namespace

bool names_kernel(const std::string& pattern, const std::string& kernel) {
  const std::string written = launch::as_written(kernel);
  std::string_view rest = pattern;
  bool whole = false;
  for (const std::string_view key : {"kernel_substring=", "kns=", "kernel_name=", "kne="})
    if (rest.starts_with(key)) {
      whole = key == "kernel_name=" || key == "kne=";
      rest.remove_prefix(key.size());
      break;
    }
  const std::string name(rest);
  if (name.starts_with("regex:")) {
    try {
      const std::regex expression(name.substr(6));
      return std::regex_search(kernel, expression) || std::regex_search(written, expression);
    } catch (const std::regex_error& e) {
      throw machine::InputError("'" + pattern + "' is no regular expression: " + e.what());
    }
  }
  if (whole) return kernel == name || written == name || written.substr(0, written.find('(')) == name;
  return kernel.find(name) != std::string::npos || written.find(name) != std::string::npos;
}

bool is_judged(const Asked& asked) { return !asked.only_program || !is_child(); }

bool is_meant(const Asked& asked, const std::string& kernel) {
  if (!is_judged(asked)) return false;
  const auto names = [&](const std::string& pattern) { return names_kernel(pattern, kernel); };
  return (asked.kernels.empty() || std::any_of(asked.kernels.begin(), asked.kernels.end(), names)) &&
         std::none_of(asked.kernels_not.begin(), asked.kernels_not.end(), names);
}

bool Choice::takes(const Asked& asked, const std::string& kernel) {
  if (!is_meant(asked, kernel)) return false;
  const uint64_t number = matched_++;
  return number >= asked.launch_skip &&
         (asked.launch_count == 0 || number - asked.launch_skip < asked.launch_count);
}

}  // namespace bitwell::driver
