#include "model/run/watch/definedness.h"

#include <cstring>
#include <span>
#include <vector>

#include "model/isa/lanes/tracks.h"
#include "model/run/cluster.h"

namespace bitwell::run {

using machine::kLanes;
using machine::Origin;
using machine::UnknownBits;

namespace {

uint64_t ones(size_t bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1; }

// Up to 16 bytes of a lane. A register has 4 or 8 most often: calls of memcpy would take longer than what is
// followed.
LaneBits load(const std::byte* from, size_t bytes) {
  const auto as = [&](auto word) {
    std::memcpy(&word, from, sizeof word);
    return LaneBits{word, 0};
  };
  switch (bytes) {
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    case 8: return as(uint64_t{});
    default: break;
  }
  LaneBits out;
  std::memcpy(&out, from, bytes);
  return out;
}
void store(std::byte* to, size_t bytes, const LaneBits& bits) {
  const auto as = [&](auto word) {
    word = static_cast<decltype(word)>(bits.low);
    std::memcpy(to, &word, sizeof word);
  };
  switch (bytes) {
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    case 8: return as(uint64_t{});
    default: std::memcpy(to, &bits, bytes);
  }
}

// What is kept of a row of an activation, or nullptr.
const UnknownBits::Row* kept(Context& context, uint32_t row) {
  const UnknownBits* unknown = context.activation().unknown.get();
  return unknown == nullptr ? nullptr : unknown->find(row);
}

std::byte* bits_at(UnknownBits::Row& row, int lane) {
  return row.bits.data() + UnknownBits::kLane * static_cast<size_t>(lane);
}
const std::byte* bits_at(const UnknownBits::Row& row, int lane) {
  return row.bits.data() + UnknownBits::kLane * static_cast<size_t>(lane);
}

// Of a lane that is not whole.
LaneBits bits_of(const UnknownBits::Row* row, int lane, size_t bytes) {
  if (row == nullptr || (row->partial >> lane & 1) == 0) return {ones(bytes), bytes > 8 ? ~uint64_t{0} : 0};
  return load(bits_at(*row, lane), bytes);
}

}  // namespace

LaneBits unknown_of(Context& context, uint32_t row, int lane, size_t bytes) {
  if ((context.defined_at(row) >> lane & 1) != 0) return {};
  return bits_of(kept(context, row), lane, bytes);
}

void set_unknown(Context& context, uint32_t row, int lane, size_t bytes, LaneBits unknown,
                 const Origin& from) {
  const uint32_t bit = 1u << lane;
  if (unknown.low == 0 && unknown.high == 0) {
    context.defined_at(row) |= bit;
    return;
  }
  context.overwritten(row, bit);
  context.defined_at(row) &= ~bit;
  UnknownBits::Row& all = context.activation().unknown_bits().row(row);
  all.partial |= bit;
  store(bits_at(all, lane), bytes, unknown);
  all.origins[static_cast<size_t>(lane)] = from;
}

Origin origin_of(Context& context, uint32_t row, int lane) {
  const UnknownBits::Row* all = kept(context, row);
  return all == nullptr ? Origin{} : all->origins[static_cast<size_t>(lane)];
}

namespace {

// Calls f(lane) for each of `lanes`.
template <class F>
void each(uint32_t lanes, const F& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(__builtin_ctz(lanes));
}

constexpr size_t kSlot = UnknownBits::kLane * kLanes;  // bytes of a row in the scratch memory

// Rows with the unknown bits of an op's data operands and the values of the others: what the op's own lane
// loop makes of them are the unknown bits of its results.
class Moved {
 public:
  Moved(const isa::Op& op, Context& context, uint32_t mask)
      : op_(op), context_(context), mask_(mask), moved_(op) {
    const auto tracks = op.tracks;
    moved_.guard = 0;
    if (tracks == isa::Tracks::packs) {
      for (const uint32_t r : *op.sources) sources_.push_back(data(r));
      moved_.sources = &sources_;
      moved_.d = slot();
    } else {
      moved_.a = data(op.a);
      moved_.b = tracks == isa::Tracks::moves_ab ? data(op.b) : control(op.b);
      moved_.c = control(op.c);
      moved_.e = control(op.e);
      moved_.d = slot();
      if (op.results != nullptr) {
        for (size_t i = 0; i < op.results->size(); ++i) results_.push_back(slot());
        moved_.results = &results_;
      }
    }
    op.lanes(moved_, memory_, mask);
  }
  // Of the i-th result.
  LaneBits result(size_t i, int lane) const {
    const uint32_t at = op_.results != nullptr ? results_[i] : moved_.d;
    const size_t size = op_.result_bytes;
    return load(memory_ + at + size * static_cast<size_t>(lane), size);
  }

