// What a turn reaches, by which two turns are told to commute or not.
#pragma once
#include <cstdint>
#include <vector>

namespace bitwell::explore {

enum class Space : uint8_t {
  global,
  shared,           // of a cluster, by shared::cluster address
  tensor,           // of a cluster, by rank, lane and column
  barrier,          // of a CTA, by rank and number
  cluster_barrier,  //
  groups,           // of operations that a warp waits for, by warp
  multiplications,  // of a warpgroup: wgmma, by rank and warpgroup
  columns,          // that are free, by rank
  alive,            // CTAs, by rank
  moves,            // tcgen05.ld and st that may be under way, by rank
  issues            // of tcgen05, that a fence accepts, by rank
};

enum class Mode : uint8_t {
  read,
  write,
  join  // commutes with others that join the same phase
};

struct Touch {
  Space space;
  uint32_t cluster;  // of global memory 0
  uint64_t begin, end;
  Mode mode;
  uint64_t phase = 0;
  bool over = false;  // that phase ended in this turn
};
inline constexpr Space kSpaces[] = {Space::global,          Space::shared,          Space::tensor,
                                    Space::barrier,         Space::cluster_barrier, Space::groups,
                                    Space::multiplications, Space::columns,         Space::alive,
                                    Space::moves,           Space::issues};

// All of one turn.
using Footprint = std::vector<Touch>;

// Whether the order of two turns of different actors can matter: they meet in a place, and do not both read
// it or join one phase there.
bool conflict(const Footprint& a, const Footprint& b);

// Whether a turn that could be taken would be another behind `taken`: they conflict, or would have joined the
// phase that ended in that.
bool disturbs(const Footprint& taken, const Footprint& other);

// Adds a touch; one that continues the last of its kind makes that longer.
void add(Footprint& to, const Touch& touch);

}  // namespace bitwell::explore
