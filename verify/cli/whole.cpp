#include <charconv>

#include "verify/cli/command.h"

namespace bitwell::cli {

// CLI11 reads "-1" as 2^64 - 1 and larger numbers as that.
CLI::Validator whole(uint64_t least, uint64_t most) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  return {[=](const std::string& text) {
            uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool good = error == std::errc() && end == text.data() + text.size();
            return good && value >= least && value <= most
                       ? std::string()
                       : "'" + text + "' is no whole number from " + range;
          },
          range};
}

}  // namespace bitwell::cli
