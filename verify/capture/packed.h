// Text of captures in files that xz has compressed.
#pragma once
#include <string>

namespace bitwell::capture {

// Throws machine::InputError naming the file: not there, no xz file, or text of more than 32 MiB.
std::string read_packed(const std::string& path);
// `what` it is, for what is said where it cannot be written.
void write_packed(const std::string& path, const std::string& what, const std::string& text);

}  // namespace bitwell::capture
