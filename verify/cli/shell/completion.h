// What shells complete bitwell's commands, options and values from.
#pragma once
#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <string_view>

namespace bitwell::cli {

inline constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};

// A script for the shell, one of kShells, which sources it or loads it as a completion of `bitwell`.
std::string completion(const CLI::App& app, std::string_view shell);

}  // namespace bitwell::cli
