// The arithmetic of atomics and reductions in memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitwell::isa {

enum class AtomicOperation : uint8_t { band, bor, bxor, exch, cas, add, inc, dec, min, max };
enum class ElementType : uint8_t { u32, s32, u64, s64, f32, f64, f16, f16x2, bf16, bf16x2, b16, b128 };

// Where it happens. fp32 sums flush subnormals in global memory only (PTX ISA 9.0, atom); a bulk reduction
// does not, and leaves fp64 NaNs as they are (H200).
enum class AtomicPlace : uint8_t { shared, global, bulk };

// What memory holds after `operation` on `old` with b (and c, of cas).
uint64_t atomic_update(AtomicOperation operation, ElementType type, AtomicPlace place, uint64_t old,
                       uint64_t b, uint64_t c);
// Whether several on one place leave the same in any order.
bool commutes(AtomicOperation operation, ElementType type);
size_t bytes_of(ElementType type);

}  // namespace bitwell::isa
