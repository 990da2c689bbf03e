#include "model/isa/family/scalar/extreme.h"

#include "model/isa/family/emit.h"

namespace bitwell::isa {
namespace {

constexpr uint32_t kNaN = 0x7FFFFFFF;
constexpr uint32_t kSign = 0x80000000;

// A word whose order without a sign is that of the values.
uint32_t order(Extreme::Type type, uint32_t v) {
  if (type == Extreme::Type::u32) return v;
  return type == Extreme::Type::f32 && (v & kSign) != 0 ? ~v : v ^ kSign;
}

}  // namespace

uint32_t Extreme::of(std::span<const uint32_t> words) const {
  bool any = false;
  uint32_t best = kNaN;
  for (uint32_t v : words) {
    if (type == Type::f32 && absolute) v &= ~kSign;
    if (type == Type::f32 && (v & ~kSign) > 0x7F800000) {
      if (propagates) return kNaN;
      continue;
    }
    if (!any || (v != best && (order(type, v) > order(type, best)) == greatest)) best = v;
    any = true;
  }
  return best;
}

Extreme extreme_of(const ptx::Instruction& i) {
  return {ptx::has(i, ".f32")   ? Extreme::Type::f32
          : ptx::has(i, ".s32") ? Extreme::Type::s32
                                : Extreme::Type::u32,
          ptx::has(i, ".max"), ptx::has(i, ".abs"), ptx::has(i, ".NaN")};
}

}  // namespace bitwell::isa
