// What a launch file's `generate` puts into a buffer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bitwell::launch {

// So many bytes of the kind, one of schema::kGenerators: bytes with every bit drawn, 32-bit numbers from 0,
// or fp32 drawn evenly from [-1, 1). Bytes behind the last whole number are 0. A seed gives the same bytes on
// every host.
std::vector<std::byte> generated(std::string_view kind, uint64_t bytes, uint64_t seed);

}  // namespace bitwell::launch
