// composition, complement, inverses.
#include <algorithm>
#include <cstdlib>

#include "model/layout/algebra.h"
#include "model/layout/flat.h"

namespace bitwell::layout {
namespace {

// Modes of `a` such that every integer, not only those below its size, has the same offset: a last extent of
// 1 counts as open-ended.
Flat open_ended(const Layout& a) {
  Flat modes = flat(a);
  if (modes.back().extent == 1) modes.back().extent = 2;
  return merged(modes);
}

// `a` after one mode of the right-hand side. `reach`: how far all modes so far go inside each of a's modes.
Layout compose_mode(const Flat& a, int64_t extent, int64_t stride, std::vector<int64_t>& reach) {
  if (stride == 0) return {extent, 0};
  if (a.size() == 1) return {extent, multiply(stride, a[0].stride)};
  const auto refuse = [&](const std::string& why) {
    throw LayoutError("composition of " + to_string(unflat(a)) + " with " + std::to_string(extent) + ":" +
                      std::to_string(stride) + ": " + why);
  };
  Flat out;
  int64_t rest = extent;
  int64_t step = stride;
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    const int64_t have = a[i].extent;
    if (std::abs(step) % have != 0 && std::abs(step) >= have)
      refuse("extent " + std::to_string(have) + " does not divide stride " + std::to_string(step));
    const int64_t next_extent = ceil_divide(have, std::abs(step));
    const int64_t next_step = ceil_divide(std::abs(step), have) * (step < 0 ? -1 : 1);
    if (next_extent != 1 && rest != 1) {
      const int64_t taken = std::min(next_extent, rest);
      if (rest % taken != 0)
        refuse(std::to_string(taken) + " does not divide extent " + std::to_string(rest));
      if (rest > taken && have % std::abs(step) != 0)
        refuse("stride " + std::to_string(step) + " does not divide extent " + std::to_string(have) +
               ", so that no layout is the composition (CuTe returns one)");
      out.push_back({taken, multiply(step, a[i].stride)});
      reach[i] = add(reach[i], multiply(taken - 1, std::abs(step)));
      rest /= taken;
    }
    step = next_step;
  }
  if (out.empty() || rest != 1) out.push_back({rest, multiply(step, a.back().stride)});
  return unflat(out);
}

Layout compose(const Flat& a, const Tuple& shape, const Tuple& stride, std::vector<int64_t>& reach) {
  if (!shape.is_tuple) return compose_mode(a, shape.value, stride.value, reach);
  std::vector<Layout> modes;
  for (size_t i = 0; i < shape.items.size(); ++i)
    modes.push_back(compose(a, shape.items[i], stride.items[i], reach));
  return join(modes);
}

// A shape divided by n from its first mode on: what is left of it in steps of n.
int64_t shape_rest(const Tuple& shape, int64_t n) {
  int64_t out = 1;
  int64_t rest = n;
  for (const int64_t extent : flatten(shape)) {
    out = multiply(out, ceil_divide(extent, rest));
    rest = ceil_divide(rest, extent);
  }
  return out;
}

Flat by_stride(Flat modes) {
  std::stable_sort(modes.begin(), modes.end(),
                   [](const Mode& a, const Mode& b) { return a.stride < b.stride; });
  return modes;
}

// A coalesced layout's modes, least stride first, each with the product of the extents before it.
struct Placed {
  Mode mode;
  int64_t before;
};
std::vector<Placed> by_stride_with_places(const Layout& l) {
  std::vector<Placed> sorted;
  int64_t before = 1;
  for (const Mode& m : flat(coalesce(l))) {
    sorted.push_back({m, before});
    before = multiply(before, m.extent);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Placed& a, const Placed& b) { return a.mode.stride < b.mode.stride; });
  return sorted;
}

}  // namespace

Layout composition(const Layout& a, const Layout& b) {
  const Flat modes = open_ended(a);
  std::vector<int64_t> reach(modes.size());
  Layout out = compose(modes, b.shape(), b.stride(), reach);
  // Modes of b are taken one by one, which is right only while their sums stay inside each mode of a.
  for (size_t i = 0; i + 1 < modes.size(); ++i)
    if (reach[i] >= modes[i].extent)
      throw LayoutError("composition of " + to_string(a) + " with " + to_string(b) +
                        ": sums of strides reach " + std::to_string(reach[i]) + " in a mode of extent " +
                        std::to_string(modes[i].extent) +
                        ", so that no layout is the composition (CuTe returns one)");
  return out;
}

Layout composition(const Layout& a, const Tiler& b) {
  if (b.layout) return composition(a, *b.layout);
  if (b.modes.empty()) return a;
  if (b.modes.size() > rank(a)) throw LayoutError("the tiler has more modes than " + to_string(a));
  std::vector<Layout> modes;
  for (size_t i = 0; i < b.modes.size(); ++i) modes.push_back(composition(mode(a, i), b.modes[i]));
  return join(modes);
}

Layout complement(const Layout& l, const Tuple& cotarget) {
  for (const int64_t extent : flatten(cotarget))
    if (extent <= 0) throw LayoutError("complement of " + to_string(l) + ": cotarget " + to_string(cotarget));
  const Flat filtered = flat(filter(l));
  if (filtered.size() == 1 && filtered[0].stride == 0) return Layout::compact(product(cotarget));
  Flat out;
  int64_t current = 1;
  for (const Mode& m : by_stride(filtered)) {
    if (m.stride < 0) throw LayoutError("complement of " + to_string(l) + ": a negative stride");
    if (m.stride / current == 0)
      throw LayoutError("complement of " + to_string(l) + ": two coordinates have the same offset");
    out.push_back({m.stride / current, current});
    current = multiply(m.stride, m.extent);
  }
  out.push_back({shape_rest(cotarget, current), current});
  return unflat(merged(out));
}

Layout complement(const Layout& l) { return complement(l, cosize(filter(l))); }

Layout right_inverse(const Layout& l) {
  const std::vector<Placed> sorted = by_stride_with_places(l);
  Flat out;
  int64_t current = 1;
  for (const Placed& p : sorted) {
    if (p.mode.stride != current) continue;
    out.push_back({p.mode.extent, p.before});
    current = multiply(p.mode.extent, p.mode.stride);
  }
  return unflat(merged(out));
}

Layout left_inverse(const Layout& l) {
  const std::vector<Placed> sorted = by_stride_with_places(l);
  Flat out;  // each mode: from the offset of the one before to its own stride
  int64_t covered = 1;
  int64_t pending = 0;  // stride of the entry that the next extent goes with
  int64_t last_extent = 1;
  for (const Placed& p : sorted) {
    last_extent = p.mode.extent;
    if (p.mode.stride == 0) continue;
    if (p.mode.stride < 0) throw LayoutError("left_inverse of " + to_string(l) + ": a negative stride");
    if (p.mode.stride % covered != 0)
      throw LayoutError("left_inverse of " + to_string(l) + ": stride " + std::to_string(p.mode.stride) +
                        " is no multiple of " + std::to_string(covered));
    out.push_back({p.mode.stride / covered, pending});
    covered = p.mode.stride;
    pending = p.before;
  }
  out.push_back({last_extent, pending});
  return unflat(merged(out));
}

}  // namespace bitwell::layout
