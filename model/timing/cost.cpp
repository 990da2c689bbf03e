#include "model/timing/cost.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "model/machine/failure.h"
#include "model/timing/h200.h"

namespace bitwell::timing {

const Cost& Device::cost(Key key) const {
  const auto at = std::find_if(costs.begin(), costs.end(), [&](const Cost& c) { return c.key == key; });
  if (at == costs.end())
    throw machine::ModelBug("the table of " + std::string(name) + " lacks cost " +
                            std::to_string(static_cast<int>(key)));
  return *at;
}

// A modifier: not the beginning of a longer one.
static bool has_modifier(std::string_view name, std::string_view modifier) {
  for (size_t at = name.find(modifier); at != std::string_view::npos; at = name.find(modifier, at + 1))
    if (const size_t end = at + modifier.size(); end == name.size() || name[end] == '.') return true;
  return false;
}

const OpCost* Device::op(std::string_view text) const {
  for (const OpCost& row : ops) {
    if (text.substr(0, row.begins.size()) != row.begins) continue;
    // "add" is not the beginning of "addc".
    if (text.size() > row.begins.size() && text[row.begins.size()] != '.' && row.begins.back() != '.' &&
        row.begins.find('.') == std::string_view::npos)
      continue;
    if (row.has.empty() || has_modifier(text, row.has)) return &row;
  }
  return nullptr;
}

const WarpMmaCost* Device::mma(std::string_view text) const {
  for (const WarpMmaCost& row : mmas)
    if (text.find(row.shape) != std::string_view::npos) return &row;
  return nullptr;
}

double Device::wgmma_interval(uint32_t n, bool from_registers) {
  // B is read at 128 bytes a cycle, and A with it where that comes from shared memory.
  return from_registers ? std::max(n / 2.0, 13.0) : std::max(n / 2.0, 16 + n / 4.0);
}

double Device::wgmma_latency(uint32_t n, bool from_registers) const {
  constexpr uint32_t kProbed = 64, kLong = 128;
  const double fixed = value(Key::wgmma_wait) - kProbed / 2.0;
  return fixed + n / 2.0 + (n > kLong ? 13 : 0) - (from_registers ? 6 : 0);
}

double Device::copy_latency(uint64_t bytes, bool from_dram) const {
  const auto of = [&](const CopyCost& c) { return from_dram ? c.dram : c.l2; };
  if (bytes <= copies.front().bytes) return of(copies.front());
  for (size_t i = 1; i < copies.size(); ++i) {
    const CopyCost &a = copies[i - 1], &b = copies[i];
    if (bytes <= b.bytes || i + 1 == copies.size())
      return of(a) + (of(b) - of(a)) * (static_cast<double>(bytes) - a.bytes) / (b.bytes - a.bytes);
  }
  return 0;
}

std::span<const Device> devices() {
  static const std::array<Device, 1> all{h200()};
  return all;
}

const Device* device(std::string_view name) {
  for (const Device& d : devices())
    if (d.name == name) return &d;
  return nullptr;
}

}  // namespace bitwell::timing