 private:
  uint32_t slot() {  // all 0; the others of the memory nobody reads
    std::memset(memory_ + kSlot * used_, 0, kSlot);
    return static_cast<uint32_t>(kSlot * used_++);
  }
  uint32_t data(uint32_t row) {
    const uint32_t to = slot();
    const UnknownBits::Row* from = kept(context_, row);
    const size_t size = op_.source_bytes;
    each(mask_ & ~context_.defined_at(row), [&](int lane) {
      store(memory_ + to + size * static_cast<size_t>(lane), size, bits_of(from, lane, size));
    });
    return to;
  }
  uint32_t control(uint32_t row) {
    const uint32_t to = slot();
    std::memcpy(memory_ + to, context_.rows() + row, machine::kRowBytes);
    return to;
  }

  const isa::Op& op_;
  Context& context_;
  uint32_t mask_;
  isa::Op moved_;
  std::vector<uint32_t> sources_, results_;
  size_t used_ = 0;
  alignas(64) std::byte memory_[12 * kSlot];
};

// An operand of up to 8 bytes: the values of its lanes, and their unknown bits.
class Operand {
 public:
  Operand(Context& context, uint32_t row, size_t bytes)
      : values_(context.rows() + row),
        known_(context.defined_at(row)),
        kept_(kept(context, row)),
        bytes_(bytes) {}
  uint64_t value(int lane) const { return load(values_ + bytes_ * static_cast<size_t>(lane), bytes_).low; }
  uint64_t unknown(int lane) const {
    return (known_ >> lane & 1) != 0 ? 0 : bits_of(kept_, lane, bytes_).low;
  }

