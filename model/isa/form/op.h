// One decoded instruction, as the run loop sees it.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bitwell::run {
class Context;
}

namespace bitwell::isa {

struct Op;

// Lane arithmetic: reads and writes rows only. `mask` is not empty.
using Lanes = void (*)(const Op& op, std::byte* rows, uint32_t mask);

// What an effect leaves to do.
enum class Next {
  advance,  // to the next op
  moved,    // the splits changed or the pc was set
  wait      // not executed: the split waits and tries again
};
using Effect = Next (*)(const Op& op, run::Context& context, uint32_t mask);

enum class OpKind : uint8_t {
  lanes,       // arithmetic on rows
  effect,      // anything that touches more than rows
  call,        // an effect that enters a function
  collective,  // an effect for which threads of a warp meet: shfl, vote, ...
  barrier,     // bar and barrier
  branch,      // bra: to `target` where the guard holds
  jump,        // our own, to join blocks after reordering; not counted as an instruction
  leave,       // ret, exit, trap: an effect after which no lane falls through
  table        // brx.idx: an effect that goes to one of `targets`
};
// Whether the next op follows, where the op does not jump.
constexpr bool falls_through(OpKind k) { return k <= OpKind::barrier; }

// Rows are named by byte offset into the activation's rows. Row 0 takes writes to `_`; row 1 is a defined
// zero that stands for operands an op does not have.
inline constexpr uint32_t kSink = 0;
inline constexpr uint32_t kZero = 128;

// How the bits of lane arithmetic's result hang on bits that were never written
// (model/run/watch/definedness.h).
enum class Tracks : uint16_t {
  whole,          // any unknown bit makes all of the result unknown
  moves_a,        // the bits of a go elsewhere, by whole values of the other operands
  moves_ab,       // those of a and b
  packs,          // those of the sources
  bit_and,        //
  bit_or,         //
  bit_xor,        //
  lop3,           //
  adds,           // a bit depends on those not above it, and on the carry that they can make
  subtracts,      //
  carries,        // a bit depends on those not above it
  predicate_and,  // and.pred: false and anything is false
  predicate_or,   //
  half_of_b,      // a and c as `whole`; of b the bits in imm
  by_halves       // of two elements a lane, each as `whole` of those in its place
};

// What an effect wants to know beside its rows: each family of instructions has types of its own.
struct Payload {
  Payload() = default;
  Payload(const Payload&) = default;
  Payload& operator=(const Payload&) = default;
  virtual ~Payload() = default;
};

struct Op {
  OpKind kind = OpKind::lanes;
  bool guard_negated = false;
  Tracks tracks = Tracks::whole;  // of lane arithmetic
  uint16_t source_bytes = 0;      // where bits are tracked: of a lane of the operands
  uint16_t result_bytes = 0;      // and of the result
  uint32_t guard = 0;             // predicate row, 0: none
  uint32_t d = kSink;
  uint32_t d2 = kSink;
  uint32_t a = kZero;
  uint32_t b = kZero;
  uint32_t c = kZero;
  uint32_t e = kZero;
  uint32_t target = 0;  // branch, jump: pc
  uint64_t imm = 0;     // of lane arithmetic: a mode, a look-up table
  Lanes lanes = nullptr;
  Effect effect = nullptr;
  const Payload* payload = nullptr;          // of an effect
  std::vector<uint32_t>* results = nullptr;  // rows of a vector destination
  std::vector<uint32_t>* sources = nullptr;  // rows of a vector source
  std::vector<uint32_t>* targets = nullptr;  // table: pcs
  int line = 0;                              // index of the instruction in the function's debug table

  // The payload, which is a T: the effect and the check that made the op belong to one family.
  template <class T>
  const T& as() const {
    return static_cast<const T&>(*payload);
  }
};

}  // namespace bitwell::isa
