// The tables of keys as JSON Schema 2020-12, from which editors complete and check.
#pragma once
#include <string>

namespace bitwell::schema {

// What the reader takes, it takes; it also takes some of what only the reader sees to be wrong: names of
// buffers that are not there, sizes that do not go together.
std::string json_schema();

}  // namespace bitwell::schema
