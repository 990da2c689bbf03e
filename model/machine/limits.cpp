#include "model/machine/limits.h"

#include "model/machine/arch.h"

namespace bitwell::machine {

uint64_t max_static_shared(int sm, const std::string& suffix) {
  return suffix == "a" ? arch(sm).shared : 48 << 10;
}

uint64_t max_parameters(int version) { return version >= 81 ? 32764 : 4352; }

}  // namespace bitwell::machine
