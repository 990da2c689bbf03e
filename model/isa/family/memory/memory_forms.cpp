// Loads, stores, atomics, fences (PTX ISA 9.0, 9.7.9.8 to 9.7.9.20, 9.7.13).
#include "model/isa/family/emit.h"
#include "model/isa/family/memory/memory.h"
#include "model/machine/failure.h"
#include "model/run/context.h"
#include "model/run/turns/synchronised.h"

namespace bitwell::isa {

namespace {

// st.bulk [a], size, 0
void st_bulk(Builder& b, const Match& m) {
  operands_left(b, m, 3);
  Op op = effect(store_zeros);
  auto& use = b.payload<AddressUse>(op);
  set_address(b, op, use, b.operand(0), space_of(b.instruction()));
  b.uses().touch_there({.space = use.space, .writes = true});
  need_range(b.operand(1), 0, kMostBulkZeros, 8, "the size of st.bulk");
  op.b = b.source(b.operand(1), b.type(".u64")).row;
  if (b.constant(b.operand(2)) != 0) throw Invalid("'" + m.name + "' stores 0 and nothing else");
  b.emit(op);
}

// Memory is one here: who watches is told, and nothing else comes of it.
Next fence_memory(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<FenceUse>();
  run::tell_synchronised(use.mbarrier_init ? machine::Synchronisation::Kind::mbarrier_init_fence
                                           : machine::Synchronisation::Kind::fence,
                         context.cta, context.warp, context.split(), mask, use.spaces, use.order);
  return Next::advance;
}

// membar is fence.sc since sm_70, .gl its name of the gpu (PTX ISA 9.0, 9.7.13.5).
void fence(Builder& b, const Match&) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect_without_memory(b, fence_memory);
  auto& use = b.payload<FenceUse>(op);
  use.order = order_of(i, {i.opcode == "membar" ? Semantics::sc : Semantics::acq_rel, Scope::sys});
  use.mbarrier_init = ptx::has(i, ".mbarrier_init");
  // Without a state space it is for all of them; the one-sided ones name shared memory in .sync_restrict.
  if (ptx::has(i, ".async") || ptx::has(i, ".async::generic")) {
    const bool shared =
        ptx::has(i, ".shared::cta") || ptx::has(i, ".shared::cluster") || ptx::has(i, ".async::generic");
    use.order.proxy = Proxy::async;
    use.spaces = ptx::has(i, ".global") ? machine::kFencesGlobal
                 : shared               ? machine::kFencesShared
                                        : machine::kFencesShared | machine::kFencesGlobal;
  }
  b.emit(op);
}

void prefetch(Builder& b, const Match& m) {
  if (b.operand_count() != 1) throw Invalid("'" + m.name + "' takes 1 operand");
  b.address(b.operand(0), space_of(b.instruction()));
  emit_hint(b, m);
}

#define SPACES \
  "[.const,.global,.local,.param,.param::entry,.param::func,.shared,.shared::cta,.shared::cluster]"
#define ST_SPACES "[.global,.local,.param,.param::func,.shared,.shared::cta,.shared::cluster]"
#define STRONG_SPACES "[.global,.shared,.shared::cta,.shared::cluster]"
#define SCOPES "{.cta,.cluster,.gpu,.sys}"
#define TYPES "{.b8,.b16,.b32,.b64,.b128,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}"
#define EVICTION "[.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate]"
#define EVICTION_L2 "{.L2::evict_normal,.L2::evict_first,.L2::evict_last}"
#define PREFETCH "[.L2::64B,.L2::128B,.L2::256B]"
#define ATOM_SPACES "[.global,.shared,.shared::cta,.shared::cluster]"
#define SEMANTICS "[.relaxed,.acquire,.release,.acq_rel]"
#define ATOM_SCOPES "[.cta,.cluster,.gpu,.sys]"
constexpr Form kMemory[] = {
    {"ld[.weak]" SPACES "[.ca,.cg,.cs,.lu,.cv][.v2,.v4,.v8]" TYPES, "*", build_load},
    {"ld[.weak]"
     "[.global]" EVICTION PREFETCH "[.v2,.v4,.v8]" TYPES,
     "*", build_load, 74},
    {"ld.volatile" STRONG_SPACES "[.v2,.v4]" TYPES, "*", build_load},
    {"ld{.relaxed,.acquire}" SCOPES STRONG_SPACES "[.v2,.v4]" TYPES, "*", build_load, 60},
    {"ld{.relaxed,.acquire}" SCOPES "[.global]" EVICTION PREFETCH "[.v2,.v4]" TYPES, "*", build_load, 74},
    {"ld.global[.ca,.cg,.cs].nc"
     "[.v2,.v4,.v8]" TYPES,
     "*", build_load},
    {"ld.global.nc" EVICTION PREFETCH "[.v2,.v4,.v8]" TYPES, "*", build_load, 74},
    {"ld[.weak][.global]" EVICTION EVICTION_L2 PREFETCH "{.v4,.v8}" TYPES, "*", build_load, 88, 100},
    {"ld{.relaxed,.acquire}" SCOPES "[.global]" EVICTION EVICTION_L2 PREFETCH "{.v4,.v8}" TYPES, "*",
     build_load, 88, 100},
    {"ld.global.nc" EVICTION EVICTION_L2 PREFETCH "{.v4,.v8}" TYPES, "*", build_load, 88, 100},
    {"ldu[.global][.v2,.v4]" TYPES, "*", build_load},
    {"st[.weak]" ST_SPACES "[.wb,.cg,.cs,.wt][.v2,.v4,.v8]" TYPES, "*", build_store},
    {"st[.weak][.global]" EVICTION "[.v2,.v4,.v8]" TYPES, "*", build_store, 74},
    {"st.volatile" STRONG_SPACES "[.v2,.v4]" TYPES, "*", build_store},
    {"st{.relaxed,.release}" SCOPES STRONG_SPACES "[.v2,.v4]" TYPES, "*", build_store, 60},
    {"st{.relaxed,.release}" SCOPES "[.global]" EVICTION "[.v2,.v4]" TYPES, "*", build_store, 74},
    {"st[.weak][.global]" EVICTION EVICTION_L2 "{.v4,.v8}" TYPES, "*", build_store, 88, 100},
    {"st{.relaxed,.release}" SCOPES "[.global]" EVICTION EVICTION_L2 "{.v4,.v8}" TYPES, "*", build_store, 88,
     100},
    {"st.bulk|[.weak][.shared::cta]", "*", st_bulk, 86, 100},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.and,.or,.xor}{.b32,.b64}", "*", build_atomic},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.exch}{.b32,.b64,.b128}", "*", build_atomic},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.cas}{.b16,.b32,.b64,.b128}", "*", build_atomic},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.add}{.u32,.s32,.u64,.f32,.f64}", "*", build_atomic},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.f16,.f16x2}", "*", build_atomic, 62},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.bf16,.bf16x2}", "*", build_atomic, 78, 90},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.inc,.dec}.u32", "*", build_atomic},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.min,.max}{.u32,.s32,.u64,.s64}", "*", build_atomic},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.and,.or,.xor}{.b32,.b64}", "*", build_atomic},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.add}{.u32,.s32,.u64,.f32,.f64}", "*", build_atomic},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.f16,.f16x2}", "*", build_atomic, 62},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.bf16,.bf16x2}", "*", build_atomic, 78,
     90},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.inc,.dec}.u32", "*", build_atomic},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.min,.max}{.u32,.s32,.u64,.s64}", "*", build_atomic},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add{.v2,.v4}.f32", "*", build_atomic_vector, 81, 90},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz{.v2,.v4,.v8}{.f16,.bf16}", "*", build_atomic_vector,
     81, 90},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz{.v2,.v4}{.f16x2,.bf16x2}", "*", build_atomic_vector,
     81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add{.v2,.v4}.f32", "*", build_atomic_vector, 81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz{.v2,.v4,.v8}{.f16,.bf16}", "*",
     build_atomic_vector, 81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz{.v2,.v4}{.f16x2,.bf16x2}", "*",
     build_atomic_vector, 81, 90},
    {"membar{.cta,.gl,.sys}", "", fence},
    {"fence[.sc,.acq_rel]{.cta,.cluster,.gpu,.sys}", "", fence, 60},
    {"fence.proxy|.async[.global,.shared::cta,.shared::cluster]", "", fence, 80, 90},
    {"fence{.acquire,.release}{.cta,.cluster,.gpu,.sys}", "", fence, 86, 90},
    {"fence.acquire.sync_restrict::shared::cluster.cluster", "", fence, 86, 90},
    {"fence.release.sync_restrict::shared::cta.cluster", "", fence, 86, 90},
    {"fence.proxy|.alias", "", fence, 75, 70},
    {"fence.proxy|.async::generic.acquire.sync_restrict::shared::cluster.cluster", "", fence, 86, 90},
    {"fence.proxy|.async::generic.release.sync_restrict::shared::cta.cluster", "", fence, 86, 90},
    {"fence.mbarrier_init.release.cluster", "", fence, 80, 90},
    {"prefetch[.global,.local]{.L1,.L2}", "*", prefetch},
    {"prefetchu.L1", "*", prefetch},
    {"prefetch[.param,.const].tensormap", "*", prefetch, 80, 90},
    {"nanosleep.u32", "s:u32", emit_hint, 63},
};

