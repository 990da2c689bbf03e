// ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements between shared memory and a warp's fragments. Lane
// 8 m + r gives the address of row r of matrix m; lane 4 r + t holds elements 2 t and 2 t + 1 of row r.
#include <array>
#include <cstring>

#include "model/isa/cluster.h"
#include "model/isa/effects.h"
#include "model/isa/shared_place.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

// Where the 8 rows of every matrix are.
std::array<SharedPlace, kLanes> row_places(const Op& op, Context& context) {
  const uint32_t used = op.count == 4 ? ~0u : (1u << 8 * op.count) - 1;
  context.require_defined(op.a, used, "an address");
  std::array<SharedPlace, kLanes> out{};
  for (int lane = 0; lane < 8 * op.count; ++lane)
    out[static_cast<size_t>(lane)] = shared_place(op, context, lane, 16, 16, true);
  return out;
}

}  // namespace

Next load_matrix(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const auto places = row_places(op, context);
  const bool transposed = op.target == 1;
  for (size_t m = 0; m < op.count; ++m) {
    auto* d = context.row<uint32_t>((*op.results)[m]);
    uint32_t known = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      uint32_t word = 0;
      bool defined = true;
      for (size_t e = 0; e < 2; ++e) {
        const size_t row = transposed ? 2 * (lane % 4) + e : lane / 4;
        const size_t column = transposed ? lane / 4 : 2 * (lane % 4) + e;
        const SharedPlace& p = places[8 * m + row];
        uint16_t element = 0;
        std::memcpy(&element, p.bytes() + 2 * column, 2);
        word |= static_cast<uint32_t>(element) << 16 * e;
        defined = defined && p.cta->shared.is_defined(p.address - p.cta->shared.base() + 2 * column, 2);
      }
      d[lane] = word;
      known |= static_cast<uint32_t>(defined) << lane;
    }
    context.set_known((*op.results)[m], ~0u, known);
  }
  return Next::advance;
}

Next store_matrix(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const auto places = row_places(op, context);
  Cluster& cluster = context.cta.cluster;
  cluster.change();
  if (context.checked && cluster.operations_under_way())
    for (int row = 0; row < 8 * op.count; ++row) {
      const uint64_t address = places[static_cast<size_t>(row)].address;
      if (const machine::Agent* copy = cluster.filling(address, 16))
        throw Fault("a write to " + cluster.shared_name(address) + ", which the copy of PTX line " +
                        std::to_string(copy->place.ptx_line) + " is still to write",
                    row);
    }
  const bool transposed = op.target == 1;
  for (size_t m = 0; m < op.count; ++m) {
    const auto* s = context.row<uint32_t>((*op.sources)[m]);
    context.require_defined((*op.sources)[m], mask, "a matrix operand");
    for (size_t lane = 0; lane < kLanes; ++lane)
      for (size_t e = 0; e < 2; ++e) {
        const size_t row = transposed ? 2 * (lane % 4) + e : lane / 4;
        const size_t column = transposed ? lane / 4 : 2 * (lane % 4) + e;
        const SharedPlace& p = places[8 * m + row];
        const auto element = static_cast<uint16_t>(s[lane] >> 16 * e);
        std::memcpy(p.bytes() + 2 * column, &element, 2);
        p.cta->shared.mark_defined(p.address - p.cta->shared.base() + 2 * column, 2);
      }
  }
  return Next::advance;
}

}  // namespace bitwell::isa
