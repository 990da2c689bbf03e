// upcast, downcast, recast: the same storage in larger or smaller elements.
#include <cstdlib>
#include <numeric>

#include "model/layout/algebra.h"

namespace bitwell::layout {
namespace {

// A layout made leaf by leaf.
template <typename Leaf>
Layout leaves(const Tuple& shape, const Tuple& stride, const Leaf& leaf) {
  if (!shape.is_tuple) return leaf(shape.value, stride.value);
  std::vector<Layout> modes;
  for (size_t i = 0; i < shape.items.size(); ++i)
    modes.push_back(leaves(shape.items[i], stride.items[i], leaf));
  return join(modes);
}

void positive(int64_t n, const char* what) {
  if (n <= 0) throw LayoutError(std::string(what) + " by " + std::to_string(n));
}

}  // namespace

Layout upcast(const Layout& l, int64_t n) {
  positive(n, "upcast");
  return leaves(l.shape(), l.stride(), [&](int64_t extent, int64_t stride) -> Layout {
    if (stride == 0) return {extent, 0};
    const int64_t step = std::abs(stride);
    if (step % n != 0 && n % step != 0)
      throw LayoutError("upcast of " + to_string(l) + " by " + std::to_string(n) + ": stride " +
                        std::to_string(stride) + " neither divides it nor is a multiple of it");
    return {ceil_divide(extent, ceil_divide(n, step)), (stride < 0 ? -1 : 1) * ceil_divide(step, n)};
  });
}

Layout downcast(const Layout& l, int64_t n) {
  positive(n, "downcast");
  bool adjacent = false;
  for (const int64_t s : flatten(l.stride())) adjacent = adjacent || s == 1;
  if (!adjacent) throw LayoutError("downcast of " + to_string(l) + ": no elements are adjacent (stride 1)");
  return leaves(l.shape(), l.stride(), [&](int64_t extent, int64_t stride) -> Layout {
    if (std::abs(stride) == 1) return {multiply(extent, n), stride};
    return {extent, multiply(stride, n)};
  });
}

Layout recast(const Layout& l, int64_t old_bits, int64_t new_bits) {
  positive(old_bits, "recast from bits");
  positive(new_bits, "recast to bits");
  const int64_t common = std::gcd(old_bits, new_bits);
  const int64_t up = new_bits / common;
  const int64_t down = old_bits / common;
  const Layout wider = up == 1 ? l : upcast(l, up);
  return down == 1 ? wider : downcast(wider, down);
}

}  // namespace bitwell::layout
