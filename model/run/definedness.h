// Values that were never written, followed bit by bit through what moves bits about, so that only a bit that
// matters is reported, with the place where it should have come from.
#pragma once
#include <string>

#include "model/isa/form/op.h"
#include "model/run/context.h"

namespace bitwell::isa {

// Runs a lane loop of which some lanes of `mask` have operands that are not whole, and says what is known of
// its results.
void run_unknown(const Op& op, Context& context, uint32_t mask);

// One lane's register of up to 16 bytes: a 1 for each bit that was never written.
struct LaneBits {
  uint64_t low = 0, high = 0;
};
LaneBits unknown_of(Context& context, uint32_t row, int lane, size_t bytes);
// Says what is unknown of a lane's register of `bytes` bytes, nothing included.
void set_unknown(Context& context, uint32_t row, int lane, size_t bytes, LaneBits unknown,
                 const machine::Origin& from);
// Where the bits that a lane's register lacks should have come from.
machine::Origin origin_of(Context& context, uint32_t row, int lane);
// ": bytes 2 to 3 of the 4 that PTX line 12 loaded from 'x' + 16 were never written", or empty.
std::string describe(const Context& context, const machine::Origin& from);

// "; the copy of PTX line 30 is still to write there", with the mbarrier that it completes on
// (shared::cluster address, and 1; 0: none) and whether its phase ended too soon.
std::string under_way(Cluster& cluster, int copy_line, uint64_t barrier);

}  // namespace bitwell::isa
