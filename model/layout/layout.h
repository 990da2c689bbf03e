// A layout: a function from coordinates to integers, shape:stride. CuTe's semantics (CUTLASS documentation,
// media/docs/cpp/cute/01_layout.md): integer coordinates count colexicographically, the first mode fastest.
#pragma once
#include <optional>

#include "model/layout/tuple.h"

namespace bitwell::layout {

class Layout {
 public:
  Layout() : Layout(1, 0) {}
  // Shape and stride must be congruent, every extent positive; else LayoutError.
  Layout(Tuple shape, Tuple stride);
  // Compact, the first mode fastest.
  static Layout compact(const Tuple& shape);

  const Tuple& shape() const { return shape_; }
  const Tuple& stride() const { return stride_; }

  // Offset of a coordinate: an integer anywhere stands for the colexicographic coordinate of that mode.
  // Beyond its size the last mode goes on.
  int64_t operator()(const Tuple& coordinate) const;
  // The coordinate, congruent to the shape, of an index in [0, size).
  Tuple coordinate(int64_t index) const;

  // The way back, for a coordinate inside the shape. LayoutError for any other.
  int64_t index(const Tuple& coordinate) const;

  bool operator==(const Layout&) const = default;

 private:
  Tuple shape_;
  Tuple stride_;
};

int64_t size(const Layout& l);
// One more than the greatest distance between offsets: 1 + sum over leaves of (extent - 1) * |stride|.
int64_t cosize(const Layout& l);
size_t rank(const Layout& l);
Layout mode(const Layout& l, size_t i);
// One layout whose modes are these.
Layout join(const std::vector<Layout>& modes);
// Offsets of all coordinates in order, 0 .. size - 1. LayoutError beyond kMostOffsets.
inline constexpr int64_t kMostOffsets = int64_t{1} << 22;
std::vector<int64_t> offsets(const Layout& l);

// Two indices with the same offset, or nothing: the layout is injective. LayoutError where that cannot be
// told from the strides and there are more than kMostOffsets.
std::optional<std::pair<int64_t, int64_t>> collision(const Layout& l);

std::string to_string(const Layout& l);

}  // namespace bitwell::layout
