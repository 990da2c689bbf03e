// The effects that the forms refer to: everything that touches more than rows.
#pragma once
#include "model/isa/op.h"

namespace bitwell::isa {

// Flags of a memory op.
inline constexpr uint16_t kSpaceMask = 7;      // Space
inline constexpr uint16_t kNarrowAddress = 8;  // the address row has 32-bit lanes
inline constexpr uint16_t kSigned = 16;        // loads extend by sign
inline constexpr uint16_t kRegisterShift = 5;  // log2 of the register's bytes, two bits and one
inline constexpr uint16_t kRegisterMask = 7 << kRegisterShift;

void isspacep_lanes(const Op& op, std::byte* rows, uint32_t mask);

Next load(const Op& op, Context& context, uint32_t mask);
Next store(const Op& op, Context& context, uint32_t mask);

// Read-modify-write of one element a lane, lanes in order. target: AtomicOperation | ElementType << 8.
enum class AtomicOperation : uint8_t { band, bor, bxor, exch, cas, add, inc, dec, min, max };
enum class ElementType : uint8_t { u32, s32, u64, s64, f32, f64, f16, f16x2, bf16, bf16x2, b16, b128 };
Next atomic(const Op& op, Context& context, uint32_t mask);

Next nothing(const Op& op, Context& context,
             uint32_t mask);  // fences and hints: no effect that this machine can show

Next leave_function(const Op& op, Context& context, uint32_t mask);  // ret
Next leave_thread(const Op& op, Context& context, uint32_t mask);    // exit
Next trap(const Op& op, Context& context, uint32_t mask);
Next branch_indexed(const Op& op, Context& context, uint32_t mask);
Next call(const Op& op, Context& context, uint32_t mask);  // imm: CallSite*

// Barriers: a the barrier number, b the count of threads (kZero: all). imm: BarrierKind; results as the kind
// says.
enum class BarrierKind : uint8_t { sync, arrive, red_popc, red_and, red_or };
inline constexpr uint64_t kAligned = 256;
inline constexpr uint64_t kNegated = 512;   // the predicate of bar.red
inline constexpr uint64_t kCounted = 1024;  // a count is given
Next barrier(const Op& op, Context& context, uint32_t mask);
Next warp_barrier(const Op& op, Context& context, uint32_t mask);

// Warp collectives; op.e holds the member mask.
enum class ShuffleMode : uint8_t { up, down, bfly, idx };
Next shuffle(const Op& op, Context& context, uint32_t mask);
enum class VoteMode : uint8_t { all, any, uni, ballot };
Next vote(const Op& op, Context& context, uint32_t mask);
Next match_lanes(const Op& op, Context& context, uint32_t mask);  // imm: 1 all, 0 any; size: bytes
Next reduce(const Op& op, Context& context, uint32_t mask);       // imm: AtomicOperation | signed << 8
Next active_mask(const Op& op, Context& context, uint32_t mask);
Next elect(const Op& op, Context& context, uint32_t mask);

// For .aligned instructions: whether all threads of the warp are here. If not, the split waits for them;
// Fault if they cannot come: a guard that differs between threads, or a warp that is not full.
bool whole_warp(Context& context, uint32_t mask);

Next mma_sync(const Op& op, Context& context, uint32_t mask);  // imm: Mma*; sources A, B, C

Next wgmma_fence(const Op& op, Context& context, uint32_t mask);
// imm: Mma*; results D; sources A's registers, or a its descriptor; b B's descriptor, c scale-d.
inline constexpr uint16_t kNegatedScale = 1;
Next wgmma_mma(const Op& op, Context& context, uint32_t mask);
Next wgmma_commit(const Op& op, Context& context, uint32_t mask);
Next wgmma_wait(const Op& op, Context& context, uint32_t mask);  // imm: groups that may be pending

}  // namespace bitwell::isa
