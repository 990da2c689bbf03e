// coalesce, filter.
#include "model/layout/algebra.h"
#include "model/layout/flat.h"

namespace bitwell::layout {

Flat flat(const Layout& l) {
  const std::vector<int64_t> shape = flatten(l.shape());
  const std::vector<int64_t> stride = flatten(l.stride());
  Flat out;
  for (size_t i = 0; i < shape.size(); ++i) out.push_back({shape[i], stride[i]});
  return out;
}

Layout unflat(const Flat& modes) {
  if (modes.empty()) return {1, 0};
  if (modes.size() == 1) return {modes[0].extent, modes[0].stride};
  std::vector<Tuple> shape;
  std::vector<Tuple> stride;
  for (const Mode& m : modes) {
    shape.emplace_back(m.extent);
    stride.emplace_back(m.stride);
  }
  return {std::move(shape), std::move(stride)};
}

Flat merged(const Flat& modes) {
  Flat out;
  for (const Mode& m : modes) {
    if (m.extent == 1) continue;
    if (!out.empty() && multiply(out.back().extent, out.back().stride) == m.stride)
      out.back().extent = multiply(out.back().extent, m.extent);
    else
      out.push_back(m);
  }
  return out;
}

Layout coalesce(const Layout& l) { return unflat(merged(flat(l))); }

Layout coalesce(const Layout& l, const Tuple& profile) {
  if (!profile.is_tuple) return coalesce(l);
  if (profile.items.size() > rank(l))
    throw LayoutError("profile " + to_string(profile) + " has more modes than " + to_string(l));
  std::vector<Layout> modes;
  for (size_t i = 0; i < rank(l); ++i)
    modes.push_back(i < profile.items.size() ? coalesce(mode(l, i), profile.items[i]) : mode(l, i));
  return join(modes);
}

namespace {
Tuple without_zeros(const Tuple& shape, const Tuple& stride) {
  if (!shape.is_tuple) return stride.value == 0 ? Tuple(1) : shape;
  std::vector<Tuple> out;
  for (size_t i = 0; i < shape.items.size(); ++i)
    out.push_back(without_zeros(shape.items[i], stride.items[i]));
  return out;
}
}  // namespace

Layout filter_zeros(const Layout& l) { return {without_zeros(l.shape(), l.stride()), l.stride()}; }

Layout filter(const Layout& l) { return coalesce(filter_zeros(l)); }

}  // namespace bitwell::layout
