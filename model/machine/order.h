// What an access or a fence orders, for whom, and through which proxy (PTX ISA 9.0, 8.2 and 9.7.13.5).
#pragma once
#include <cstdint>

namespace bitwell::machine {

enum class Semantics : uint8_t { weak, relaxed, acquire, release, acq_rel, sc, volatile_ };
enum class Scope : uint8_t { cta, cluster, gpu, sys };
enum class Proxy : uint8_t { generic, async, tensor_map, non_coherent };  // the last: ld.global.nc
struct Order {
  Semantics semantics = Semantics::weak;
  Scope scope = Scope::cta;  // of what is not weak
  Proxy proxy = Proxy::generic;

  bool operator==(const Order&) const = default;
};

}  // namespace bitwell::machine
