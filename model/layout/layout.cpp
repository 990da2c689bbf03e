#include "model/layout/layout.h"

#include <algorithm>
#include <cstdlib>

namespace bitwell::layout {
namespace {

void positive(const Tuple& shape) {
  if (!shape.is_tuple && shape.value <= 0)
    throw LayoutError("extent " + std::to_string(shape.value) + " in a shape: extents are positive");
  if (shape.is_tuple && shape.items.empty()) throw LayoutError("an empty tuple in a shape");
  for (const Tuple& t : shape.items) positive(t);
}

void has_magnitude(const Tuple& stride) {
  if (stride.value == INT64_MIN)
    throw LayoutError("stride " + std::to_string(stride.value) + " has no magnitude in 63 bits");
  for (const Tuple& t : stride.items) has_magnitude(t);
}

Tuple compact_stride(const Tuple& shape, int64_t& current) {
  if (!shape.is_tuple) {
    if (shape.value == 1) return 0;  // as CuTe has it
    const int64_t stride = current;
    current = multiply(current, shape.value);
    return stride;
  }
  std::vector<Tuple> out;
  out.reserve(shape.items.size());
  for (const Tuple& t : shape.items) out.push_back(compact_stride(t, current));
  return out;
}

int64_t offset(const Tuple& coordinate, const Tuple& shape, const Tuple& stride) {
  if (!shape.is_tuple) {
    if (coordinate.is_tuple)
      throw LayoutError("coordinate " + to_string(coordinate) + " where the shape has " + to_string(shape));
    return multiply(coordinate.value, stride.value);
  }
  int64_t out = 0;
  if (coordinate.is_tuple) {
    if (coordinate.items.size() != shape.items.size())
      throw LayoutError("coordinate " + to_string(coordinate) + " where the shape has " + to_string(shape));
    for (size_t i = 0; i < shape.items.size(); ++i)
      out = add(out, offset(coordinate.items[i], shape.items[i], stride.items[i]));
    return out;
  }
  int64_t rest = coordinate.value;
  for (size_t i = 0; i < shape.items.size(); ++i) {
    const bool last = i + 1 == shape.items.size();
    const int64_t extent = product(shape.items[i]);
    out = add(out, offset(last ? rest : rest % extent, shape.items[i], stride.items[i]));
    rest /= extent;
  }
  return out;
}

Tuple unflatten(int64_t& index, const Tuple& shape) {
  if (!shape.is_tuple) {
    const int64_t c = index % shape.value;
    index /= shape.value;
    return c;
  }
  std::vector<Tuple> out;
  for (const Tuple& t : shape.items) out.push_back(unflatten(index, t));
  return out;
}

int64_t flat_index(const Tuple& coordinate, const Tuple& shape) {
  const auto refuse = [&] {
    throw LayoutError("coordinate " + to_string(coordinate) + " is not inside " + to_string(shape));
  };
  if (!coordinate.is_tuple) {
    if (coordinate.value < 0 || coordinate.value >= product(shape)) refuse();
    return coordinate.value;
  }
  if (!shape.is_tuple || coordinate.items.size() != shape.items.size()) refuse();
  int64_t out = 0;
  int64_t before = 1;
  for (size_t i = 0; i < shape.items.size(); ++i) {
    out += before * flat_index(coordinate.items[i], shape.items[i]);
    before *= product(shape.items[i]);
  }
  return out;
}

}  // namespace

Layout::Layout(Tuple shape, Tuple stride) : shape_(std::move(shape)), stride_(std::move(stride)) {
  if (!congruent(shape_, stride_))
    throw LayoutError("shape " + to_string(shape_) + " and stride " + to_string(stride_) +
                      " are not nested alike");
  positive(shape_);
  has_magnitude(stride_);
}

Layout Layout::compact(const Tuple& shape) {
  int64_t current = 1;
  Tuple stride = compact_stride(shape, current);
  return {shape, std::move(stride)};
}

int64_t Layout::operator()(const Tuple& coordinate) const { return offset(coordinate, shape_, stride_); }

Tuple Layout::coordinate(int64_t index) const { return unflatten(index, shape_); }

int64_t Layout::index(const Tuple& coordinate) const { return flat_index(coordinate, shape_); }

int64_t size(const Layout& l) { return product(l.shape()); }

namespace {
int64_t reach(const Tuple& shape, const Tuple& stride) {
  if (!shape.is_tuple) return multiply(shape.value - 1, std::abs(stride.value));
  int64_t out = 0;
  for (size_t i = 0; i < shape.items.size(); ++i) out = add(out, reach(shape.items[i], stride.items[i]));
  return out;
}
}  // namespace

int64_t cosize(const Layout& l) { return add(1, reach(l.shape(), l.stride())); }

size_t rank(const Layout& l) { return rank(l.shape()); }

Layout mode(const Layout& l, size_t i) { return {mode(l.shape(), i), mode(l.stride(), i)}; }

Layout join(const std::vector<Layout>& modes) {
  std::vector<Tuple> shape;
  std::vector<Tuple> stride;
  shape.reserve(modes.size());
  stride.reserve(modes.size());
  for (const Layout& m : modes) {
    shape.push_back(m.shape());
    stride.push_back(m.stride());
  }
  return {std::move(shape), std::move(stride)};
}

std::vector<int64_t> offsets(const Layout& l) {
  // Mode by mode: the offsets of the modes so far, once for each step of the next. No coordinates are made.
  const std::vector<int64_t> shape = flatten(l.shape());
  const std::vector<int64_t> stride = flatten(l.stride());
  cosize(l);  // for its overflow check
  if (size(l) > kMostOffsets)
    throw LayoutError(to_string(l) + " has " + std::to_string(size(l)) + " elements, more than the " +
                      std::to_string(kMostOffsets) + " that are listed one by one");
  std::vector<int64_t> out{0};
  out.reserve(static_cast<size_t>(size(l)));
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t before = out.size();
    for (int64_t c = 1; c < shape[i]; ++c)
      for (size_t j = 0; j < before; ++j) out.push_back(out[j] + c * stride[i]);
  }
  return out;
}

