#include "model/isa/family/copy/tensor_copy.h"

#include <algorithm>
#include <cstring>

namespace bitwell::isa {

using machine::Fault;
using machine::Region;
using machine::TensorMap;

namespace {

// The buffer in which `bytes` from `at` on lie; a fault where none holds them all.
Region& global_bytes(run::Cluster& cluster, uint64_t at, uint64_t bytes, bool to_shared) {
  Region* const region = cluster.grid.global.find(at, bytes);
  if (region == nullptr)
    throw Fault("the tensor map leads to " + std::to_string(bytes) + " bytes at global address " +
                std::to_string(at) + ", which are in no buffer, " + cluster.grid.global.describe(at));
  if (!to_shared && region->read_only)
    throw Fault("a bulk copy to '" + region->name() + "', which is read-only");
  return *region;
}

// The H200 stops there (tiles); the manual asks for it of all that leaves shared memory.
void require_inside(const TensorMap& map, const std::array<int64_t, 5>& start) {
  for (size_t d = 0; d < map.rank; ++d)
    if (start[d] < 0)
      throw Fault("a box that leaves shared memory starts at coordinate " + std::to_string(start[d]) +
                  " of dimension " + std::to_string(d) + " (an H200 stops with an illegal instruction)");
}

// What an im2col map must be for a copy that leaves shared memory (PTX ISA 9.0, restrictions of the direction
// .global.shared::cta).
void require_inside_im2col(const TensorMap& map, const std::array<int64_t, 5>& start) {
  require_inside(map, start);
  for (size_t d = 0; d + 2 < map.rank; ++d)
    if (map.im2col.lower[d] < 0 || map.im2col.upper[d] > 0)
      throw Fault("an im2col copy that leaves shared memory has pixels from " +
                  std::to_string(map.im2col.lower[d]) + " to " + std::to_string(map.im2col.upper[d]) +
                  " past the last in dimension " + std::to_string(d + 1) + ", outside the tensor");
  if (map.dims[0] < static_cast<uint64_t>(start[0]) + map.im2col.channels &&
      map.dims[0] * static_cast<uint64_t>(map.bits()) % 128 != 0)
    throw machine::Unsupported(
        "an im2col copy out of shared memory past the last of " + std::to_string(map.dims[0]) +
        " channels, which are not whole units of 16 bytes: how much of the last one is "
        "written is not known");
}

}  // namespace

std::vector<Segment> tensor_segments(run::Cluster& cluster, const TensorMap& map,
                                     const std::array<int64_t, 5>& start, Region& shared, uint64_t address,
                                     bool to_shared) {
  std::vector<Segment> out;
  const auto bits = static_cast<uint64_t>(map.bits());
  if (!to_shared) require_inside(map, start);
  if (map.padded() && !to_shared) {
    if (map.type == machine::TensorType::u6x16_align16b)
      throw machine::Unsupported("a store of .b6p2x16, into a tensor of type " + map.type_name());
    throw Fault("a tensor of type " + map.type_name() + " can only be loaded");
  }
  if (map.padded() && start[0] % TensorMap::kPaddedRow != 0)
    throw Fault("the box starts at element " + std::to_string(start[0]) +
                " of the innermost dimension, it must be a multiple of " +
                std::to_string(TensorMap::kPaddedRow) + " for type " + map.type_name());
  if (start[0] * static_cast<int64_t>(bits) % 128 != 0)
    throw Fault(
        "the box starts at element " + std::to_string(start[0]) +
        " of the innermost dimension, which is not a multiple of 16 bytes (an H200 stops with an illegal "
        "instruction where it is whole bytes)");
  const auto first = static_cast<int64_t>(map.extent(0));
  const bool padded = map.padded();
  const uint64_t pitch = map.pitch();
  // What leaves shared memory leaves it in units of 16 bytes: the last one may pass the tensor's edge (H200).
  const int64_t unit = to_shared ? 1 : std::max<int64_t>(1, 128 / static_cast<int64_t>(bits));
  const int64_t edge = (static_cast<int64_t>(map.dims[0]) + unit - 1) / unit * unit;
  // The columns [low, high) of a box's row are in the tensor, if the row is.
  const int64_t low = std::clamp<int64_t>(-start[0], 0, first);
  const int64_t high = std::clamp<int64_t>(edge - start[0], low, first);
  const uint64_t before = static_cast<uint64_t>(low) * bits / 8;
  const uint64_t within = static_cast<uint64_t>(high - low) * bits / 8;
  const uint64_t after = static_cast<uint64_t>(first - high) * bits / 8;
  Region* last = nullptr;
  const auto region_of = [&](uint64_t at, uint64_t bytes) {
    if (last == nullptr || !last->contains(at, bytes)) last = &global_bytes(cluster, at, bytes, to_shared);
    return last;
  };
  const auto add = [&](Region* global, uint64_t at, uint64_t in_shared, uint64_t bytes) {
    if (bytes == 0) return;
    if (to_shared)
      out.push_back({global, at, &shared, in_shared, static_cast<uint32_t>(bytes)});
    else if (global != nullptr)
      out.push_back({&shared, in_shared, global, at, static_cast<uint32_t>(bytes)});
  };
  // 16 elements, all of them in the tensor or none, go to 16 bytes.
  const auto add_padded = [&](Region* from, uint64_t at, uint64_t to) {
    for (uint64_t done = 0; done < static_cast<uint64_t>(first) * bits / 8; done += 2 * bits, to += 16)
      out.push_back({from, at + done, &shared, to, static_cast<uint32_t>(2 * bits),
                     static_cast<uint32_t>(16 - 2 * bits)});
  };
  std::array<uint32_t, 5> i{}, extent{};
  for (size_t d = 0; d < map.rank; ++d) extent[d] = map.extent(d);
  // Where whole rows lie in the tensor, the rows of dimension 1 that do so are one segment, if their buffer
  // is.
  const uint64_t step = map.element_strides[1] * map.strides[1];
  const auto add_rows = [&](uint64_t at, uint64_t to) {
    const auto count = static_cast<int64_t>(extent[1]), stride = static_cast<int64_t>(map.element_strides[1]);
    const auto limit = static_cast<int64_t>(map.dims[1]);
    if (start[1] < 0 || limit - start[1] <= stride * (count - 1)) return false;
    Region* const region = region_of(at, within);
    if (!region->contains(at + step * (extent[1] - 1), within)) return false;
    add(region, at, to, within);
    out.back().rows = extent[1];
    (to_shared ? out.back().from_step : out.back().to_step) = step;
    (to_shared ? out.back().to_step : out.back().from_step) = pitch;
    return true;
  };
  for (uint64_t to = address;;) {
    // One row: dimensions 1 and up are fixed.
    bool inside = high > low;
    uint64_t at = map.address + static_cast<uint64_t>(start[0] + low) * bits / 8;
    for (size_t d = 1; d < map.rank; ++d) {
      const int64_t c = start[d] + static_cast<int64_t>(i[d]) * map.element_strides[d];
      inside = inside && c >= 0 && static_cast<uint64_t>(c) < map.dims[d];
      at += static_cast<uint64_t>(c) * map.strides[d];
    }
    size_t d = 1;
    if (inside && !padded && before == 0 && after == 0 && map.rank > 1 && i[1] == 0 && add_rows(at, to)) {
      to += pitch * extent[1];
      d = 2;
    } else {
      if (padded) {
        add_padded(inside ? region_of(at, within) : nullptr, at, to);
      } else if (inside) {
        add(nullptr, 0, to, before);
        add(region_of(at, within), at, to + before, within);
        add(nullptr, 0, to + before + within, after);
      } else {
        add(nullptr, 0, to, before + within + after);
      }
      to += pitch;
    }
    for (; d < map.rank; ++d) {
      if (++i[d] < extent[d]) break;
      i[d] = 0;
    }
    if (d >= map.rank) return out;
  }
}

std::vector<Segment> im2col_segments(run::Cluster& cluster, const TensorMap& map,
                                     const std::array<int64_t, 5>& start,
                                     const std::array<int64_t, 3>& offsets, Region& shared, uint64_t address,
                                     bool to_shared) {
  std::vector<Segment> out;
  if (!to_shared) require_inside_im2col(map, start);
  const auto bits = static_cast<int64_t>(map.bits());
  const size_t images = map.rank - 1;  // the dimension that counts them
  const auto last = [&](size_t d) { return static_cast<int64_t>(map.dims[d]) - 1 + map.im2col.upper[d - 1]; };
  std::array<int64_t, 5> at = start;
  for (size_t d = 1; d < images; ++d)
    if (at[d] < map.im2col.lower[d - 1] || at[d] > last(d))
      throw Fault("an im2col copy starts at " + std::to_string(at[d]) + " of dimension " + std::to_string(d) +
                  ", outside the box of pixels from " + std::to_string(map.im2col.lower[d - 1]) + " to " +
                  std::to_string(last(d)));
  if (start[0] * bits % 128 != 0)
    throw Fault("the copy starts at channel " + std::to_string(start[0]) +
                ", which is not a multiple of 16 bytes");
  const auto channels = static_cast<int64_t>(map.im2col.channels);
  const int64_t low = std::clamp<int64_t>(-start[0], 0, channels);
  const int64_t high = std::clamp<int64_t>(static_cast<int64_t>(map.dims[0]) - start[0], low, channels);
  const auto bytes = [&](int64_t elements) { return static_cast<uint64_t>(elements * bits / 8); };
  for (uint32_t pixel = 0; pixel < map.im2col.pixels; ++pixel, address += map.pitch()) {
    bool inside = high > low;
    uint64_t from = map.address + static_cast<uint64_t>((start[0] + low) * bits / 8);
    for (size_t d = 1; d < map.rank; ++d) {
      const int64_t c = at[d] + (d < images ? offsets[d - 1] : 0);
      inside = inside && c >= 0 && c < static_cast<int64_t>(map.dims[d]);
      from += static_cast<uint64_t>(c) * map.strides[d];
    }
    const auto fill = [&](uint64_t to, uint64_t count) {
      if (count != 0 && to_shared) out.push_back({nullptr, 0, &shared, to, static_cast<uint32_t>(count)});
    };
    if (inside) {
      fill(address, bytes(low));
      const uint64_t count = bytes(high - low);
      Region& tensor = global_bytes(cluster, from, count, to_shared);
      const uint64_t in_shared = address + bytes(low);
      if (to_shared)
        out.push_back({&tensor, from, &shared, in_shared, static_cast<uint32_t>(count)});
      else
        out.push_back({&shared, in_shared, &tensor, from, static_cast<uint32_t>(count)});
      fill(address + bytes(high), bytes(channels - high));
    } else {
      fill(address, bytes(channels));
    }
    for (size_t d = 1; d < map.rank; ++d) {
      at[d] += map.element_strides[d];
      if (d == images || at[d] <= last(d)) break;
      at[d] = map.im2col.lower[d - 1];
    }
  }
  return out;
}

std::array<std::byte, 16> fill_pattern(const TensorMap& map) {
  std::array<std::byte, 16> out{};
  if (!map.fill_nan) return out;
  // 16 bits at a time for every type (H200); the driver calls it the NaN that an fma takes for zero.
  constexpr uint16_t nan = 0x7FF7;
  for (size_t i = 0; i < out.size(); i += sizeof nan) std::memcpy(out.data() + i, &nan, sizeof nan);
  return out;
}

}  // namespace bitwell::isa
