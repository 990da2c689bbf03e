// Man pages, from the tree of commands.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace bitwell::cli {

// The page of a command and of those below it, for man(7): "bitwell-run", or of the whole program, "bitwell".
std::string manual(const CLI::App& command);
// Its name, without the section.
std::string manual_name(const CLI::App& command);

}  // namespace bitwell::cli
