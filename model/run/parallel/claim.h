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

// The same of pieces: each(visit) calls visit(address, size) for each.
template <class Each>
void claim_each(machine::AccessKind kind, const machine::Region& at, machine::Claims& claims, Each each) {
  if (kind == machine::AccessKind::read && claims.read_at_once(at)) return;
  each([&](uint64_t address, uint64_t size) { claim(kind, at, address, size, claims); });
}

}  // namespace bitwell::run
