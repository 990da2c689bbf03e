// What is wrong with a command line, in words of ours.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace bitwell::cli {

// One line: what was not understood, the name that was meant where one is near, and which help says more.
std::string mistake(const CLI::App& app, const CLI::ParseError& error);

}  // namespace bitwell::cli
