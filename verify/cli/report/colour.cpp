#include "verify/cli/report/colour.h"

#include <fmt/color.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace bitwell::cli {

bool coloured() {
  const char* const no = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  if (no != nullptr && *no != '\0') return false;
  return (terminal == nullptr || std::string_view(terminal) != "dumb") && isatty(STDOUT_FILENO) != 0;
}

std::string in(Colour colour, const std::string& words) {
  if (!coloured()) return words;
  return fmt::format(fmt::emphasis::bold | fmt::fg(colour == Colour::red ? fmt::terminal_color::red
                                                                         : fmt::terminal_color::yellow),
                     "{}", words);
}

}  // namespace bitwell::cli
