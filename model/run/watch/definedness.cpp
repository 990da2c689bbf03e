#include "model/run/watch/definedness.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "model/run/cluster.h"

namespace bitwell::run {

using machine::kLanes;
using machine::Origin;
using machine::UnknownBits;

LaneBits unknown_of(Context& context, uint32_t row, int lane, size_t bytes) {
  LaneBits out;
  if ((context.defined_at(row) >> lane & 1) != 0) return out;
  UnknownBits* unknown = context.activation().unknown.get();
  if (unknown == nullptr || (unknown->partial(row) >> lane & 1) == 0) {
    out.low = bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
    out.high = bytes > 8 ? ~uint64_t{0} : 0;
    return out;
  }
  std::memcpy(&out, unknown->bits(row, lane), bytes);
  return out;
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
  UnknownBits& all = context.activation().unknown_bits();
  all.partial(row) |= bit;
  std::memcpy(all.bits(row, lane), &unknown, bytes);
  all.origin(row, lane) = from;
}

Origin origin_of(Context& context, uint32_t row, int lane) {
  UnknownBits* unknown = context.activation().unknown.get();
  return unknown == nullptr ? Origin{} : unknown->origin(row, lane);
}

namespace {

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
    LaneBits out;
    const uint32_t at = op_.results != nullptr ? results_[i] : moved_.d;
    std::memcpy(&out, memory_ + at + static_cast<size_t>(op_.result_bytes) * static_cast<size_t>(lane),
                op_.result_bytes);
    return out;
  }

