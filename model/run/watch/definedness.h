// Values that were never written, followed bit by bit through what moves bits about, so that only a bit that
// matters is reported, with the place where it should have come from.
#pragma once
#include <string>

#include "model/isa/form/op.h"
#include "model/run/context.h"

namespace bitwell::run {

// Runs a lane loop of which some lanes of `mask` have operands that are not whole, and says what is known of
// its results.
void run_unknown(const isa::Op& op, Context& context, uint32_t mask);

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

// "; the copy of PTX line 30 (ring.cuh:12) is still to write there", of a shared::cluster address, with the
// mbarrier that the copy completes on and whether its phase ended too soon.
std::string under_way(Cluster& cluster, const machine::Agent& copy, uint64_t address);
// Faults where a lane reads bytes of shared memory (shared::cluster address) that a copy under way is still
// to write; to be called where some of them hold nothing.
void keep_reads_off_copies(Context& context, uint64_t address, uint64_t size, int lane);

}  // namespace bitwell::run
