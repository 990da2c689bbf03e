#include "model/layout/scale_swizzle.h"

#include <cstring>

#include "model/layout/tuple.h"

namespace bitwell::layout {
namespace {

void check(const char* what, size_t have, size_t want) {
  if (have != want)
    throw LayoutError(std::string(what) + " scales take " + std::to_string(want) + " bytes, the buffer has " +
                      std::to_string(have));
}

size_t tile_of(size_t row, size_t scale, size_t steps) {
  return (row / 128 * steps + scale / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + scale % 4;
}

// A whole block of 128 rows: the four rows of one lane make 16 neighbouring bytes of each K step.
void swizzle_block(const uint8_t* linear, size_t scales, uint8_t* tiled) {
  for (size_t lane = 0; lane < 32; ++lane) {
    const uint8_t* r0 = linear + lane * scales;
    const uint8_t* r1 = r0 + 32 * scales;
    const uint8_t* r2 = r1 + 32 * scales;
    const uint8_t* r3 = r2 + 32 * scales;
    uint8_t* out = tiled + 16 * lane;
    for (size_t c = 0; c + 4 <= scales; c += 4, out += 512) {
      uint32_t words[4];
      std::memcpy(&words[0], r0 + c, 4);
      std::memcpy(&words[1], r1 + c, 4);
      std::memcpy(&words[2], r2 + c, 4);
      std::memcpy(&words[3], r3 + c, 4);
      std::memcpy(out, words, 16);
    }
  }
}

// The way back.
void unswizzle_block(const uint8_t* tiled, size_t scales, uint8_t* linear) {
  for (size_t lane = 0; lane < 32; ++lane) {
    uint8_t* r0 = linear + lane * scales;
    uint8_t* r1 = r0 + 32 * scales;
    uint8_t* r2 = r1 + 32 * scales;
    uint8_t* r3 = r2 + 32 * scales;
    const uint8_t* in = tiled + 16 * lane;
    for (size_t c = 0; c + 4 <= scales; c += 4, in += 512) {
      uint32_t words[4];
      std::memcpy(words, in, 16);
      std::memcpy(r0 + c, &words[0], 4);
      std::memcpy(r1 + c, &words[1], 4);
      std::memcpy(r2 + c, &words[2], 4);
      std::memcpy(r3 + c, &words[3], 4);
    }
  }
}

}  // namespace

size_t tiled_size(size_t rows, size_t scales) { return (rows + 127) / 128 * 128 * ((scales + 3) / 4 * 4); }

void swizzle_scales(std::span<const uint8_t> linear, size_t rows, size_t scales, std::span<uint8_t> tiled,
                    uint8_t pad) {
  check("linear", linear.size(), rows * scales);
  check("tiled", tiled.size(), tiled_size(rows, scales));
  const size_t steps = (scales + 3) / 4;
  const size_t whole = scales % 4 == 0 ? rows / 128 * 128 : 0;
  if (rows != whole) std::memset(tiled.data() + whole * steps * 4, pad, tiled.size() - whole * steps * 4);
  for (size_t row = 0; row < whole; row += 128)
    swizzle_block(linear.data() + row * scales, scales, tiled.data() + row * steps * 4);
  for (size_t row = whole; row < rows; ++row)
    for (size_t c = 0; c < scales; ++c) tiled[tile_of(row, c, steps)] = linear[row * scales + c];
}

void unswizzle_scales(std::span<const uint8_t> tiled, size_t rows, size_t scales, std::span<uint8_t> linear) {
  check("tiled", tiled.size(), tiled_size(rows, scales));
  check("linear", linear.size(), rows * scales);
  const size_t steps = (scales + 3) / 4;
  const size_t whole = scales % 4 == 0 ? rows / 128 * 128 : 0;
  for (size_t row = 0; row < whole; row += 128)
    unswizzle_block(tiled.data() + row * steps * 4, scales, linear.data() + row * scales);
  for (size_t row = whole; row < rows; ++row)
    for (size_t c = 0; c < scales; ++c) linear[row * scales + c] = tiled[tile_of(row, c, steps)];
}

}  // namespace bitwell::layout
