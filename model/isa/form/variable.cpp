#include "model/isa/form/variable.h"

#include <algorithm>

#include "model/isa/form/type.h"
#include "model/machine/failure.h"

namespace bitwell::isa {

uint64_t size_of(const ptx::Variable& v) {
  uint64_t inner = 1;  // elements of everything but an open dimension
  bool open = false;
  for (const int64_t d : v.dims) {
    if (d < 0)
      open = true;
    else if (__builtin_mul_overflow(inner, static_cast<uint64_t>(d), &inner))
      inner = kLargestVariable + 1;
  }
  // [] takes its length from the initializer; 0 for extern
  const uint64_t count = !open ? inner : inner == 0 ? 0 : (v.initializers.size() + inner - 1) / inner * inner;
  const auto element =
      static_cast<uint64_t>(std::max(find_type(v.type)->bits, 8)) / 8 * static_cast<uint64_t>(v.vector);
  if (count > kLargestVariable / element)
    throw machine::Unsupported("line " + std::to_string(v.at.line) + ": " + "variable '" + v.name +
                               "' of more than " + std::to_string(kLargestVariable >> 40) + " TiB");
  return count * element;
}

uint64_t align_of(const ptx::Variable& v) {
  if (v.align != 0) return static_cast<uint64_t>(v.align);
  return static_cast<uint64_t>(std::max(find_type(v.type)->bits, 8)) / 8 * static_cast<uint64_t>(v.vector);
}

}  // namespace bitwell::isa