 private:
  uint32_t slot() { return static_cast<uint32_t>(kSlot * used_++); }
  uint32_t data(uint32_t row) {
    const uint32_t to = slot();
    for (uint32_t lanes = mask_; lanes != 0; lanes &= lanes - 1) {
      const int lane = __builtin_ctz(lanes);
      const LaneBits bits = unknown_of(context_, row, lane, op_.source_bytes);
      std::memcpy(memory_ + to + static_cast<size_t>(op_.source_bytes) * static_cast<size_t>(lane), &bits,
                  op_.source_bytes);
    }
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
  alignas(64) std::byte memory_[12 * kSlot] = {};
};

uint64_t value(Context& context, uint32_t row, int lane, size_t bytes) {
  uint64_t v = 0;
  std::memcpy(&v, context.rows() + row + bytes * static_cast<size_t>(lane), bytes);
  return v;
}

// Unknown bits of a logical operation: those that some choice of the unknown operand bits changes.
uint64_t logical(const isa::Op& op, Context& context, int lane) {
  const size_t n = op.source_bytes;
  const uint64_t ua = unknown_of(context, op.a, lane, n).low;
  const uint64_t ub = unknown_of(context, op.b, lane, n).low;
  const uint64_t a = value(context, op.a, lane, n);
  const uint64_t b = value(context, op.b, lane, n);
  switch (op.tracks) {
    case isa::Tracks::bit_and: return (ua & (b | ub)) | (ub & (a | ua));
    case isa::Tracks::bit_or: return (ua & (~b | ub)) | (ub & (~a | ua));
    case isa::Tracks::bit_xor: return ua | ub;
    default: break;
  }
  const uint64_t uc = unknown_of(context, op.c, lane, n).low;
  const uint64_t c = value(context, op.c, lane, n);
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
uint64_t arithmetic(const isa::Op& op, Context& context, int lane) {
  const size_t n = op.source_bytes;
  const uint64_t ua = unknown_of(context, op.a, lane, n).low;
  const uint64_t ub = unknown_of(context, op.b, lane, n).low;
  const uint64_t uc = unknown_of(context, op.c, lane, n).low;
  const uint64_t a = value(context, op.a, lane, n);
  const uint64_t b = value(context, op.b, lane, n);
  const uint64_t width = n == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * n) - 1;
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

// Lanes of a combination of predicates that do not hang on an operand that was never written.
uint32_t known_predicates(const isa::Op& op, Context& context) {
  const uint32_t a = context.defined_at(op.a);
  const uint32_t b = context.defined_at(op.b);
  const uint32_t value_a = *context.row<uint32_t>(op.a);
  const uint32_t value_b = *context.row<uint32_t>(op.b);
  if (op.tracks == isa::Tracks::predicate_and) return (a & b) | (a & ~value_a) | (b & ~value_b);
  return (a & b) | (a & value_a) | (b & value_b);
}

// Where the first operand of the lane that is not whole comes from.
Origin first_origin(const isa::Op& op, Context& context, int lane) {
  const auto lacks = [&](uint32_t row) { return (context.defined_at(row) >> lane & 1) == 0; };
  for (const uint32_t row : {op.a, op.b, op.c, op.e})
    if (lacks(row)) return origin_of(context, row, lane);
  if (op.sources != nullptr)
    for (const uint32_t row : *op.sources)
      if (lacks(row)) return origin_of(context, row, lane);
  return {};
}

}  // namespace

void run_unknown(const isa::Op& op, Context& context, uint32_t mask) {
  struct Result {
    uint32_t row;
    LaneBits unknown[kLanes];
  };
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
  std::vector<uint32_t> rows;
  if (op.results != nullptr)
    rows = *op.results;
  else
    rows = {op.d};
  // All of it is found before the op runs: a destination may be a source.
  std::vector<Result> results;
  Origin origins[kLanes];
  const uint32_t lacking = mask & ~whole;
  for (uint32_t lanes = lacking; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    origins[lane] = first_origin(op, context, lane);
  }
  // Shift counts, selectors and the like must be whole for the bits to be followed.
  uint32_t followed = 0;
  if (tracks == isa::Tracks::moves_a) followed = context.defined_at(op.b);
  if (tracks == isa::Tracks::moves_a || tracks == isa::Tracks::moves_ab)
    followed = (tracks == isa::Tracks::moves_a ? followed : ~0u) & context.defined_at(op.c) &
               context.defined_at(op.e);
  if (tracks >= isa::Tracks::packs && tracks <= isa::Tracks::carries) followed = ~0u;
  followed &= lacking;
  if (followed != 0) {
    for (const uint32_t r : rows) results.push_back({r, {}});
    if (tracks <= isa::Tracks::packs) {
      const Moved moved(op, context, followed);
      for (size_t i = 0; i < results.size(); ++i)
        for (uint32_t lanes = followed; lanes != 0; lanes &= lanes - 1)
          results[i].unknown[__builtin_ctz(lanes)] = moved.result(i, __builtin_ctz(lanes));
    } else {
      for (uint32_t lanes = followed; lanes != 0; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        uint64_t& unknown = results[0].unknown[lane].low;
        if (tracks >= isa::Tracks::adds && tracks <= isa::Tracks::carries) {
          unknown = arithmetic(op, context, lane);
        } else {
          unknown = logical(op, context, lane);
        }
      }
    }
  }
  op.lanes(op, context.rows(), mask);
  machine::Activation& activation = context.activation();
  rows.push_back(op.d2);
  if (op.results != nullptr) rows.push_back(op.d);
  for (const uint32_t r : rows) {
    context.defined_at(r) |= mask & whole;
    context.overwritten(r, lacking);
    for (uint32_t lanes = lacking; lanes != 0; lanes &= lanes - 1)
      activation.forget(r, lanes & (~lanes + 1), origins[__builtin_ctz(lanes)]);
  }
  for (const Result& r : results)
    for (uint32_t lanes = followed; lanes != 0; lanes &= lanes - 1) {
      const int lane = __builtin_ctz(lanes);
      set_unknown(context, r.row, lane, op.result_bytes, r.unknown[lane], origins[lane]);
    }
  context.defined_at(isa::kSink) = ~0u;
}

}  // namespace bitwell::run
