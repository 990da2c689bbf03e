#include "model/run/strip.h"

#include "model/run/cluster.h"
#include "model/run/parallel/claim.h"

namespace bitwell::run {

void load_strip(const Cluster& cluster, const Strip& strip, const machine::Region& from, machine::Region& to,
                uint64_t offset) {
  if (cluster.grid.parallel != nullptr)
    claim_each(machine::AccessKind::read, from, cluster.grid.parallel->claims, [&](auto visit) {
      for (uint64_t row = 0; row < strip.rows; ++row) visit(strip.global + row * strip.stride, strip.bytes);
    });
  const auto copy = [&](const std::byte* source, std::byte* place) {
    isa::line_moves().copy(source + (strip.global - from.base()), strip.stride, place + offset, strip.bytes,
                           strip.rows, strip.bytes, strip.keys, (to.base() + offset) / isa::kSwizzleLine);
  };
  copy(from.raw_bytes(), to.raw_bytes());
  if (to.raw_defined() == nullptr) return;
  if (from.raw_defined() == nullptr) return to.mark_defined(offset, uint64_t{strip.rows} * strip.bytes);
  copy(reinterpret_cast<const std::byte*>(from.raw_defined()),
       reinterpret_cast<std::byte*>(to.raw_defined()));
}

uint32_t take_strip(const Strip& strip, const machine::Region& from, std::byte* to) {
  const uint64_t offset = strip.shared - from.base();
  isa::line_moves().copy(from.raw_bytes() + offset, strip.bytes, to, strip.bytes, strip.rows, strip.bytes,
                         strip.keys, strip.shared / isa::kSwizzleLine);
  if (from.raw_defined() == nullptr) return strip.rows;
  const auto written = [&](uint64_t first, uint64_t rows) {
    return isa::line_moves().all(machine::kWritten, from.raw_defined() + offset + first * strip.bytes,
                                 rows * strip.bytes);
  };
  if (written(0, strip.rows)) return strip.rows;
  uint32_t out = 0;
  while (written(out, 1)) ++out;
  return out;
}

void put_strip(const Cluster& cluster, const Strip& strip, const std::byte* from, machine::Region& to) {
  if (cluster.grid.parallel != nullptr)
    cluster.grid.parallel->claims.write(to, strip.global, strip.bytes, strip.stride, strip.rows);
  const uint64_t offset = strip.global - to.base();
  isa::line_moves().copy(from, strip.bytes, to.raw_bytes() + offset, strip.stride, strip.rows, strip.bytes,
                         {}, 0);
  if (to.raw_defined() != nullptr)
    isa::line_moves().fill(machine::kWritten, to.raw_defined() + offset, strip.stride, strip.rows,
                           strip.bytes);
}

}  // namespace bitwell::run
