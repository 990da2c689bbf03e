// Sizes of ours, which are int, as memory and launches count them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitwell::suite {

constexpr size_t u(int v) { return static_cast<size_t>(v); }
constexpr uint32_t w(int v) { return static_cast<uint32_t>(v); }

}  // namespace bitwell::suite
