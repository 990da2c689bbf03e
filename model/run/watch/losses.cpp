#include "model/run/watch/losses.h"

#include <algorithm>
#include <cmath>

namespace bitwell::run {
namespace {

// A host thread runs one cluster at a time. Not in what an instruction gets: matrix products of three
// families count, and know of no cluster.
thread_local LossesApart* lost_apart = nullptr;

void join(Loss& to, const Loss& loss) {
  const uint64_t count = to.count + loss.count;
  const int bits = std::max(to.bits, loss.bits);
  if (to.count == 0) to = loss;
  to.count = count;
  to.bits = bits;
}

}  // namespace

LossesApart::Here::Here(LossesApart& all) { lost_apart = &all; }
LossesApart::Here::~Here() { lost_apart = nullptr; }

Losses& LossesApart::of(Losses& launch) { return lost_apart == nullptr ? launch : lost_apart->all_[&launch]; }

void LossesApart::add() const {
  for (const auto& [to, seen] : all_) {
    to->results += seen.results;
    join(to->overflowed, seen.overflowed);
    join(to->absorbed, seen.absorbed);
    join(to->shortened, seen.shortened);
  }
}

int lost_bits(float one, float other, float result, bool brain) {
  const float smaller = std::fabs(one) < std::fabs(other) ? one : other;
  if (smaller == 0 || !std::isfinite(smaller)) return 0;
  const int fraction = brain ? 7 : 10;
  const int least = brain ? -126 : -14;  // exponent of a normal number
  const int place = std::max(result == 0 ? least : std::ilogb(result), least) - fraction;
  const int highest = std::ilogb(smaller);
  constexpr int kWide = 24;  // bits of an fp32 significand
  const auto significand = static_cast<uint32_t>(std::fabs(std::ldexp(smaller, kWide - 1 - highest)));
  const int lowest = highest - (kWide - 1) + __builtin_ctz(significand);
  return std::max(std::min(place, highest + 1) - lowest, 0);
}

}  // namespace bitwell::run
