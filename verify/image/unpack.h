// The two published compressions that fat binaries use.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bitwell::image {

// `size` bytes from one block of LZ4, or one frame of zstd; nothing where it is none, or is of another size.
std::optional<std::string> from_lz4(std::string_view in, size_t size);
// By the system's library: nothing where there is none.
std::optional<std::string> from_zstd(std::string_view in, size_t size);

}  // namespace bitwell::image
