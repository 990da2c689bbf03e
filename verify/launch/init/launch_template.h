// The LAUNCH.json that fits an entry, to be filled in.
#pragma once
#include <string>

namespace bitwell::launch {

// For the entry of the PTX text that name_among takes for `entry`; empty: the only one. `path`: what "ptx" is
// to say. Arguments of the entry's sizes, of its C++ types where the name tells them, at the offsets where
// structures are read; buffers where a parameter is used as an address; the block and cluster that directives
// want; cooperative where it synchronises the grid. What nobody can know but the host is null, which
// read_launch refuses; members "//" say what goes there. Throws InputError, and SyntaxError for what is no
// PTX.
std::string launch_template(const std::string& ptx, const std::string& path, const std::string& entry);

}  // namespace bitwell::launch
