// The effects that the forms refer to: everything that touches more than rows.
#pragma once
#include "model/isa/atomic_update.h"
#include "model/isa/op.h"

namespace bitwell::isa {

// Flags of a memory op.
inline constexpr uint16_t kSpaceMask = 7;      // Space
inline constexpr uint16_t kNarrowAddress = 8;  // the address row has 32-bit lanes
inline constexpr uint16_t kSigned = 16;        // loads extend by sign
inline constexpr uint16_t kRegisterShift = 5;  // log2 of the register's bytes, two bits and one
inline constexpr uint16_t kRegisterMask = 7 << kRegisterShift;

void isspacep_lanes(const Op& op, std::byte* rows, uint32_t mask);
Next is_own_shared(const Op& op, Context& context, uint32_t mask);  // isspacep.shared::cta

Next load(const Op& op, Context& context, uint32_t mask);
Next store(const Op& op, Context& context, uint32_t mask);

// Read-modify-write of one element a lane, lanes in order. target: AtomicOperation | ElementType << 8.
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

// imm: the address's offset; target: MbarrierAction; b and c as the action says; d or predicate d.
enum class MbarrierAction : uint8_t {
  init,                // b count
  inval,               //
  expect,              // b bytes
  complete,            // b bytes
  arrive,              // b count; d state
  arrive_expect,       // b bytes; d state
  drop,                // b count; d state
  drop_expect,         // b bytes; d state
  arrive_no_complete,  // b count; d state
  drop_no_complete,    // b count; d state
  test_state,          // b state; predicate d
  test_parity,         // b parity; predicate d
  try_state,           // the same, and may wait
  try_parity
};
Next mbarrier(const Op& op, Context& context, uint32_t mask);

Next map_address(const Op& op, Context& context, uint32_t mask);  // imm 1: generic; size: bytes of an address
Next address_rank(const Op& op, Context& context, uint32_t mask);    // the same
Next cluster_arrive(const Op& op, Context& context, uint32_t mask);  // imm 1: .aligned
Next cluster_wait(const Op& op, Context& context, uint32_t mask);
Next set_max_registers(const Op& op, Context& context, uint32_t mask);  // setmaxnreg; imm: the count
void check_register_counts(Context& context);  // faults where a warp ends without its warpgroup's setmaxnreg
void pending_count_lanes(const Op& op, std::byte* rows, uint32_t mask);

// imm: Transfer*, whose operands are rows of sources.
Next bulk_copy(const Op& op, Context& context, uint32_t mask);
// cp.async: the same; size: bytes; Transfer::mask the bytes to read or (flags 1) the predicate that ignores
// the source.
Next async_copy(const Op& op, Context& context, uint32_t mask);
inline constexpr uint16_t kBulkGroups = 1;
inline constexpr uint16_t kReadOnly = 2;
inline constexpr uint16_t kEveryCopy = 4;
Next copy_commit(const Op& op, Context& context, uint32_t mask);  // flags: kBulkGroups
// imm: groups that may be pending; flags: kBulkGroups, kReadOnly, kEveryCopy
Next copy_wait(const Op& op, Context& context, uint32_t mask);
// cp.async.mbarrier.arrive: a memory op's address; target 1: .noinc
Next copy_arrive(const Op& op, Context& context, uint32_t mask);
// imm: Transfer*; target: TensorMapField | ordinal << 8; size: bytes of the value, whose source is
// Transfer::size.
Next replace_tensor_map(const Op& op, Context& context, uint32_t mask);
Next copy_tensor_map(const Op& op, Context& context, uint32_t mask);
// st.async and red.async: imm Transfer*
Next remote_store(const Op& op, Context& context, uint32_t mask);

// ldmatrix and stmatrix: a memory op's address; count matrices of 8 x 8 16-bit elements; results or sources;
// target 1: transposed
Next load_matrix(const Op& op, Context& context, uint32_t mask);
Next store_matrix(const Op& op, Context& context, uint32_t mask);

Next mma_sync(const Op& op, Context& context, uint32_t mask);  // imm: Mma*; sources A, B, C

Next wgmma_fence(const Op& op, Context& context, uint32_t mask);
// imm: Mma*; results D; sources A's registers, or a its descriptor; b B's descriptor, c scale-d.
inline constexpr uint16_t kNegatedScale = 1;
Next wgmma_mma(const Op& op, Context& context, uint32_t mask);
Next wgmma_commit(const Op& op, Context& context, uint32_t mask);
Next wgmma_wait(const Op& op, Context& context, uint32_t mask);  // imm: groups that may be pending

}  // namespace bitwell::isa
