// How a kernel sums a block-scaled dot product: as data, and evaluated directly.
// The sum is over k of (a[k] * sfa[k / 16]) * (b[k] * sfb[k / 16]), a and b E2M1, scales E4M3, the result
// fp16.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace bitwell::number {

// How one group of 16 (or, for `bytes`, one pair) becomes a value, before or with its scales.
enum class GroupSum {
  scaled_products_f32,       // sum += (a * sfa) * (b * sfb), element by element, fp32
  products_times_scale_f32,  // sum += fp16(a * b) * (sfa * sfb), element by element, fp32
  fma_chain_f32,             // fp32 fma chain of 16, then one fma with the fp32 scale product
  two_chains_f16x2,  // eight at a time: (0,1),(2,3) and (4,5),(6,7) packed mul + fma, packed add, halves in
                     // fp32
  one_chain_f16x2,   // 16 in one packed chain of mul + 7 fma, halves in fp32
  running_f16x2,     // the running packed pair: fma(fp16(a * b), fp16(sfa * sfb), pair)
  running_f16        // one running fp16: fma(fp16(a * b), fp16(sfa * sfb), sum), low element first
};

// How a group's fp32 value meets the running sum.
enum class Join {
  none,          // the group sum is the running sum
  multiply_add,  // sum + value * scale, two roundings
  fused,         // fma(value, scale, sum)
  gathered       // the tile's groups: value0 * scale0, then fma; then fma(gathered, 1, sum)
};

// How the threads' sums become one.
enum class Combine {
  none,
  shuffle_down,  // lane i adds lane i + n / 2, n / 4, ...
  butterfly,     // every lane adds lane i ^ n / 2, ...
  sequential     // 0 + s0 + s1 + ...
};

struct Accumulation {
  std::string_view name = {};
  int threads = 1;  // that share one dot product; 0: one a tile, up to a power of two (a tree over tiles)
  int tile = 64;    // elements a thread takes at a time; thread t takes tiles t, t + threads, ...
  GroupSum group = GroupSum::scaled_products_f32;
  Join join = Join::none;
  int accumulators =
      1;  // 2: tiles alternate between two sums while both exist; the odd last goes to the first
  bool drain_each_tile = false;  // running_f16(x2): the fp16 sum goes to an outer sum after each tile, ...
  bool drain_f16 = false;        // ... which is fp16 instead of fp32
  Combine combine = Combine::none;
  bool combine_f16 = false;  // in fp16 instead of fp32
  int span =
      0;  // elements whose threads' sums are combined at a time, the results added in order, fp32; 0: all
};

// Codes of one dot product; a and b hold one code a byte, size a multiple of 16; scales one a group.
struct DotOperands {
  std::span<const uint8_t> a, b;
  std::span<const uint8_t> sfa, sfb;
};

// The threads that `order` has for k elements.
size_t threads_of(const Accumulation& order, size_t k);

// Where a sum first went wrong in fp16: by overflow, by an addend of which nothing was left (not zero, but
// the sum stayed), or by the rounding of two sums that were added to each other.
struct FirstLoss {
  bool found = false;
  bool overflow = false;
  bool of_sums = false;  // sum and addend are both sums, `after` what they became; no element
  size_t element = 0;    // of k, the addend's
  int thread = 0;
  float sum = 0, addend = 0, after = 0;
};

// The fp16 code of the sum. Every operation is IEEE, round to nearest even.
// `loss`, if given, gets the first loss.
uint16_t evaluate(const Accumulation& order, const DotOperands& operands, FirstLoss* loss = nullptr);

}  // namespace bitwell::number
