// Nested integer tuples: the shapes, strides and coordinates of CuTe layouts, `((32,4),(16,4))`.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bitwell::layout {

// A text or a layout that means nothing. `column` counts from 1 in the text read; 0: not from a text.
struct LayoutError : std::runtime_error {
  explicit LayoutError(const std::string& what, int at = 0) : std::runtime_error(what), column(at) {}
  int column;
};

// An integer, or a tuple of Tuples.
struct Tuple {
  Tuple(int64_t v = 0) : value(v) {}  // NOLINT(google-explicit-constructor): 4 and (4,8) mix freely
  Tuple(std::vector<Tuple> all)
      : is_tuple(true), items(std::move(all)) {}  // NOLINT(google-explicit-constructor)

  bool operator==(const Tuple&) const = default;

  int64_t value = 0;
  bool is_tuple = false;
  std::vector<Tuple> items;
};

// Products and sums that must fit in 63 bits; LayoutError otherwise.
int64_t multiply(int64_t a, int64_t b);
int64_t add(int64_t a, int64_t b);
int64_t ceil_divide(int64_t a, int64_t b);  // a >= 0, b > 0

// Number of top-level modes; an integer has one.
size_t rank(const Tuple& t);
// Mode i of a tuple; an integer is its own mode 0.
const Tuple& mode(const Tuple& t, size_t i);
int64_t product(const Tuple& t);
std::vector<int64_t> flatten(const Tuple& t);
bool congruent(const Tuple& a, const Tuple& b);

std::string to_string(const Tuple& t);

}  // namespace bitwell::layout
