// Loads, stores, atomics, fences (PTX ISA 9.0, 9.7.9.8 to 9.7.9.20, 9.7.13).
#include <algorithm>
#include <array>

#include "model/isa/family/emit.h"
#include "model/isa/family/memory.h"
#include "model/machine/failure.h"
#include "model/run/context.h"
#include "model/run/synchronised.h"

namespace bitwell::isa {

namespace {

// ld and st are weak unless they say otherwise (PTX ISA 9.0, 9.7.9.8); .volatile is for the whole system.
Order access_order(const ptx::Instruction& i) {
  Order out = order_of(i, {Semantics::weak, has(i, ".volatile") ? Scope::sys : Scope::cta});
  if (has(i, ".nc")) out.proxy = Proxy::non_coherent;
  return out;
}

size_t vector_length(const ptx::Instruction& i) {
  for (const auto& [text, n] :
       std::array<std::pair<std::string_view, size_t>, 3>{{{".v2", 2}, {".v4", 4}, {".v8", 8}}})
    if (has(i, text)) return n;
  return 1;
}

void check_vector(const Builder& b, const Type& type, size_t n, Space space) {
  const size_t bytes = n * static_cast<size_t>(type.bits) / 8;
  if (type.bits == 128 && (b.version() < 83 || b.sm() < 70)) throw Invalid("'.b128' needs PTX 8.3 and sm_70");
  if (n > 1 && bytes > 16 &&
      !(bytes == 32 && type.bits <= 64 && b.sm() >= 100 && b.version() >= 88 && type.bits >= 32))
    throw Invalid("a vector of " + std::to_string(bytes) + " bytes");
  if (n > 1 && bytes > 16 &&
      ((space != Space::global && space != Space::generic) || b.instruction().opcode == "ldu"))
    throw Invalid("a vector of " + std::to_string(bytes) + " bytes needs ld or st of .global");
  if (n == 8 && type.bits != 32) throw Invalid("'.v8' needs a 32-bit type");
  const std::vector<std::string>& modifiers = b.instruction().modifiers;
  const bool l2 = std::any_of(modifiers.begin(), modifiers.end(),
                              [](const std::string& m) { return m.starts_with(".L2::evict_"); });
  if (l2 && bytes != 32) throw Invalid("an L2 eviction priority needs a vector of 32 bytes");
}

// The registers that an operand names: a vector of `n`, or for one the register itself too.
std::vector<const ptx::Operand*> registers_of(const ptx::Operand& o, size_t n, const Match& m,
                                              const char* what) {
  const bool vector = o.kind == ptx::OperandKind::vector;
  if (vector ? o.elements.size() != n : n > 1)
    throw Invalid("'" + m.name + "' needs " + what + " of " + std::to_string(n) + " registers");
  if (!vector) return {&o};
  std::vector<const ptx::Operand*> out;
  for (const ptx::Operand& e : o.elements) out.push_back(&e);
  return out;
}

void ld(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const Type& type = b.type(i.modifiers.back());
  if (b.operand_count() != 2) throw Invalid("'" + m.name + "' takes 2 operands");
  Op op = effect(load);
  MemoryUse use;
  use.size = static_cast<uint16_t>(type.bits / 8);
  use.is_signed = type.kind == 's';
  use.order = access_order(i);
  set_address(b, op, use, b.operand(1), space_of(i));
  const size_t n = vector_length(i);
  check_vector(b, type, n, use.space);
  use.count = static_cast<uint16_t>(n);
  std::vector<uint32_t>* list = b.new_list();
  int bits = 0;
  for (const ptx::Operand* element : registers_of(b.operand(0), n, m, "a destination")) {
    const Value v = b.destination(*element, type, true, n > 1);
    const int have = v.type == nullptr ? 0 : std::max(v.type->bits, 16);
    if (bits != 0 && have != 0 && have != bits)
      throw machine::Unsupported("'" + m.name + "' into registers of different sizes");
    if (have != 0) bits = have;
    list->push_back(v.row);
  }
  if (bits == 0) bits = std::max(type.bits, 16);
  for (const uint32_t row : *list) b.widen(row, bits);  // `_` is written as its neighbours are
  use.register_bytes = static_cast<uint8_t>(std::max(bits, 16) / 8);
  op.results = list;
  b.payload(op, use);
  b.emit(op);
}

void st(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const Type& type = b.type(i.modifiers.back());
  if (b.operand_count() != 2) throw Invalid("'" + m.name + "' takes 2 operands");
  Op op = effect(store);
  MemoryUse use;
  use.size = static_cast<uint16_t>(type.bits / 8);
  use.order = access_order(i);
  const Space space = space_of(i);
  if (space == Space::constant) throw Invalid("a store to .const");
  set_address(b, op, use, b.operand(0), space);
  const size_t n = vector_length(i);
  check_vector(b, type, n, use.space);
  use.count = static_cast<uint16_t>(n);
  std::vector<uint32_t>* list = b.new_list();
  int bits = 0;
  for (const ptx::Operand* element : registers_of(b.operand(1), n, m, "a source")) {
    const Value v = b.source(*element, type, true);
    const int have = v.type == nullptr ? std::max(type.bits, 16) : std::max(v.type->bits, 16);
    if (bits != 0 && have != bits)
      throw machine::Unsupported("'" + m.name + "' from registers of different sizes");
    bits = have;
    list->push_back(v.row);
  }
  use.register_bytes = static_cast<uint8_t>(std::max(bits, 16) / 8);
  op.sources = list;
  b.payload(op, use);
  b.emit(op);
}

// st.bulk [a], size, 0
void st_bulk(Builder& b, const Match& m) {
  operands_left(b, m, 3);
  Op op = effect(store_zeros);
  auto& use = b.payload<AddressUse>(op);
  set_address(b, op, use, b.operand(0), space_of(b.instruction()));
  need_range(b.operand(1), 0, kMostBulkZeros, 8, "the size of st.bulk");
  op.b = b.source(b.operand(1), b.type(".u64")).row;
  if (b.constant(b.operand(2)) != 0) throw Invalid("'" + m.name + "' stores 0 and nothing else");
  b.emit(op);
}

void atom(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool returns = i.opcode == "atom";
  const Type& type = b.type(i.modifiers.back());
  const AtomicOperation operation = operation_of(i);
  const size_t want = (returns ? 1u : 0u) + 2 + (operation == AtomicOperation::cas ? 1 : 0);
  if (b.operand_count() != want)
    throw Invalid("'" + m.name + "' takes " + std::to_string(want) + " operands");
  if (type.bits == 128) throw machine::Unsupported("'" + m.name + "': 128-bit atomics");
  Op op = effect(atomic);
  AtomicUse use;
  use.size = static_cast<uint16_t>(type.bits / 8);
  use.order = order_of(i, {Semantics::relaxed, Scope::gpu});  // PTX ISA 9.0, 9.7.13.6
  size_t next = 0;
  op.d =
      returns ? b.destination(b.operand(next++), type, false, true).row : b.new_row(std::max(type.bits, 16));
  const ptx::Operand& place = b.operand(next++);
  set_address(b, op, use, place, space_of(i));
  op.b = b.source(b.operand(next++), type).row;
  if (operation == AtomicOperation::cas) op.c = b.source(b.operand(next), type).row;
  use.operation = operation;
  use.type = element_of(i.modifiers.back());
  b.payload(op, use);
  b.emit(op);
}

// atom d, [a], b | red [a], b, of vectors in global memory (PTX ISA 9.0, 9.7.13.6 and 9.7.13.8)
void atom_vector(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool returns = i.opcode == "atom";
  const Type& type = b.type(i.modifiers.back());
  operands_left(b, m, returns ? 3 : 2);
  Op op = effect(atomic);
  AtomicUse use;
  use.size = static_cast<uint16_t>(type.bits / 8);
  use.count = static_cast<uint16_t>(vector_length(i));
  use.order = order_of(i, {Semantics::relaxed, Scope::gpu});
  use.operation = operation_of(i);
  use.type = element_of(i.modifiers.back());
  const size_t place = returns ? 1 : 0;
  set_address(b, op, use, b.operand(place), space_of(i));
  std::vector<uint32_t>* before = b.new_list();
  std::vector<uint32_t>* operands = b.new_list();
  if (returns) {
    for (const ptx::Operand* o : registers_of(b.operand(0), use.count, m, "a destination"))
      before->push_back(b.destination(*o, type, false, true).row);
  } else {
    for (size_t n = 0; n < use.count; ++n) before->push_back(b.new_row(std::max(type.bits, 16)));
  }
  for (const ptx::Operand* o : registers_of(b.operand(place + 1), use.count, m, "a source"))
    operands->push_back(b.source(*o, type).row);
  op.results = before;
  op.sources = operands;
  b.payload(op, use);
  b.emit(op);
}

// Memory is one here: who watches is told, and nothing else comes of it.
Next fence_memory(const Op& op, Context& context, uint32_t mask) {
  const auto& use = op.as<FenceUse>();
  tell_synchronised(
      use.mbarrier_init ? Synchronisation::Kind::mbarrier_init_fence : Synchronisation::Kind::fence,
      context.cta, context.warp, context.split(), mask, use.spaces, use.order);
  return Next::advance;
}

// membar is fence.sc since sm_70, .gl its name of the gpu (PTX ISA 9.0, 9.7.13.5).
void fence(Builder& b, const Match&) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(fence_memory);
  auto& use = b.payload<FenceUse>(op);
  use.order = order_of(i, {i.opcode == "membar" ? Semantics::sc : Semantics::acq_rel, Scope::sys});
  use.mbarrier_init = has(i, ".mbarrier_init");
  // Without a state space it is for all of them; the one-sided ones name shared memory in .sync_restrict.
  if (has(i, ".async") || has(i, ".async::generic")) {
    const bool shared = has(i, ".shared::cta") || has(i, ".shared::cluster") || has(i, ".async::generic");
    use.order.proxy = Proxy::async;
    use.spaces = has(i, ".global") ? machine::kFencesGlobal
                 : shared          ? machine::kFencesShared
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
    {"ld[.weak]" SPACES "[.ca,.cg,.cs,.lu,.cv][.v2,.v4,.v8]" TYPES, "*", ld},
    {"ld[.weak]"
     "[.global]" EVICTION PREFETCH "[.v2,.v4,.v8]" TYPES,
     "*", ld, 74},
    {"ld.volatile" STRONG_SPACES "[.v2,.v4]" TYPES, "*", ld},
    {"ld{.relaxed,.acquire}" SCOPES STRONG_SPACES "[.v2,.v4]" TYPES, "*", ld, 60},
    {"ld{.relaxed,.acquire}" SCOPES "[.global]" EVICTION PREFETCH "[.v2,.v4]" TYPES, "*", ld, 74},
    {"ld.global[.ca,.cg,.cs].nc"
     "[.v2,.v4,.v8]" TYPES,
     "*", ld},
    {"ld.global.nc" EVICTION PREFETCH "[.v2,.v4,.v8]" TYPES, "*", ld, 74},
    {"ld[.weak][.global]" EVICTION EVICTION_L2 PREFETCH "{.v4,.v8}" TYPES, "*", ld, 88, 100},
    {"ld{.relaxed,.acquire}" SCOPES "[.global]" EVICTION EVICTION_L2 PREFETCH "{.v4,.v8}" TYPES, "*", ld, 88,
     100},
    {"ld.global.nc" EVICTION EVICTION_L2 PREFETCH "{.v4,.v8}" TYPES, "*", ld, 88, 100},
    {"ldu[.global][.v2,.v4]" TYPES, "*", ld},
    {"st[.weak]" ST_SPACES "[.wb,.cg,.cs,.wt][.v2,.v4,.v8]" TYPES, "*", st},
    {"st[.weak][.global]" EVICTION "[.v2,.v4,.v8]" TYPES, "*", st, 74},
    {"st.volatile" STRONG_SPACES "[.v2,.v4]" TYPES, "*", st},
    {"st{.relaxed,.release}" SCOPES STRONG_SPACES "[.v2,.v4]" TYPES, "*", st, 60},
    {"st{.relaxed,.release}" SCOPES "[.global]" EVICTION "[.v2,.v4]" TYPES, "*", st, 74},
    {"st[.weak][.global]" EVICTION EVICTION_L2 "{.v4,.v8}" TYPES, "*", st, 88, 100},
    {"st{.relaxed,.release}" SCOPES "[.global]" EVICTION EVICTION_L2 "{.v4,.v8}" TYPES, "*", st, 88, 100},
    {"st.bulk|[.weak][.shared::cta]", "*", st_bulk, 86, 100},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.and,.or,.xor}{.b32,.b64}", "*", atom},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.exch}{.b32,.b64,.b128}", "*", atom},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.cas}{.b16,.b32,.b64,.b128}", "*", atom},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.add}{.u32,.s32,.u64,.f32,.f64}", "*", atom},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.f16,.f16x2}", "*", atom, 62},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.bf16,.bf16x2}", "*", atom, 78, 90},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.inc,.dec}.u32", "*", atom},
    {"atom" SEMANTICS ATOM_SCOPES ATOM_SPACES "{.min,.max}{.u32,.s32,.u64,.s64}", "*", atom},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.and,.or,.xor}{.b32,.b64}", "*", atom},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.add}{.u32,.s32,.u64,.f32,.f64}", "*", atom},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.f16,.f16x2}", "*", atom, 62},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.add}.noftz{.bf16,.bf16x2}", "*", atom, 78, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.inc,.dec}.u32", "*", atom},
    {"red[.relaxed,.release]" ATOM_SCOPES ATOM_SPACES "{.min,.max}{.u32,.s32,.u64,.s64}", "*", atom},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add{.v2,.v4}.f32", "*", atom_vector, 81, 90},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz{.v2,.v4,.v8}{.f16,.bf16}", "*", atom_vector, 81, 90},
    {"atom" SEMANTICS ATOM_SCOPES "[.global].add.noftz{.v2,.v4}{.f16x2,.bf16x2}", "*", atom_vector, 81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add{.v2,.v4}.f32", "*", atom_vector, 81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz{.v2,.v4,.v8}{.f16,.bf16}", "*", atom_vector,
     81, 90},
    {"red[.relaxed,.release]" ATOM_SCOPES "[.global].add.noftz{.v2,.v4}{.f16x2,.bf16x2}", "*", atom_vector,
     81, 90},
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

}  // namespace

std::span<const Form> memory_forms() { return kMemory; }

}  // namespace bitwell::isa
