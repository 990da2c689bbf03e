#include "model/isa/compile/register_names.h"

#include <algorithm>
#include <charconv>

#include "model/isa/form/builder.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a register of the range `inner`, whose name is that of `outer` and more, is one of `outer` too:
// %v1<3> and %v<20> both name %v10.
bool overlap(std::string_view outer, int outer_count, std::string_view inner, int inner_count) {
  if (inner_count == 0 || !inner.starts_with(outer) || inner.size() == outer.size()) return false;
  int64_t first = 0;
  for (const char c : inner.substr(outer.size())) {
    if (!is_digit(c) || first > outer_count) return false;
    first = 10 * first + (c - '0');
  }
  return 10 * first < outer_count;
}

}  // namespace

void RegisterNames::declare(const std::string& name, Register r) {
  if (has(name)) throw Invalid("register '" + name + "' is declared twice");
  registers_.emplace(name, r);
}

void RegisterNames::declare_range(const std::string& name, int count, const Type& type, int components) {
  for (const auto& [other, range] : ranges_)
    if (overlap(name, count, other, range.count) || overlap(other, range.count, name, count))
      throw machine::Unsupported("register ranges that share names: '" + other + "<" +
                                 std::to_string(range.count) + ">' and '" + name + "<" +
                                 std::to_string(count) + ">'");
  const auto [mine, is_new] = ranges_.emplace(name, Range{count, &type, components});
  if (!is_new)
    throw Invalid("register range '" + name + "<" + std::to_string(count) + ">' is declared twice");
  for (const auto& [single, r] : registers_)
    if (place_of(single).range == &mine->second) throw Invalid("register '" + single + "' is declared twice");
}

int RegisterNames::components_in_range(const std::string& name) const {
  const Range* range = registers_.count(name) != 0 ? nullptr : place_of(name).range;
  return range == nullptr || range->components == 1 ? 0 : range->components;
}

bool RegisterNames::has(const std::string& name) const {
  return registers_.count(name) != 0 || place_of(name).range != nullptr;
}

const RegisterNames::Register* RegisterNames::find(std::string_view name, const NewRow& new_row) {
  const auto declared = registers_.find(name);
  if (declared != registers_.end()) return &declared->second;
  const size_t dot = std::min(name.find('.'), name.size());  // of a component
  const Place place = place_of(name.substr(0, dot));
  if (place.range == nullptr || (place.range->components != 1) != (dot != name.size())) return nullptr;
  const Range& range = *place.range;
  if (range.components == 1) {
    const auto used = range.used.find(place.number);
    if (used != range.used.end()) return &used->second;
    auto& rows = ranges_.find(*place.prefix)->second.used;
    return &rows.emplace(place.number, Register{new_row(*range.type, place.canonical()), range.type})
                .first->second;
  }
  const std::string canonical = place.canonical() + std::string(name.substr(dot));
  const auto used = registers_.find(canonical);
  if (used != registers_.end()) return &used->second;
  return &registers_.emplace(canonical, Register{new_row(*range.type, canonical), range.type}).first->second;
}

// Ranges that share a name are refused, so that it does not matter which prefix is looked at first: it is
// mostly all that stands before the digits.
RegisterNames::Place RegisterNames::place_of(std::string_view name) const {
  size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  for (; digits < name.size(); ++digits) {
    const auto range = ranges_.find(name.substr(0, digits));
    if (range == ranges_.end()) continue;
    int number = 0;
    const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
    if (error == std::errc() && number < range->second.count) return {&range->first, &range->second, number};
  }
  return {};
}

}  // namespace bitwell::isa
