#include "model/isa/family/mma/unknown_product.h"

namespace bitwell::isa {

bool lacks(run::Context& context, std::span<const uint32_t> registers) {
  if (!context.checked) return false;
  uint32_t known = ~0u;
  for (const uint32_t r : registers) known &= context.known_at(r, ~0u);
  return known != ~0u;
}

void UnknownProduct::give(run::Context& context, std::span<const uint32_t> d) const {
  for (const Lane& l : lacking_) run::set_unknown(context, d[l.r], l.lane, bytes_, {l.unknown, 0}, l.from);
}

}  // namespace bitwell::isa
