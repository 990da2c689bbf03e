// What a library that a program calls says beside the program's own words.
#pragma once
#include <string>

namespace bitwell::driver {

// A line to stderr, for the user.
void say(const std::string& text);
// To the end of a file, which other processes write to as well; says where it cannot.
bool append(const std::string& path, const std::string& text);

}  // namespace bitwell::driver
