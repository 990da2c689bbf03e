// Scale factors between row-major order and the 128x4 tiling of global memory, on the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace bitwell::layout {

// Bytes of the tiled form: rows padded to 128, scales to 4.
size_t tiled_size(size_t rows, size_t scales);

// linear: rows x scales bytes, row-major. tiled: tiled_size bytes, padding included (written as `pad`).
// The same map as scales_global(..., Tiling::tile_128x4). Throws LayoutError on a buffer of another size.
void swizzle_scales(std::span<const uint8_t> linear, size_t rows, size_t scales, std::span<uint8_t> tiled,
                    uint8_t pad = 0);
void unswizzle_scales(std::span<const uint8_t> tiled, size_t rows, size_t scales, std::span<uint8_t> linear);

}  // namespace bitwell::layout
