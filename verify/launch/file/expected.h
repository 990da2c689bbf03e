// An output beside what it should be.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/launch/file/product.h"

namespace bitwell::launch {

struct Output;

// How far an element may be off. Nothing said: it is the same number, with the same sign where it is 0.
struct Tolerance {
  std::optional<uint64_t> ulp;  // units in the last place of the output's type; of integers: the difference
  double rtol = 0, atol = 0;    // |got - want| <= atol + rtol * |want|
  bool nan_bits = false;        // a NaN is right only with the bits of the one that is expected
};

struct Expected {
  std::vector<long double> numbers;  // one for each element, in C order
  std::vector<std::byte> codes;      // their bits, in the output's type, where nan_bits asks for them
  Tolerance tolerance;
  std::optional<Product> product;  // that the output is
};

struct Comparison {
  uint64_t elements = 0;
  uint64_t wrong = 0;  // outside the tolerance; a NaN is right where any is expected, if not nan_bits
  uint64_t first = 0;  // of them
  long double got = 0, want = 0;                      // there
  std::optional<std::pair<uint64_t, uint64_t>> nans;  // the bits of both, where both are NaN
  // Elements that are not the expected number rounded to the output's type, by how many units in the last
  // place, of integers by how much, they are off: from 2^i to less than 2^(i+1); -1: one of the two is no
  // finite number.
  std::map<int, uint64_t> by_error;
  uint64_t rounded = 0;  // that are the expected number rounded, which the type does not hold
  // Of those in by_error: off by less than the last place of the largest expected number. Near 0 units in the
  // last place are small, and say nothing.
  uint64_t negligible = 0;
  // The largest errors of finite elements, each with its element. `share`: of what the tolerance allows
  // there; infinite where it allows nothing.
  struct Largest {
    long double error = 0;
    uint64_t element = 0;
  };
  std::optional<Largest> absolute, relative, share;
  bool integers = false;
  std::string pattern;                    // where the wrong ones are, as far as that is a rule; or empty
  std::optional<WrongProducts> products;  // of a product: what has become of a piece of k in the wrong ones
};

// `bytes` hold the output; it has an `expected`.
Comparison compare(const std::vector<std::byte>& bytes, const Output& output);

// Of an element by its number in C order: {3, 5}, and "[3, 5]".
std::vector<uint64_t> coordinates(const std::vector<uint64_t>& shape, uint64_t element);
std::string coordinates_text(const std::vector<uint64_t>& shape, uint64_t element);

}  // namespace bitwell::launch
