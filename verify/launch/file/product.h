// Which products an output that is a matrix product lacks, or has twice, or has of other places of k.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/launch/file/npy.h"

namespace bitwell::launch {

// One factor as it stands before the launch.
struct Factor {
  Array array;         // its numbers; codes where there is a format
  std::string format;  // as packed() leaves them, or empty
};

// The output is alpha times A (m x k) times B, and what depends on neither of them.
struct Product {
  Factor a, b;
  uint64_t m = 0, n = 0, k = 0;
  bool b_is_kn = false;  // B is k x n, else n x k
  double alpha = 1;
};

struct WrongElement {
  uint64_t element = 0;  // m * n, in C order
  double off = 0;        // what it holds, less what is expected
  double in_doubt = 0;   // by how much `off` may be another number: of the output's format and tolerance
};

// What the products of k from `from` to `to` - 1 have become in the wrong elements.
struct WrongProducts {
  enum class What : uint8_t { missing, twice, exchanged };
  What what{};
  uint64_t from = 0, to = 0;
  uint64_t a_from = 0, b_from = 0;  // exchanged: where A and B were taken instead
  uint64_t width = 0;               // of the steps of k of which this is one; 0: it is none
  uint64_t elements = 0;            // that this explains
};

// What explains nearly all (19 of 20) of `wrong`, where nothing else of its kind does: a step of 16, 32, 64,
// 128 or 256 of k that is missing or there twice; else a longer piece of k; else a step of which A, B or both
// were taken at another step. Nothing where fewer than 8 elements are off by more than is in doubt.
std::optional<WrongProducts> wrong_products(const Product& product, const std::vector<WrongElement>& wrong);

}  // namespace bitwell::launch
