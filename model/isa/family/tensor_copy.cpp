#include "model/isa/family/tensor_copy.h"

#include <algorithm>
#include <cstring>

namespace bitwell::isa {

using machine::Fault;
using machine::Region;
using machine::TensorMap;

std::vector<Segment> tensor_segments(Cluster& cluster, const TensorMap& map,
                                     const std::array<int64_t, 5>& start, Region& shared, uint64_t address,
                                     bool to_shared) {
  std::vector<Segment> out;
  out.reserve(map.rows());
  const auto bits = static_cast<uint64_t>(map.bits());
  if (!to_shared)
    for (size_t d = 0; d < map.rank; ++d)
      if (start[d] < 0)
        throw Fault("a box that leaves shared memory starts at coordinate " + std::to_string(start[d]) +
                    " of dimension " + std::to_string(d) + " (an H200 stops with an illegal instruction)");
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
  Region* last = nullptr;
  const auto region_of = [&](uint64_t at, uint64_t bytes) {
    if (last == nullptr || !last->contains(at, bytes)) last = cluster.grid.global.find(at, bytes);
    if (last == nullptr)
      throw Fault("the tensor map leads to " + std::to_string(bytes) + " bytes at global address " +
                  std::to_string(at) + ", which are in no buffer, " + cluster.grid.global.describe(at));
    if (!to_shared && last->read_only)
      throw Fault("a bulk copy to '" + last->name() + "', which is read-only");
    return last;
  };
  const auto add = [&](Region* global, uint64_t at, uint64_t in_shared, uint64_t bytes) {
    if (bytes == 0) return;
    if (to_shared)
      out.push_back({global, at, &shared, in_shared, static_cast<uint32_t>(bytes)});
    else if (global != nullptr)
      out.push_back({&shared, in_shared, global, at, static_cast<uint32_t>(bytes)});
  };
  std::array<uint32_t, 5> i{};
  for (uint64_t to = address;;) {
    // One row: dimensions 1 and up are fixed.
    bool inside = true;
    uint64_t global = map.address;
    for (size_t d = 1; d < map.rank; ++d) {
      const int64_t c = start[d] + static_cast<int64_t>(i[d]) * map.element_strides[d];
      inside = inside && c >= 0 && static_cast<uint64_t>(c) < map.dims[d];
      global += static_cast<uint64_t>(c) * map.strides[d];
    }
    const int64_t low = inside ? std::clamp<int64_t>(-start[0], 0, first) : first;
    // What leaves shared memory leaves it in units of 16 bytes: the last one may pass the tensor's edge
    // (H200).
    const int64_t unit = to_shared ? 1 : std::max<int64_t>(1, 128 / static_cast<int64_t>(bits));
    const int64_t edge = (static_cast<int64_t>(map.dims[0]) + unit - 1) / unit * unit;
    const int64_t high = inside ? std::clamp<int64_t>(edge - start[0], low, first) : first;
    if (map.padded()) {  // all of the row is in the tensor, or nothing: 16 elements go to 16 bytes
      const uint64_t all = static_cast<uint64_t>(first) * bits / 8;
      const uint64_t at = global + static_cast<uint64_t>(start[0]) * bits / 8;
      Region* from = high > low ? region_of(at, all) : nullptr;
      for (uint64_t done = 0; done < all; done += 2 * bits)
        out.push_back({from, at + done, &shared, to + done / (2 * bits) * 16, static_cast<uint32_t>(2 * bits),
                       static_cast<uint32_t>(16 - 2 * bits)});
    }
    const auto bytes = [&](int64_t elements) {
      return map.padded() ? 0 : static_cast<uint64_t>(elements) * bits / 8;
    };
    add(nullptr, 0, to, bytes(low));
    if (high > low && !map.padded()) {
      const uint64_t at = global + static_cast<uint64_t>(start[0] + low) * bits / 8;
      add(region_of(at, bytes(high - low)), at, to + bytes(low), bytes(high - low));
    }
    add(nullptr, 0, to + bytes(high), bytes(first - high));
    to += map.pitch();
    size_t d = 1;
    for (; d < map.rank; ++d) {
      if (++i[d] < map.extent(d)) break;
      i[d] = 0;
    }
    if (d >= map.rank) return out;
  }
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
