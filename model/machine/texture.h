// Arrays of one to three dimensions as texture and surface instructions see them (PTX ISA 9.0, 5.3
// and 9.7.11; CUDA programming guide 13.0, "Texture and Surface Memory").
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bitwell::machine {

// What a coordinate outside the array reads.
enum class Boundary : uint8_t { wrap, clamp, mirror, border };
struct BoundaryName {
  Boundary boundary;
  std::string_view name;
};
inline constexpr std::array<BoundaryName, 4> kBoundaries{{{Boundary::wrap, "wrap"},
                                                          {Boundary::clamp, "clamp"},
                                                          {Boundary::mirror, "mirror"},
                                                          {Boundary::border, "border"}}};

// What a channel of a texel is.
struct Channel {
  std::string_view name;
  char kind;  // u, s, f
  uint32_t bytes;
};
inline constexpr std::array<Channel, 8> kChannels{{{"u8", 'u', 1},
                                                   {"s8", 's', 1},
                                                   {"u16", 'u', 2},
                                                   {"s16", 's', 2},
                                                   {"f16", 'f', 2},
                                                   {"u32", 'u', 4},
                                                   {"s32", 's', 4},
                                                   {"f32", 'f', 4}}};

struct Texture {
  std::string name;
  uint64_t address = 0;     // of the first texel in global memory; x, y, z, layers follow each other without
                            // gaps, but for the pitch
  uint64_t pitch = 0;       // bytes from one row to the next; 0: rows have no gap
  bool surface = false;     // an object for suld and sust; else for tex
  uint32_t dimensions = 1;  // 1 to 3, layers not counted
  std::array<uint64_t, 3> size{1, 1, 1};  // texels
  uint64_t layers = 0;                    // 0: it has none
  Channel channel{};
  uint32_t channels = 1;  // 1, 2 or 4
  // Of an object for tex.
  std::array<Boundary, 3> boundary{Boundary::clamp, Boundary::clamp, Boundary::clamp};
  bool linear = false;                  // filtered; else the nearest texel
  bool normalized_coordinates = false;  // 0 to 1 is the array
  bool normalized_values = false;       // whole numbers read as 0 to 1, or -1 to 1

  uint64_t texel_bytes() const { return uint64_t{channels} * channel.bytes; }
  uint64_t row_bytes() const { return pitch != 0 ? pitch : size[0] * texel_bytes(); }
  // From the first texel to the end of the last.
  uint64_t bytes() const {
    return (size[1] * size[2] * (layers == 0 ? 1 : layers) - 1) * row_bytes() + size[0] * texel_bytes();
  }
  // Of the texel at x, y, z of a layer, which are inside.
  uint64_t address_of(const std::array<uint64_t, 3>& at, uint64_t layer) const {
    return address + ((layer * size[2] + at[2]) * size[1] + at[1]) * row_bytes() + at[0] * texel_bytes();
  }
};

}  // namespace bitwell::machine
