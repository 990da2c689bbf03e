#include "model/run/strip.h"

#include <cstring>

#include "model/run/cluster.h"
#include "model/run/parallel/claim.h"

namespace bitwell::run {
namespace {

constexpr uint64_t kLine = 128, kUnit = 16;

// A line whose units change places: it does not matter on which side.
template <uint64_t key, class T>
void exchange(T* to, const T* from) {
#pragma GCC unroll 8
  for (uint64_t c = 0; c < kLine; c += kUnit) std::memcpy(to + c, from + (c ^ key), kUnit);
}
template <class T>
void copy_line(T* to, const T* from, uint64_t key) {
  switch (key / kUnit) {
    case 0: return exchange<0>(to, from);
    case 1: return exchange<0x10>(to, from);
    case 2: return exchange<0x20>(to, from);
    case 3: return exchange<0x30>(to, from);
    case 4: return exchange<0x40>(to, from);
    case 5: return exchange<0x50>(to, from);
    case 6: return exchange<0x60>(to, from);
    default: return exchange<0x70>(to, from);
  }
}

// machine::all_written of whole lines: each unit is as the one before.
bool lines_written(const uint8_t* known, uint64_t bytes) {
  return machine::all_written(known, kUnit) && std::memcmp(known, known + kUnit, bytes - kUnit) == 0;
}

// visit(place in the tile, address in the buffer, the line's key) for every line; `shared`: of the tile's. Of
// a copy of the strip, which what is written cannot change.
template <class Visit>
void each_line(const Strip strip, uint64_t shared, Visit visit) {
  uint64_t at = 0;
  for (uint64_t row = 0; row < strip.rows; ++row)
    for (uint64_t i = 0; i < strip.bytes; i += kLine, at += kLine)
      visit(at, strip.global + row * strip.stride + i, strip.keys[(shared + at) / kLine % 8]);
}

void claim_rows(const Cluster& cluster, machine::AccessKind kind, const Strip& strip,
                const machine::Region& at) {
  if (cluster.grid.parallel == nullptr) return;
  claim_each(kind, at, cluster.grid.parallel->claims, [&](auto visit) {
    for (uint64_t row = 0; row < strip.rows; ++row) visit(strip.global + row * strip.stride, strip.bytes);
  });
}

}  // namespace

void load_strip(const Cluster& cluster, const Strip& strip, const machine::Region& from, machine::Region& to,
                uint64_t offset) {
  claim_rows(cluster, machine::AccessKind::read, strip, from);
  const uint64_t shared = to.base() + offset;
  const std::byte* const source = from.raw_bytes() - from.base();
  std::byte* const bytes = to.raw_bytes() + offset;
  each_line(strip, shared, [=](uint64_t place, uint64_t address, uint64_t key) {
    copy_line(bytes + place, source + address, key);
  });
  if (to.raw_defined() == nullptr) return;
  if (from.raw_defined() == nullptr) return to.mark_defined(offset, uint64_t{strip.rows} * strip.bytes);
  const uint8_t* const defined = from.raw_defined() - from.base();
  uint8_t* const known = to.raw_defined() + offset;
  each_line(strip, shared, [=](uint64_t place, uint64_t address, uint64_t key) {
    copy_line(known + place, defined + address, key);
  });
}

bool take_strip(const Strip& strip, const machine::Region& from, std::byte* to) {
  const uint64_t offset = strip.shared - from.base();
  const std::byte* const bytes = from.raw_bytes() + offset;
  each_line(strip, strip.shared,
            [=](uint64_t place, uint64_t, uint64_t key) { copy_line(to + place, bytes + place, key); });
  return from.raw_defined() == nullptr ||
         lines_written(from.raw_defined() + offset, uint64_t{strip.rows} * strip.bytes);
}

void put_strip(const Cluster& cluster, const Strip& strip, const std::byte* from, machine::Region& to) {
  claim_rows(cluster, machine::AccessKind::write, strip, to);
  std::byte* const bytes = to.raw_bytes() - to.base();
  each_line(strip, 0,
            [=](uint64_t place, uint64_t address, uint64_t) { exchange<0>(bytes + address, from + place); });
  if (to.raw_defined() == nullptr) return;
  uint8_t* const known = to.raw_defined() - to.base();
  each_line(strip, 0, [=](uint64_t, uint64_t address, uint64_t) {
    std::memset(known + address, machine::kWritten, kLine);
  });
}

}  // namespace bitwell::run
