// Which memory of this process can be read.
#pragma once
#include <cstddef>

namespace bitwell::image {

// How many bytes from `address` on, at most `most`; 0 where none can.
size_t readable_bytes(const void* address, size_t most);

}  // namespace bitwell::image
