// The part of a CTA's shared memory that the system keeps.
#pragma once
#include <cstdint>
#include <string_view>

#include "model/isa/form/program.h"

namespace bitwell::isa {

// It is a shared variable of this name, at offset 0, of each program that asks for its place
// (%reserved_smem_*); other programs are not given it.
inline constexpr std::string_view kReservedShared = "reserved shared memory";

// Of its bytes the first ones, which %reserved_smem_offset_begin and _end lie around, are for the code that
// nvcc links to kernels (cooperative groups of several warps, which count on 0 at a CTA's start); an H200
// gives so many (docs/evidence.md).
inline constexpr uint32_t kReservedForCode = 288;

// Bytes of it in front of what the kernel declares.
inline uint64_t reserved_shared(const Program& program) {
  for (const SharedVariable& v : program.shared_variables)
    if (v.name == kReservedShared) return v.size;
  return 0;
}

}  // namespace bitwell::isa
