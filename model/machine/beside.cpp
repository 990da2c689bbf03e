#include "model/machine/beside.h"

#include <algorithm>

namespace bitwell::machine {
namespace {

constexpr uint64_t kNear = uint64_t{1} << 20;
constexpr uint64_t kVeryNear = uint64_t{4} << 10;

std::string bytes(uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }
std::string quoted(const Named& o) { return "'" + o.name + "' of " + bytes(o.size); }

struct Neighbours {
  const Named *below = nullptr, *above = nullptr;
  uint64_t into = 0, past = UINT64_MAX, before = UINT64_MAX;  // below and behind it, and up to `above`
};

Neighbours neighbours(std::span<const Named> objects, uint64_t address) {
  Neighbours out;
  for (const Named& o : objects) {
    if (o.base <= address && (out.below == nullptr || o.base >= out.below->base)) out.below = &o;
    if (o.base > address && (out.above == nullptr || o.base < out.above->base)) out.above = &o;
  }
  if (out.below != nullptr) {
    out.into = address - out.below->base;
    out.past = out.into > out.below->size ? out.into - out.below->size : 0;
  }
  if (out.above != nullptr) out.before = out.above->base - address;
  return out;
}

}  // namespace

std::string nearest(std::span<const Named> objects, uint64_t address) {
  const Neighbours n = neighbours(objects, address);
  if (std::min(n.past, n.before) > kNear) return "";
  return (n.past <= n.before ? n.below : n.above)->name;
}

std::string beside(std::span<const Named> objects, uint64_t address, const std::string& nothing_near) {
  const auto [below, above, into, past, before] = neighbours(objects, address);
  if (below == nullptr && above == nullptr) return "";
  const Named& nearest = past <= before ? *below : *above;
  const uint64_t distance = past <= before ? past : before;
  if (distance > kNear)
    return nothing_near + "; the nearest is " + quoted(nearest) + ", " + bytes(distance) + " away";
  const std::string behind = below == nullptr ? "" : bytes(into) + " into " + quoted(*below);
  const std::string ahead = above == nullptr ? "" : bytes(before) + " before " + quoted(*above);
  const bool outside = below != nullptr && into >= below->size;
  if (outside && past <= kVeryNear && before <= kVeryNear) return behind + ", " + ahead;
  return past <= before ? behind : ahead;
}

}  // namespace bitwell::machine