 private:
  const std::byte* values_;
  uint32_t known_;
  const UnknownBits::Row* kept_;
  size_t bytes_;
};

// Unknown bits of a logical operation: those that some choice of the unknown operand bits changes.
uint64_t logical(const isa::Op& op, const Operand (&of)[3], int lane) {
  const uint64_t ua = of[0].unknown(lane);
  const uint64_t ub = of[1].unknown(lane);
  const uint64_t a = of[0].value(lane);
  const uint64_t b = of[1].value(lane);
  switch (op.tracks) {
    case isa::Tracks::bit_and: return (ua & (b | ub)) | (ub & (a | ua));
    case isa::Tracks::bit_or: return (ua & (~b | ub)) | (ub & (~a | ua));
    case isa::Tracks::bit_xor: return ua | ub;
    default: break;
  }
  const uint64_t uc = of[2].unknown(lane);
  const uint64_t c = of[2].value(lane);
  uint64_t zeros = 0;  // bits that can become 0
  uint64_t ones = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const uint64_t reached = ((i & 4) != 0 ? a | ua : ~a | ua) & ((i & 2) != 0 ? b | ub : ~b | ub) &
                             ((i & 1) != 0 ? c | uc : ~c | uc);
    ((op.imm >> i & 1) != 0 ? ones : zeros) |= reached;
  }
  return zeros & ones & 0xFFFFFFFF;
}

// Of a sum, difference or product: what the carries out of unknown bits can reach.
uint64_t arithmetic(const isa::Op& op, const Operand (&of)[3], int lane) {
  const uint64_t ua = of[0].unknown(lane);
  const uint64_t ub = of[1].unknown(lane);
  const uint64_t uc = of[2].unknown(lane);
  const uint64_t a = of[0].value(lane);
  const uint64_t b = of[1].value(lane);
  const uint64_t width = ones(op.source_bytes);
  switch (op.tracks) {
    // The least and the greatest operands: a bit in which the two results agree has the same carry in every
    // other.
    case isa::Tracks::adds: return ((((a & ~ua) + (b & ~ub)) ^ ((a | ua) + (b | ub))) | ua | ub) & width;
    case isa::Tracks::subtracts: return ((((a & ~ua) - (b | ub)) ^ ((a | ua) - (b & ~ub))) | ua | ub) & width;
    default: break;
  }
  const uint64_t all = ua | ub | uc;
  return (all | (~all + 1)) & width;
}

// Of dp2a, which takes two of b's bytes: nvcc leaves the others as they are.
uint64_t half_of_b(const isa::Op& op, const Operand (&of)[3], int lane) {
  const bool taken = (of[1].unknown(lane) & op.imm) != 0;
  return of[0].unknown(lane) != 0 || of[2].unknown(lane) != 0 || taken ? 0xFFFFFFFF : 0;
}

// Of two elements: each that has an unknown bit in some operand.
uint64_t by_halves(const isa::Op& op, const Operand (&of)[3], int lane) {
  const uint64_t all = of[0].unknown(lane) | of[1].unknown(lane) | of[2].unknown(lane);
  const uint64_t low = ones(op.source_bytes / 2u);
  const uint64_t high = low << 4 * op.source_bytes;
  return ((all & low) != 0 ? low : 0) | ((all & high) != 0 ? high : 0);
}

// Lanes of a combination of predicates that do not hang on an operand that was never written.
uint32_t known_predicates(const isa::Op& op, Context& context) {
  const uint32_t a = context.defined_at(op.a);
  const uint32_t b = context.defined_at(op.b);
  const uint32_t value_a = *context.row<uint32_t>(op.a);
  const uint32_t value_b = *context.row<uint32_t>(op.b);
  if (op.tracks == isa::Tracks::predicate_and) return (a & b) | (a & ~value_a) | (b & ~value_b);
  return (a & b) | (a & value_a) | (b & value_b);
}

// Where what the lanes lack comes from: of the first operand of each that is not whole, or the first of those
// that a branch decided about.
void find_origins(const isa::Op& op, Context& context, uint32_t lacking, const Origin* (&out)[kLanes]) {
  static constexpr Origin kNothing;
  uint32_t found = 0;
  const auto take = [&](uint32_t row) {
    const uint32_t lanes = lacking & ~context.defined_at(row);
    if (lanes == 0) return;
    const UnknownBits::Row* from = kept(context, row);
    each(lanes, [&](int lane) {
      const Origin* const origin = from == nullptr ? &kNothing : &from->origins[static_cast<size_t>(lane)];
      if ((found >> lane & 1) == 0 || (origin->decided && !out[lane]->decided)) out[lane] = origin;
    });
    found |= lanes;
  };
  for (const uint32_t row : {op.a, op.b, op.c, op.e}) take(row);
  if (op.sources != nullptr)
    for (const uint32_t row : *op.sources) take(row);
}

// What is unknown of a result, in the lanes that are followed.
struct Result {
  uint32_t row = 0;
  LaneBits unknown[kLanes];
};

std::vector<Result> follow(const isa::Op& op, Context& context, std::span<const uint32_t> rows,
                           uint32_t followed) {
  std::vector<Result> out(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) out[i].row = rows[i];
  if (op.tracks <= isa::Tracks::packs) {
    const Moved moved(op, context, followed);
    for (size_t i = 0; i < out.size(); ++i)
      each(followed, [&](int lane) { out[i].unknown[lane] = moved.result(i, lane); });
    return out;
  }
  const size_t n = op.source_bytes;
  const Operand of[3] = {{context, op.a, n}, {context, op.b, n}, {context, op.c, n}};
  const auto result = op.tracks == isa::Tracks::by_halves                                   ? by_halves
                      : op.tracks == isa::Tracks::half_of_b                                 ? half_of_b
                      : op.tracks >= isa::Tracks::adds && op.tracks <= isa::Tracks::carries ? arithmetic
                                                                                            : logical;
  each(followed, [&](int lane) { out[0].unknown[lane].low = result(op, of, lane); });
  return out;
}

}  // namespace