namespace {
// Each mode steps over all that the modes of smaller strides reach together. Sufficient for no two
// coordinates to share an offset, whatever the size; layouts that people write are so.
bool nested(const Layout& l) {
  cosize(l);  // for its overflow check
  const std::vector<int64_t> shape = flatten(l.shape());
  const std::vector<int64_t> stride = flatten(l.stride());
  std::vector<std::pair<int64_t, int64_t>> modes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] > 1) modes.emplace_back(std::abs(stride[i]), shape[i]);
  std::sort(modes.begin(), modes.end());
  int64_t reach = 0;
  for (const auto& [step, extent] : modes) {
    if (step <= reach) return false;
    reach += (extent - 1) * step;
  }
  return true;
}

// Whether no offset stands twice, where a bit for each place is worth its memory; `span`: from the lowest to
// the highest.
bool distinct(const std::vector<int64_t>& all, int64_t span) {
  if (span / 64 > static_cast<int64_t>(all.size())) return false;  // not known
  const int64_t lowest = *std::min_element(all.begin(), all.end());
  std::vector<bool> seen(static_cast<size_t>(span));
  for (const int64_t offset : all) {
    const auto at = static_cast<size_t>(offset - lowest);
    if (seen[at]) return false;
    seen[at] = true;
  }
  return true;
}
}  // namespace

std::optional<std::pair<int64_t, int64_t>> collision(const Layout& l) {
  if (nested(l)) return std::nullopt;
  const std::vector<int64_t> all = offsets(l);
  if (distinct(all, cosize(l))) return std::nullopt;
  std::vector<std::pair<int64_t, int64_t>> sorted;
  sorted.reserve(all.size());
  for (const int64_t offset : all) sorted.emplace_back(offset, static_cast<int64_t>(sorted.size()));
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1].first == sorted[i].first) return std::pair{sorted[i - 1].second, sorted[i].second};
  return std::nullopt;
}

std::string to_string(const Layout& l) { return to_string(l.shape()) + ":" + to_string(l.stride()); }

}  // namespace bitwell::layout
