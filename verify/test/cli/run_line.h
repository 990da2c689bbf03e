// The words of a command line behind `bitwell run`, and what is made of them.
#pragma once
#include <string>

#include "verify/cli/run/run_arguments.h"
#include "verify/cli/shell/mistake.h"

namespace bitwell::cli::test {

struct RunLine {
  RunOptions options;
  std::string refused;  // what bitwell says of the words, or empty

  explicit RunLine(const std::string& words) {
    CLI::App app{"", "bitwell"};
    app.require_subcommand(1);
    add_arguments(*app.add_subcommand("run", "a launch"), options);
    try {
      app.parse("run " + words);
    } catch (const CLI::ParseError& e) {
      refused = mistake(app, e);
    }
  }
};

}  // namespace bitwell::cli::test
