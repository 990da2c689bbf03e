#include "model/layout/hardware.h"

#include <algorithm>
#include <charconv>

#include "model/layout/algebra.h"
#include "model/layout/operands.h"
#include "model/layout/scale_factors.h"
#include "model/layout/tensor_memory.h"

namespace bitwell::layout {

TensorAddress tensor_address(int64_t bytes) {
  return {bytes % kCta / kLane, bytes % kLane / kColumn, bytes % kColumn, bytes / kCta};
}

std::optional<Tuple> coordinate_at(const Hardware& h, int64_t offset) {
  if (offset < 0) return std::nullopt;
  const int64_t plain = (h.layout.swizzle ? (*h.layout.swizzle)(offset) : offset) - h.layout.offset;
  if (plain < 0) return std::nullopt;
  const int64_t i = left_inverse(h.layout.layout)(plain);
  if (i < 0 || i >= size(h.layout.layout) || h.layout.layout(i) != plain) return std::nullopt;
  // The index counts the modes' sizes; the axes' extents are the same.
  std::vector<Tuple> out;
  int64_t rest = i;
  for (const Axis& a : h.axes) {
    out.emplace_back(rest % a.extent);
    rest /= a.extent;
  }
  return Tuple(out);
}

int64_t number(const Parameters& all, const char* name, int64_t least, int64_t most) {
  const std::string& text = all.at(name);
  int64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || v < least || v > most)
    throw LayoutError(std::string(name) + " is '" + text + "', expected an integer from " +
                      std::to_string(least) + " to " + std::to_string(most));
  return v;
}

std::string choice(const Parameters& all, const char* name, const std::vector<std::string>& of) {
  const std::string& text = all.at(name);
  if (std::find(of.begin(), of.end(), text) != of.end()) return text;
  std::string list;
  for (const std::string& o : of) list += (list.empty() ? "" : ", ") + o;
  throw LayoutError(std::string(name) + " is '" + text + "', expected one of: " + list);
}

const std::vector<Named>& named_layouts() {
  static const std::vector<Named> all = [] {
    std::vector<Named> out;
    for (const auto& some : {scale_factor_layouts(), operand_layouts(), tensor_memory_layouts()})
      out.insert(out.end(), some.begin(), some.end());
    return out;
  }();
  return all;
}

Hardware named_layout(const std::string& name, const Parameters& given) {
  std::string names;
  for (const Named& n : named_layouts()) {
    names += (names.empty() ? "" : ", ") + std::string(n.name);
    if (name != n.name) continue;
    Parameters all;
    for (const ParameterHelp& p : n.parameters) all[p.name] = p.preset;
    for (const auto& [key, value] : given) {
      if (all.count(key) == 0) throw LayoutError(name + " has no parameter '" + key + "'");
      all[key] = value;
    }
    Hardware h = n.build(all);
    h.name = name;
    if (h.space == Space::tensor && h.region > kTensorColumns)
      throw LayoutError(name + " would take " + std::to_string(h.region) + " columns; tensor memory has " +
                        std::to_string(kTensorColumns));
    return h;
  }
  throw LayoutError("no layout is named '" + name + "'; there are " + names);
}

}  // namespace bitwell::layout