// The same with a cache policy behind the operands, and prefetches with a cache operation.
#define HINT ".L2::cache_hint"
constexpr Form kHinted[] = {
    {"ld[.weak][.global][.ca,.cg,.cs,.lu,.cv]" HINT PREFETCH "[.v2,.v4,.v8]" TYPES, "*", build_load, 74, 80},
    {"ld[.weak][.global]" EVICTION HINT PREFETCH "[.v2,.v4,.v8]" TYPES, "*", build_load, 74, 80},
    {"ld{.relaxed,.acquire}" SCOPES "[.global]" EVICTION HINT PREFETCH "[.v2,.v4]" TYPES, "*", build_load, 74,
     80},
    {"ld.global[.ca,.cg,.cs]" HINT ".nc" PREFETCH "[.v2,.v4,.v8]" TYPES, "*", build_load, 74, 80},
    {"ld.global.nc" EVICTION HINT PREFETCH "[.v2,.v4,.v8]" TYPES, "*", build_load, 74, 80},
    {"ld[.weak][.global]" EVICTION EVICTION_L2 HINT PREFETCH "{.v4,.v8}" TYPES, "*", build_load, 88, 100},
    {"ld{.relaxed,.acquire}" SCOPES "[.global]" EVICTION EVICTION_L2 HINT PREFETCH "{.v4,.v8}" TYPES, "*",
     build_load, 88, 100},
    {"ld.global.nc" EVICTION EVICTION_L2 HINT PREFETCH "{.v4,.v8}" TYPES, "*", build_load, 88, 100},
    {"ld[.weak][.global]{.ca,.cg,.cs,.lu,.cv}" PREFETCH "[.v2,.v4,.v8]" TYPES, "*", build_load, 74},
    {"ld.global{.ca,.cg,.cs}.nc" PREFETCH "[.v2,.v4,.v8]" TYPES, "*", build_load, 74},
    {"st[.weak][.global][.wb,.cg,.cs,.wt]" HINT "[.v2,.v4,.v8]" TYPES, "*", build_store, 74, 80},
    {"st[.weak][.global]" EVICTION HINT "[.v2,.v4,.v8]" TYPES, "*", build_store, 74, 80},
    {"st{.relaxed,.release}" SCOPES "[.global]" EVICTION HINT "[.v2,.v4]" TYPES, "*", build_store, 74, 80},
    {"st[.weak][.global]" EVICTION EVICTION_L2 HINT "{.v4,.v8}" TYPES, "*", build_store, 88, 100},
    {"st{.relaxed,.release}" SCOPES "[.global]" EVICTION EVICTION_L2 HINT "{.v4,.v8}" TYPES, "*", build_store,
     88, 100},
    {"atom" SEMANTICS ATOM_SCOPES "[.global]{.and,.or,.xor}" HINT "{.b32,.b64}", "*", build_atomic, 74, 80},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].exch" HINT "{.b32,.b64,.b128}", "*", build_atomic, 74, 80},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add" HINT "{.u32,.s32,.u64,.f32,.f64}", "*", build_atomic, 74,
     80},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz" HINT "{.f16,.f16x2}", "*", build_atomic, 74, 80},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz" HINT "{.bf16,.bf16x2}", "*", build_atomic, 78, 90},
    {"atom" SEMANTICS ATOM_SCOPES "[.global]{.inc,.dec}" HINT ".u32", "*", build_atomic, 74, 80},
    {"atom" SEMANTICS ATOM_SCOPES "[.global]{.min,.max}" HINT "{.u32,.s32,.u64,.s64}", "*", build_atomic, 74,
     80},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global]{.and,.or,.xor}" HINT "{.b32,.b64}", "*", build_atomic,
     74, 80},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add" HINT "{.u32,.s32,.u64,.f32,.f64}", "*",
     build_atomic, 74, 80},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz" HINT "{.f16,.f16x2}", "*", build_atomic, 74,
     80},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz" HINT "{.bf16,.bf16x2}", "*", build_atomic, 78,
     90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global]{.inc,.dec}" HINT ".u32", "*", build_atomic, 74, 80},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global]{.min,.max}" HINT "{.u32,.s32,.u64,.s64}", "*",
     build_atomic, 74, 80},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add" HINT "{.v2,.v4}.f32", "*", build_atomic_vector, 81, 90},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz" HINT "{.v2,.v4,.v8}{.f16,.bf16}", "*",
     build_atomic_vector, 81, 90},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz" HINT "{.v2,.v4}{.f16x2,.bf16x2}", "*",
     build_atomic_vector, 81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add" HINT "{.v2,.v4}.f32", "*", build_atomic_vector, 81,
     90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz" HINT "{.v2,.v4,.v8}{.f16,.bf16}", "*",
     build_atomic_vector, 81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz" HINT "{.v2,.v4}{.f16x2,.bf16x2}", "*",
     build_atomic_vector, 81, 90},
};
#undef SPACES
#undef ST_SPACES
#undef STRONG_SPACES
#undef SCOPES
#undef TYPES
#undef EVICTION
#undef EVICTION_L2
#undef PREFETCH
#undef ATOM_SPACES
#undef SEMANTICS
#undef ATOM_SCOPES
#undef HINT

}  // namespace

std::span<const Form> memory_forms() { return kMemory; }
std::span<const Form> hinted_memory_forms() { return kHinted; }

}  // namespace bitwell::isa
