// Loads, stores, atomics and fences: what their checks leave to their effects.
#pragma once
#include "model/isa/family/atomic_update.h"
#include "model/isa/form/builder.h"
#include "model/isa/form/memory_use.h"
#include "model/isa/lanes/row_moves.h"

namespace bitwell::isa {

// Check an instruction and emit it, with the registers of its vector and its cache policy, if it has any.
void build_load(Builder& b, const Match& m);           // ld, ldu
void build_store(Builder& b, const Match& m);          // st
void build_atomic(Builder& b, const Match& m);         // atom, red
void build_atomic_vector(Builder& b, const Match& m);  // both, of vectors

// Of a load or a store: how all lanes of a warp are moved at once where they reach a run of bytes.
struct RowUse : MemoryUse {
  // To be called when sizes and count are known.
  void choose_moves() {
    load_rows = row_moves().load(size, register_bytes, is_signed, count);
    load_same = row_moves().load_same(size, register_bytes, is_signed, count);
    store_rows = row_moves().store(size, register_bytes, count);
  }
  LoadRows load_rows = nullptr, load_same = nullptr;
  StoreRows store_rows = nullptr;
};
Next load(const Op& op, run::Context& context, uint32_t mask);   // RowUse; results
Next store(const Op& op, run::Context& context, uint32_t mask);  // RowUse; sources

inline constexpr uint64_t kMostBulkZeros = uint64_t{1} << 24;          // PTX ISA 9.0, 9.7.9.14
Next store_zeros(const Op& op, run::Context& context, uint32_t mask);  // AddressUse; b bytes

inline constexpr size_t kMostAtomics = 8;  // elements of a vector

struct AtomicUse : MemoryUse {
  AtomicOperation operation{};
  ElementType type{};
};
// Read-modify-write of an element a lane, lanes in order: old to d, operands b and c. Of several, each is an
// update by itself: old to results, operands from sources.
Next atomic(const Op& op, run::Context& context, uint32_t mask);

struct FenceUse : Payload {
  Order order;
  uint64_t spaces = 0;         // of a proxy fence, as machine::kFencesShared
  bool mbarrier_init = false;  // fence.mbarrier_init
};

}  // namespace bitwell::isa
