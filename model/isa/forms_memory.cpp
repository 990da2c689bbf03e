// Loads, stores, atomics, fences (PTX ISA 9.0, 9.7.9.8 to 9.7.9.20, 9.7.13).
#include <algorithm>
#include <array>
#include <bit>

#include "model/isa/effects.h"
#include "model/isa/forms.h"
#include "model/machine/failure.h"

namespace bitwell::isa {

Space space_of(const ptx::Instruction& i) {
  if (has(i, ".global")) return Space::global;
  if (has(i, ".shared") || has(i, ".shared::cta")) return Space::shared;
  if (has(i, ".shared::cluster")) return Space::cluster;
  if (has(i, ".local")) return Space::local;
  if (has(i, ".param") || has(i, ".param::entry") || has(i, ".param::func")) return Space::param;
  if (has(i, ".const")) return Space::constant;
  return Space::generic;
}

void set_address(Builder& b, Op& op, const ptx::Operand& operand, Space space) {
  const Address address = b.address(operand, space);
  op.a = address.row;
  op.imm = address.offset;
  Space real = space;
  if (space == Space::param && address.space)
    real = *address.space;
  else if (space == Space::param && !b.function().is_entry)
    real = Space::local;
  op.flags |= static_cast<uint16_t>(real);
  if (address.narrow) op.flags |= kNarrowAddress;
}

namespace {

uint16_t register_code(int bits) {
  return static_cast<uint16_t>(std::countr_zero(static_cast<unsigned>(std::max(bits, 16) / 8))
                               << kRegisterShift);
}

size_t vector_length(const ptx::Instruction& i) {
  for (const auto& [text, n] :
       std::array<std::pair<std::string_view, size_t>, 3>{{{".v2", 2}, {".v4", 4}, {".v8", 8}}})
    if (has(i, text)) return n;
  return 1;
}

void check_vector(const Builder& b, const Type& type, size_t n) {
  const size_t bytes = n * static_cast<size_t>(type.bits) / 8;
  if (n > 1 && bytes > 16 && !(bytes == 32 && b.sm() >= 100 && b.version() >= 88 && type.bits >= 32))
    throw Invalid("a vector of " + std::to_string(bytes) + " bytes");
  if (n == 8 && type.bits != 32) throw Invalid("'.v8' needs a 32-bit type");
}

void ld(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const Type& type = b.type(i.modifiers.back());
  if (b.operand_count() != 2) throw Invalid("'" + m.name + "' takes 2 operands");
  Op op;
  op.kind = OpKind::effect;
  op.effect = load;
  op.size = static_cast<uint16_t>(type.bits / 8);
  set_address(b, op, b.operand(1), space_of(i));
  if (type.kind == 's') op.flags |= kSigned;
  const size_t n = vector_length(i);
  check_vector(b, type, n);
  op.count = static_cast<uint16_t>(n);
  std::vector<uint32_t>* list = b.new_list();
  const ptx::Operand& d = b.operand(0);
  if ((d.kind == ptx::OperandKind::vector) != (n > 1) || (n > 1 && d.elements.size() != n))
    throw Invalid("'" + m.name + "' needs a destination of " + std::to_string(n) + " registers");
  int bits = 0;
  for (size_t j = 0; j < n; ++j) {
    const ptx::Operand& element = n > 1 ? d.elements[j] : d;
    const Value v = b.destination(element, type, true, n > 1);
    const int have = v.type == nullptr ? 0 : std::max(v.type->bits, 16);
    if (bits != 0 && have != 0 && have != bits)
      throw machine::Unsupported("'" + m.name + "' into registers of different sizes");
    if (have != 0) bits = have;
    list->push_back(v.row);
  }
  if (bits == 0) bits = std::max(type.bits, 16);
  for (const uint32_t row : *list)  // `_` is written as its neighbours are
    if (!b.rows[row / 128].fixed) b.rows[row / 128].bits = std::max(b.rows[row / 128].bits, bits);
  op.flags |= register_code(bits);
  op.results = list;
  b.emit(op);
}

void st(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const Type& type = b.type(i.modifiers.back());
  if (b.operand_count() != 2) throw Invalid("'" + m.name + "' takes 2 operands");
  Op op;
  op.kind = OpKind::effect;
  op.effect = store;
  op.size = static_cast<uint16_t>(type.bits / 8);
  const Space space = space_of(i);
  if (space == Space::constant) throw Invalid("a store to .const");
  set_address(b, op, b.operand(0), space);
  const size_t n = vector_length(i);
  check_vector(b, type, n);
  op.count = static_cast<uint16_t>(n);
  std::vector<uint32_t>* list = b.new_list();
  const ptx::Operand& s = b.operand(1);
  if ((s.kind == ptx::OperandKind::vector) != (n > 1) || (n > 1 && s.elements.size() != n))
    throw Invalid("'" + m.name + "' needs a source of " + std::to_string(n) + " registers");
  int bits = 0;
  for (size_t j = 0; j < n; ++j) {
    const Value v = b.source(n > 1 ? s.elements[j] : s, type, true);
    const int have = v.type == nullptr ? std::max(type.bits, 16) : std::max(v.type->bits, 16);
    if (bits != 0 && have != bits)
      throw machine::Unsupported("'" + m.name + "' from registers of different sizes");
    bits = have;
    list->push_back(v.row);
  }
  op.flags |= register_code(bits);
  op.sources = list;
  b.emit(op);
}

ElementType element_of(const std::string& type) {
  static constexpr std::array<std::pair<std::string_view, ElementType>, 15> names{
      {{".u32", ElementType::u32},
       {".b32", ElementType::u32},
       {".s32", ElementType::s32},
       {".u64", ElementType::u64},
       {".b64", ElementType::u64},
       {".s64", ElementType::s64},
       {".f32", ElementType::f32},
       {".f64", ElementType::f64},
       {".f16", ElementType::f16},
       {".f16x2", ElementType::f16x2},
       {".bf16", ElementType::bf16},
       {".bf16x2", ElementType::bf16x2},
       {".b16", ElementType::b16},
       {".b128", ElementType::b128},
       {"", ElementType::u32}}};
  for (const auto& [name, e] : names)
    if (name == type) return e;
  throw machine::ModelBug("atomic type " + type);
}

AtomicOperation operation_of(const ptx::Instruction& i) {
  static constexpr std::array<std::pair<std::string_view, AtomicOperation>, 10> names{
      {{".and", AtomicOperation::band},
       {".or", AtomicOperation::bor},
       {".xor", AtomicOperation::bxor},
       {".exch", AtomicOperation::exch},
       {".cas", AtomicOperation::cas},
       {".add", AtomicOperation::add},
       {".inc", AtomicOperation::inc},
       {".dec", AtomicOperation::dec},
       {".min", AtomicOperation::min},
       {".max", AtomicOperation::max}}};
  for (const auto& [name, operation] : names)
    if (has(i, name)) return operation;
  throw machine::ModelBug("atomic operation");
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
  Op op;
  op.kind = OpKind::effect;
  op.effect = atomic;
  op.size = static_cast<uint16_t>(type.bits / 8);
  size_t next = 0;
  op.d =
      returns ? b.destination(b.operand(next++), type, false, true).row : b.new_row(std::max(type.bits, 16));
  const ptx::Operand& place = b.operand(next++);
  set_address(b, op, place, space_of(i));
  op.b = b.source(b.operand(next++), type).row;
  if (operation == AtomicOperation::cas) op.c = b.source(b.operand(next), type).row;
  op.target = static_cast<uint32_t>(operation) | static_cast<uint32_t>(element_of(i.modifiers.back())) << 8;
  b.emit(op);
}

void hint(Builder& b, const Match&) {
  Op op;
  op.kind = OpKind::effect;
  op.effect = nothing;
  b.emit(op);
}

void prefetch(Builder& b, const Match& m) {
  if (b.operand_count() != 1) throw Invalid("'" + m.name + "' takes 1 operand");
  b.address(b.operand(0), space_of(b.instruction()));
  hint(b, m);
}

#define SPACES \
  "[.const,.global,.local,.param,.param::entry,.param::func,.shared,.shared::cta,.shared::cluster]"
#define ST_SPACES "[.global,.local,.param,.param::func,.shared,.shared::cta,.shared::cluster]"
#define STRONG_SPACES "[.global,.shared,.shared::cta,.shared::cluster]"
#define SCOPES "{.cta,.cluster,.gpu,.sys}"
#define TYPES "{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}"
#define EVICTION "[.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate]"
#define PREFETCH "[.L2::64B,.L2::128B,.L2::256B]"
#define ATOM_SPACES "[.global,.shared,.shared::cta,.shared::cluster]"
#define SEMANTICS "[.relaxed,.acquire,.release,.acq_rel]"
#define ATOM_SCOPES "[.cta,.cluster,.gpu,.sys]"
constexpr Form kMemory[] = {
    {"ld[.weak]" SPACES "[.ca,.cg,.cs,.lu,.cv][.v2,.v4,.v8]" TYPES, "*", ld},
    {"ld[.weak]"
     "[.global]" EVICTION PREFETCH "[.v2,.v4,.v8]" TYPES,
     "*", ld, 74},
    {"ld.volatile[.global,.shared,.shared::cta,.shared::cluster,.local,.const]"
     "[.v2,.v4]" TYPES,
     "*", ld},
    {"ld{.relaxed,.acquire}" SCOPES STRONG_SPACES EVICTION PREFETCH "[.v2,.v4]" TYPES, "*", ld, 60},
    {"ld.global[.ca,.cg,.cs].nc"
     "[.v2,.v4,.v8]" TYPES,
     "*", ld},
    {"ld.global.nc" EVICTION PREFETCH "[.v2,.v4,.v8]" TYPES, "*", ld, 74},
    {"ldu[.global][.v2,.v4]" TYPES, "*", ld},
    {"st[.weak]" ST_SPACES "[.wb,.cg,.cs,.wt][.v2,.v4,.v8]" TYPES, "*", st},
    {"st[.weak][.global]" EVICTION "[.v2,.v4,.v8]" TYPES, "*", st, 74},
    {"st.volatile[.global,.shared,.shared::cta,.shared::cluster,.local]"
     "[.v2,.v4]" TYPES,
     "*", st},
    {"st{.relaxed,.release}" SCOPES STRONG_SPACES EVICTION "[.v2,.v4]" TYPES, "*", st, 60},
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
    {"membar{.cta,.gl,.sys}", "", hint},
    {"fence[.sc,.acq_rel]{.cta,.cluster,.gpu,.sys}", "", hint, 60},
    {"fence.proxy.async[.global,.shared::cta,.shared::cluster]", "", hint, 80, 90},
    {"fence.mbarrier_init.release.cluster", "", hint, 80, 90},
    {"prefetch[.global,.local]{.L1,.L2}", "*", prefetch},
    {"prefetchu.L1", "*", prefetch},
    {"prefetch[.param,.const].tensormap", "*", prefetch, 80, 90},
    {"nanosleep.u32", "s:u32", hint, 63},
};

}  // namespace

std::span<const Form> memory_forms() { return kMemory; }

}  // namespace bitwell::isa
