// What holds of every NVFP4 GEMM for Blackwell, whichever suite it is of.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <variant>

#include "model/run/launch.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"

namespace bitwell::suite {

// Counts how often each byte of global memory is written.
struct Writes {
  std::map<uint64_t, int> times;
  run::Options options() {
    run::Options out;
    out.observers.push_back({[this](const machine::Event& e) {
                               const auto* access = std::get_if<machine::Access>(&e.what);
                               if (access == nullptr || access->kind == machine::AccessKind::read) return;
                               const uint32_t lanes = access->operation != 0 ? 1 : access->lanes;
                               for (size_t i = 0; i < access->addresses.size(); ++i)
                                 if ((lanes >> i & 1) != 0 && access->addresses[i] >= machine::kBuffers)
                                   for (uint64_t b = 0; b < access->bytes; ++b)
                                     ++times[access->addresses[i] + b];
                             },
                             true});
    return out;
  }
  // Of `bytes` that lie together, every one once, and nothing else.
  std::string complaint(size_t bytes) const {
    if (times.size() != bytes)
      return std::to_string(times.size()) + " bytes written, of " + std::to_string(bytes);
    if (times.rbegin()->first - times.begin()->first + 1 != bytes) return "bytes written elsewhere";
    for (const auto& [address, count] : times)
      if (count != 1)
        return "byte " + std::to_string(address - times.begin()->first) + " written " +
               std::to_string(count) + " times";
    return "";
  }
};

inline double value_of(uint8_t code) {
  static constexpr double kValues[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code < 8 ? kValues[code] : -kValues[code - 8];
}
inline double scale_of(uint8_t code) {
  const int field = code >> 3 & 15;
  return std::ldexp(field == 0 ? code & 7 : 8 + (code & 7), (field == 0 ? 1 : field) - 10);
}

// What a sum may be off by. A step of 64 adds its addend and four groups, each cut below 2^-35 of the largest
// exponent, and cuts the total to 24 bits; partial sums are at most the sum T of all magnitudes, exponents at
// most those of T or of the largest pair of scales. Parts of k are added to nearest.
inline double nvfp4_bound(const Nvfp4Operand::Row& a, const Nvfp4Operand::Row& b, int split) {
  double total = 0, largest = 0;
  for (size_t k = 0; k < a.codes.size(); ++k) {
    const double sa = std::max(scale_of(a.scales[k / 16] & 0x7F), 0x1p-6);
    const double sb = std::max(scale_of(b.scales[k / 16] & 0x7F), 0x1p-6);
    total += std::fabs(value_of(a.codes[k]) * value_of(b.codes[k])) * sa * sb;
    largest = std::max(largest, sa * sb);
  }
  const auto steps = static_cast<double>((a.codes.size() + 63) / 64);
  return steps * (5 * 0x1p-35 * (largest + total) + 0x1p-23 * total) + split * 0x1p-24 * total;
}

}  // namespace bitwell::suite