void run_unknown(const isa::Op& op, Context& context, uint32_t mask) {
  for (const uint32_t row : {op.a, op.b, op.c, op.e}) context.known_at(row, mask);
  if (op.sources != nullptr)
    for (const uint32_t row : *op.sources) context.known_at(row, mask);
  const auto tracks = op.tracks;
  uint32_t whole = context.defined_at(op.a) & context.defined_at(op.b) & context.defined_at(op.c) &
                   context.defined_at(op.e);
  if (op.sources != nullptr)
    for (const uint32_t r : *op.sources) whole &= context.defined_at(r);
  if ((mask & ~whole) == 0) {  // what it lacked a load was to bring
    op.lanes(op, context.rows(), mask);
    for (const uint32_t r : {op.d, op.d2}) context.set_defined(r, mask);
    if (op.results != nullptr)
      for (const uint32_t r : *op.results) context.set_defined(r, mask);
    return;
  }
  if (tracks == isa::Tracks::predicate_and || tracks == isa::Tracks::predicate_or)
    whole = known_predicates(op, context);
  const std::span<const uint32_t> rows =
      op.results != nullptr ? std::span<const uint32_t>(*op.results) : std::span(&op.d, 1);
  // All of it is found before the op runs: a destination may be a source.
  const uint32_t lacking = mask & ~whole;
  const Origin* origins[kLanes];  // a lane's stays as it is: what is written over it is the same
  find_origins(op, context, lacking, origins);
  // Shift counts, selectors and the like must be whole for the bits to be followed.
  uint32_t followed = 0;
  if (tracks == isa::Tracks::moves_a) followed = context.defined_at(op.b);
  if (tracks == isa::Tracks::moves_a || tracks == isa::Tracks::moves_ab)
    followed = (tracks == isa::Tracks::moves_a ? followed : ~0u) & context.defined_at(op.c) &
               context.defined_at(op.e);
  if (tracks >= isa::Tracks::packs && tracks <= isa::Tracks::carries) followed = ~0u;
  if (tracks == isa::Tracks::half_of_b || tracks == isa::Tracks::by_halves) followed = ~0u;
  followed &= lacking;
  std::vector<Result> results;
  if (followed != 0) results = follow(op, context, rows, followed);
  op.lanes(op, context.rows(), mask);
  UnknownBits& all = context.activation().unknown_bits();
  const auto forget = [&](uint32_t row) {
    if (row == isa::kSink) return;
    context.defined_at(row) |= mask & whole;
    context.overwritten(row, lacking);
    context.defined_at(row) &= ~lacking;
    UnknownBits::Row& kept = all.row(row);
    kept.partial &= ~lacking;
    each(lacking, [&](int lane) {
      Origin& to = kept.origins[static_cast<size_t>(lane)];
      if (&to != origins[lane]) to = *origins[lane];
    });
  };
  for (const uint32_t r : rows) forget(r);
  forget(op.d2);
  if (op.results != nullptr) forget(op.d);
  for (const Result& r : results) {
    if (r.row == isa::kSink) continue;
    UnknownBits::Row& kept = all.row(r.row);
    each(followed, [&](int lane) {
      const LaneBits& unknown = r.unknown[lane];
      if (unknown.low == 0 && unknown.high == 0) {
        context.defined_at(r.row) |= 1u << lane;
      } else {
        kept.partial |= 1u << lane;
        store(bits_at(kept, lane), op.result_bytes, unknown);
      }
    });
  }
}

}  // namespace bitwell::run
