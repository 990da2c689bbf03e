// The tables of keys as they stand in docs/launch-file.md.
#pragma once
#include <string>

namespace bitwell::schema {

// Markdown: a section for each object, its keys with type, default, meaning and the version they came with.
std::string keys_page();

}  // namespace bitwell::schema
