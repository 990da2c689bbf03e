// An access to memory of a cluster that runs beside others.
#pragma once
#include "model/machine/event.h"
#include "model/run/parallel/parallel.h"

namespace bitwell::run {

// To be called before it.
inline void claim(machine::AccessKind kind, const machine::Region& at, uint64_t address, uint64_t size,
                  machine::Claims& claims) {
  if (kind != machine::AccessKind::write) claims.read(at, address, size);
  if (kind != machine::AccessKind::read) claims.write(at, address, size);
}

}  // namespace bitwell::run
