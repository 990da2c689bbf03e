// Every order of summation that the studies know: the GEMV kernels', generic ones, and tensor cores'.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/study/family.h"
#include "model/number/accumulation.h"
#include "model/number/dot.h"

namespace bitwell::study {

struct Order {
  std::string_view name;
  std::string_view about;
  number::Accumulation sum{};             // where there is no rule
  const number::DotRule* rule = nullptr;  // block-scaled, or of fp16 operands a * sfa and b * sfb, exact
  int cost = 0;                           // rank: fp16x2 is cheapest, then fp32, as instructions a product

  bool block_scaled() const { return rule != nullptr && rule->scale != nullptr; }
};
std::span<const Order> orders();
// Throws machine::InputError naming those that there are.
const Order& find_order(std::string_view name);

// Columns of B made ready for any order.
class Columns {
 public:
  explicit Columns(const Vectors& b);
  ~Columns();
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  size_t count() const { return count_; }

 private:
  friend std::vector<uint16_t> results(const Order&, const Vectors&, const Columns&);
  friend std::vector<float> sums_f32(const Order&, const Vectors&, const Columns&);
  struct Prepared;
  size_t count_;
  std::unique_ptr<Prepared> prepared_;
};
// [row of a][column]: the fp16 codes of all dot products.
std::vector<uint16_t> results(const Order& order, const Vectors& a, const Columns& b);

// The same of a tensor core's order, before the result is rounded to fp16.
std::vector<float> sums_f32(const Order& order, const Vectors& a, const Columns& b);

// First-order error bounds of a dot product of k elements, as multiples of A = sum |a b|, rounding of the
// fp16 result included; sums that overflow and what underflow adds (at most 2^-25 an fp16 rounding) are left
// out.
struct Bound {
  double worst = 0;  // deterministic
  double probable =
      0;  // holds but for one dot product in a thousand, were roundings independent with mean zero
  double f16_roundings = 0;
};
// Higham, Accuracy and Stability 2002, (3.5), with gamma_n of the path through the order that rounds most;
// Blanchard, Higham and Mary, SISC 42(3) 2020, for blocks; Higham and Mary, SISC 41(5) 2019, for the probable
// one. Tensor cores by the rule of number/dot.h, to first order and without subnormal operands: every L
// products and their addend are cut off F bits below the largest exponent, and their sum 23 bits below its
// own, ((k + k / L) 2^-F + k / L 2^-23) A; block-scaled, five terms in place of 64 products and F = 35.
Bound bound(const Order& order, size_t k);

}  // namespace bitwell::study
