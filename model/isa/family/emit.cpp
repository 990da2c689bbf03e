#include "model/isa/family/emit.h"

#include <algorithm>
#include <array>

#include "model/isa/lanes/soft.h"
#include "model/isa/lanes/tracks.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

__extension__ typedef unsigned __int128 u128;

// Carry chains: imm holds the operation. The carry is a row of 0 or 1, in e (in) and d2 (out).
enum CarryBits : uint64_t { kSubtract = 1, kMultiplyLow = 2, kMultiplyHigh = 4, kSigned = 8, kWide = 16 };

void carry_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  const bool wide = (op.imm & kWide) != 0;
  const int bits = wide ? 64 : 32;
  const auto read = [&](uint32_t row, int lane) -> uint64_t {
    return wide ? reinterpret_cast<const uint64_t*>(rows + row)[lane]
                : reinterpret_cast<const uint32_t*>(rows + row)[lane];
  };
  const auto* in = reinterpret_cast<const uint32_t*>(rows + op.e);
  auto* out = reinterpret_cast<uint32_t*>(rows + op.d2);
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    u128 a = read(op.a, lane);
    uint64_t b = read(op.b, lane);
    if ((op.imm & (kMultiplyLow | kMultiplyHigh)) != 0) {
      u128 product = a * b;
      if ((op.imm & kSigned) != 0) {
        __extension__ typedef __int128 s128;
        const auto extend = [&](uint64_t v) {
          return static_cast<s128>(wide ? static_cast<int64_t>(v) : static_cast<int32_t>(v));
        };
        product = static_cast<u128>(extend(static_cast<uint64_t>(a)) * extend(b));
      }
      a = (op.imm & kMultiplyHigh) != 0 ? product >> bits : product;
      b = read(op.c, lane);
    }
    const u128 mask_bits = wide ? static_cast<u128>(~uint64_t{0}) : 0xFFFFFFFFu;
    a &= mask_bits;
    const uint32_t carry_in = in[lane] & 1;
    // The flag after a subtraction is the carry of a + ~b + 1, not its borrow (H200: sub.cc then addc).
    const bool subtract = (op.imm & kSubtract) != 0;
    const u128 r = a + (subtract ? ~static_cast<u128>(b) & mask_bits : static_cast<u128>(b)) + carry_in;
    out[lane] = static_cast<uint32_t>(r >> bits & 1);
    if (wide)
      reinterpret_cast<uint64_t*>(rows + op.d)[lane] = static_cast<uint64_t>(r);
    else
      reinterpret_cast<uint32_t*>(rows + op.d)[lane] = static_cast<uint32_t>(r);
  }
}

const number::Format& format_of(const std::string& type, bool& packed) {
  packed = type.ends_with("x2");
  const std::string name = type.substr(1, type.size() - 1 - (packed ? 2 : 0));
  const number::Format* f = number::find_format(name);
  if (f == nullptr) throw machine::ModelBug("format of " + type);
  return *f;
}

}  // namespace

void place_operands(const Builder& b, Op& op) {
  const auto& v = b.values();
  uint32_t* const places[] = {&op.d, &op.a, &op.b, &op.c, &op.e};
  for (size_t i = 0; i < v.size(); ++i) *places[i] = v[i].row;
}

void emit_lanes(Builder& b, const Match& m) {
  Op op = lane_op(m.name);
  place_operands(b, op);
  for (size_t i = 0; i < b.values().size(); ++i)
    if (b.negated(i)) throw Invalid("'!' before an operand of '" + m.name + "'");
  b.emit(op);
}

void need_range(const ptx::Operand& operand, uint64_t least, uint64_t most, uint64_t step, const char* what) {
  const uint64_t v = operand.integer;
  if (operand.kind != ptx::OperandKind::integer || (v >= least && v <= most && v % step == 0)) return;
  throw Invalid(std::string(what) + " is " + std::to_string(static_cast<int64_t>(v)) + ", it must be " +
                (step == 1 ? "" : "a multiple of " + std::to_string(step) + " from ") +
                std::to_string(least) + (most >= INT64_MAX ? " or more" : " to " + std::to_string(most)));
}

number::Mode mode_of(const ptx::Instruction& i) {
  number::Mode m;
  if (ptx::has(i, ".rz") || ptx::has(i, ".rzi")) m.rounding = number::Rounding::toward_zero;
  if (ptx::has(i, ".rm") || ptx::has(i, ".rmi")) m.rounding = number::Rounding::toward_negative;
  if (ptx::has(i, ".rp") || ptx::has(i, ".rpi")) m.rounding = number::Rounding::toward_positive;
  if (ptx::has(i, ".rna")) m.rounding = number::Rounding::nearest_away;
  m.ftz = ptx::has(i, ".ftz");
  m.sat = ptx::has(i, ".sat");
  m.relu = ptx::has(i, ".relu");
  return m;
}

