// The commands and options, as help, completion and man pages need them: all from the one tree that parses.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bitwell::cli {

// "bitwell study accumulate"
std::string path_of(const CLI::App& command);
// In the order in which they were added; those that help does not show are left out.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
// Options with a name of their own: not what stands in the line without one.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
// "-q", "--quiet": its names with their dashes.
std::vector<std::string> names_of(const CLI::Option& option);
// The values that it takes, where these are a list; else empty.
std::vector<std::string> values_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);
// The beginning of a description, as far as it is one thought: for a list of completions.
std::string in_short(const std::string& description);

}  // namespace bitwell::cli
