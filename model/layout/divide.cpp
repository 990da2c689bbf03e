// Divisions and products.
#include <algorithm>
#include <numeric>

#include "model/layout/algebra.h"
#include "model/layout/flat.h"

namespace bitwell::layout {
namespace {

bool is_nothing(const Tiler& t) { return !t.layout && t.modes.empty(); }

// `apply` to each mode that the tiler names; further modes stay.
Layout by_mode(const Layout& l, const Tiler& t, Layout (*apply)(const Layout&, const Tiler&)) {
  if (t.modes.size() > rank(l))
    throw LayoutError("a tiler of " + std::to_string(t.modes.size()) + " modes for " + to_string(l));
  std::vector<Layout> modes;
  for (size_t i = 0; i < rank(l); ++i)
    modes.push_back(i < t.modes.size() ? apply(mode(l, i), t.modes[i]) : mode(l, i));
  return join(modes);
}

// ((A,a),(B,b),c) to ((A,B),(a,b,c)): the pairs stand where the tiler has its layouts.
std::pair<Layout, Layout> unzip(const Layout& l, const Tiler& t) {
  if (t.layout) return {mode(l, 0), mode(l, 1)};
  if (is_nothing(t)) throw LayoutError("'_' in a tiler: only the logical forms take it");
  std::vector<Layout> first;
  std::vector<Layout> second;
  for (size_t i = 0; i < rank(l); ++i) {
    if (i >= t.modes.size()) {
      second.push_back(mode(l, i));
      continue;
    }
    const auto [tile, rest] = unzip(mode(l, i), t.modes[i]);
    first.push_back(tile);
    second.push_back(rest);
  }
  return {join(first), join(second)};
}

// The modes of a layout; of one mode (a tuple of one, too), itself: CuTe does not unwrap that.
std::vector<Layout> modes_of(const Layout& l) {
  if (rank(l) == 1) return {l};
  std::vector<Layout> out;
  for (size_t i = 0; i < rank(l); ++i) out.push_back(mode(l, i));
  return out;
}

Layout zipped(const std::pair<Layout, Layout>& p) { return join({p.first, p.second}); }

Layout tiled(const std::pair<Layout, Layout>& p) {
  std::vector<Layout> out{p.first};
  for (Layout& m : modes_of(p.second)) out.push_back(std::move(m));
  return join(out);
}

Layout all_flat(const std::pair<Layout, Layout>& p) {
  std::vector<Layout> out = modes_of(p.first);
  for (Layout& m : modes_of(p.second)) out.push_back(std::move(m));
  return join(out);
}

Layout padded(const Layout& l, size_t modes) {
  if (rank(l) == modes) return l;
  std::vector<Layout> out;
  for (size_t i = 0; i < rank(l); ++i) out.push_back(mode(l, i));
  while (out.size() < modes) out.emplace_back();
  return join(out);
}

// block and repetitions, as two layouts of the same rank.
std::pair<Layout, Layout> repeated(const Layout& block, const Layout& t) {
  const size_t modes = std::max(rank(block), rank(t));
  const Layout both = logical_product(padded(block, modes), padded(t, modes));
  return {mode(both, 0), mode(both, 1)};
}

Layout zip(const Layout& a, const Layout& b) {
  if (!a.shape().is_tuple) return join({join({a, b})});
  if (!b.shape().is_tuple || rank(a) != rank(b))
    throw LayoutError("the modes of " + to_string(a) + " and " + to_string(b) + " do not pair");
  std::vector<Layout> out;
  for (size_t i = 0; i < rank(a); ++i) out.push_back(join({mode(a, i), mode(b, i)}));
  return join(out);
}

}  // namespace

Layout logical_divide(const Layout& l, const Tiler& t) {
  if (is_nothing(t)) return l;
  if (!t.layout) return by_mode(l, t, logical_divide);
  return composition(l, join({*t.layout, complement(*t.layout, coalesce(l).shape())}));
}
Layout zipped_divide(const Layout& l, const Tiler& t) { return zipped(unzip(logical_divide(l, t), t)); }
Layout tiled_divide(const Layout& l, const Tiler& t) { return tiled(unzip(logical_divide(l, t), t)); }
Layout flat_divide(const Layout& l, const Tiler& t) { return all_flat(unzip(logical_divide(l, t), t)); }

Layout logical_product(const Layout& block, const Tiler& t) {
  if (is_nothing(t)) return block;
  if (!t.layout) return by_mode(block, t, logical_product);
  return join({block, composition(complement(block, multiply(size(block), cosize(*t.layout))), *t.layout)});
}
Layout zipped_product(const Layout& block, const Tiler& t) {
  return zipped(unzip(logical_product(block, t), t));
}
Layout tiled_product(const Layout& block, const Tiler& t) {
  return tiled(unzip(logical_product(block, t), t));
}
Layout flat_product(const Layout& block, const Tiler& t) {
  return all_flat(unzip(logical_product(block, t), t));
}

Layout blocked_product(const Layout& block, const Layout& t) {
  const auto [inner, outer] = repeated(block, t);
  return zip(inner, outer);
}

Layout raked_product(const Layout& block, const Layout& t) {
  const auto [inner, outer] = repeated(block, t);
  return zip(outer, inner);
}

Layout ordered(const Tuple& shape, const Tuple& order) {
  if (!congruent(shape, order))
    throw LayoutError("order " + to_string(order) + " is not nested like shape " + to_string(shape));
  const std::vector<int64_t> extents = flatten(shape);
  const std::vector<int64_t> places = flatten(order);
  std::vector<size_t> sorted(extents.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return places[a] < places[b]; });
  std::vector<int64_t> strides(extents.size());
  int64_t current = 1;
  for (const size_t i : sorted) {
    if (extents[i] == 1) continue;  // stride 0, as CuTe has it
    strides[i] = current;
    current = multiply(current, extents[i]);
  }
  size_t at = 0;
  const auto nested = [&](const auto& self, const Tuple& like) -> Tuple {
    if (!like.is_tuple) return strides[at++];
    std::vector<Tuple> out;
    for (const Tuple& t : like.items) out.push_back(self(self, t));
    return out;
  };
  return {shape, nested(nested, shape)};
}

Layout tile_to_shape(const Layout& block, const Tuple& target, const std::optional<Tuple>& order) {
  if (rank(block) > rank(target))
    throw LayoutError("tile_to_shape: " + to_string(block) + " has more modes than " + to_string(target));
  const Layout tile = padded(block, rank(target));
  std::vector<Tuple> counts;
  for (size_t i = 0; i < rank(target); ++i) {
    const int64_t want = product(mode(target, i));
    const int64_t have = product(mode(tile.shape(), i));
    if (want % have != 0)
      throw LayoutError("tile_to_shape: extent " + std::to_string(have) + " of the block does not divide " +
                        std::to_string(want) + " of the target");
    counts.emplace_back(want / have);
  }
  const Tuple shape = target.is_tuple ? Tuple(counts) : counts[0];
  return blocked_product(tile, order ? ordered(shape, *order) : Layout::compact(shape));
}

}  // namespace bitwell::layout