void emit_rounded(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  std::string name = i.opcode == "mad" ? "fma" : i.opcode;
  for (const std::string& modifier : i.modifiers)
    if (modifier != ".rn") name += modifier;
  Op op;
  const auto fast = lanes_catalog().find(name);
  if (fast != lanes_catalog().end()) {
    op.lanes = fast->second;
    track_bits(op, name);
  } else {
    static constexpr std::pair<std::string_view, SoftOperation> operations[] = {
        {"add", SoftOperation::add}, {"sub", SoftOperation::sub},  {"mul", SoftOperation::mul},
        {"fma", SoftOperation::fma}, {"mad", SoftOperation::fma},  {"div", SoftOperation::div},
        {"rcp", SoftOperation::rcp}, {"sqrt", SoftOperation::sqrt}};
    const auto* at = std::find_if(std::begin(operations), std::end(operations),
                                  [&](const auto& o) { return o.first == i.opcode; });
    if (at == std::end(operations)) throw machine::ModelBug("no soft operation for " + m.name);
    bool packed = false;
    const number::Format& format = format_of(i.modifiers.back(), packed);
    op = soft_arithmetic(at->second, format, packed, mode_of(i));
  }
  place_operands(b, op);
  b.emit(op);
}

void emit_carry(Builder& b, const Match&) {
  const ptx::Instruction& i = b.instruction();
  Op op;
  op.lanes = carry_lanes;
  place_operands(b, op);
  const bool in = i.opcode.ends_with('c');
  const bool out = ptx::has(i, ".cc");
  op.e = in ? b.carry_row() : b.constant_row(32, i.opcode == "sub" ? 1 : 0);
  op.d2 = out ? b.carry_row() : b.new_row(32);
  if (in) b.uses().add(Use::Of::reg, Use::Take::data, op.e / 128);
  if (out) b.uses().add(Use::Of::reg, Use::Take::result, op.d2 / 128);
  if (i.opcode.starts_with("sub")) op.imm |= kSubtract;
  if (i.opcode.starts_with("mad")) op.imm |= ptx::has(i, ".lo") ? kMultiplyLow : kMultiplyHigh;
  if (i.modifiers.back()[1] == 's') op.imm |= kSigned;
  if (i.modifiers.back().ends_with("64")) op.imm |= kWide;
  b.emit(op);
}

Space space_of(const ptx::Instruction& i) {
  if (ptx::has(i, ".global")) return Space::global;
  if (ptx::has(i, ".shared") || ptx::has(i, ".shared::cta")) return Space::shared;
  if (ptx::has(i, ".shared::cluster")) return Space::cluster;
  if (ptx::has(i, ".local")) return Space::local;
  if (ptx::has(i, ".param") || ptx::has(i, ".param::entry") || ptx::has(i, ".param::func"))
    return Space::param;
  if (ptx::has(i, ".const")) return Space::constant;
  return Space::generic;
}

void set_address(Builder& b, Op& op, AddressUse& use, const ptx::Operand& operand, Space space) {
  const Address address = b.address(operand, space);
  op.a = address.row;
  use.offset = address.offset;
  use.narrow = address.narrow;
  use.space = space;
  if (space == Space::param && address.space)
    use.space = *address.space;
  else if (space == Space::param && !b.in_entry())
    use.space = Space::local;
}

Touch barrier_touch(Space space, bool operation) {
  return {.space = space, .reads = true, .writes = true, .barrier = true, .operation = operation, .bytes = 8};
}

Order order_of(const ptx::Instruction& i, Order usual) {
  static constexpr std::pair<std::string_view, Semantics> semantics[] = {
      {".weak", Semantics::weak},         {".relaxed", Semantics::relaxed}, {".acquire", Semantics::acquire},
      {".release", Semantics::release},   {".acq_rel", Semantics::acq_rel}, {".sc", Semantics::sc},
      {".volatile", Semantics::volatile_}};
  static constexpr std::pair<std::string_view, Scope> scopes[] = {{".cta", Scope::cta},
                                                                  {".cluster", Scope::cluster},
                                                                  {".gpu", Scope::gpu},
                                                                  {".gl", Scope::gpu},
                                                                  {".sys", Scope::sys}};
  for (const auto& [name, s] : semantics)
    if (ptx::has(i, name)) usual.semantics = s;
  for (const auto& [name, s] : scopes)
    if (ptx::has(i, name)) usual.scope = s;
  return usual;
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
    if (ptx::has(i, name)) return operation;
  throw machine::ModelBug("atomic operation");
}

Next nothing(const Op&, run::Context&, uint32_t) { return Next::advance; }

void emit_hint(Builder& b, const Match&) { b.emit(effect_without_memory(b, nothing)); }

Op effect(Effect e, OpKind kind) {
  Op op;
  op.kind = kind;
  op.effect = e;
  return op;
}

Op effect_without_memory(Builder& b, Effect e) {
  b.uses().touch_nothing();
  return effect(e);
}

void operands_left(const Builder& b, const Match& m, size_t used) {
  if (b.operand_count() != used)
    throw Invalid("'" + m.name + "' takes " + std::to_string(used) + " operands here, found " +
                  std::to_string(b.operand_count()));
}

}  // namespace bitwell::isa
