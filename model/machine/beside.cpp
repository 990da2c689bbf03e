#include "model/machine/beside.h"

namespace bitwell::machine {
namespace {

constexpr uint64_t kNear = uint64_t{1} << 20;
constexpr uint64_t kVeryNear = uint64_t{4} << 10;

std::string bytes(uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }
std::string quoted(const Named& o) { return "'" + o.name + "' of " + bytes(o.size); }

}  // namespace

std::string beside(std::span<const Named> objects, uint64_t address, const std::string& nothing_near) {
  const Named* below = nullptr;
  const Named* above = nullptr;
  for (const Named& o : objects) {
    if (o.base <= address && (below == nullptr || o.base >= below->base)) below = &o;
    if (o.base > address && (above == nullptr || o.base < above->base)) above = &o;
  }
  if (below == nullptr && above == nullptr) return "";
  const uint64_t into = below != nullptr ? address - below->base : 0;
  const uint64_t past = below == nullptr ? UINT64_MAX : into > below->size ? into - below->size : 0;
  const uint64_t before = above == nullptr ? UINT64_MAX : above->base - address;
  const Named& nearest = past <= before ? *below : *above;
  const uint64_t distance = past <= before ? past : before;
  if (distance > kNear)
    return nothing_near + "; the nearest is " + quoted(nearest) + ", " + bytes(distance) + " away";
  const std::string behind = below == nullptr ? "" : bytes(into) + " into " + quoted(*below);
  const std::string ahead = above == nullptr ? "" : bytes(before) + " before " + quoted(*above);
  if (past > 0 && past <= kVeryNear && before <= kVeryNear) return behind + ", " + ahead;
  return past <= before ? behind : ahead;
}

}  // namespace bitwell::machine
