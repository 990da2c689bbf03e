// What loads, stores and atomics say, checked (PTX ISA 9.0, 9.7.9.8 to 9.7.9.12, 9.7.13.6 to 9.7.13.8).
#include <algorithm>
#include <array>

#include "model/isa/family/emit.h"
#include "model/isa/family/memory/memory.h"
#include "model/machine/failure.h"

namespace bitwell::isa {

namespace {

// ld and st are weak unless they say otherwise (PTX ISA 9.0, 9.7.9.8); .volatile is for the whole system.
Order access_order(const ptx::Instruction& i) {
  Order out = order_of(i, {Semantics::weak, ptx::has(i, ".volatile") ? Scope::sys : Scope::cta});
  if (ptx::has(i, ".nc")) out.proxy = Proxy::non_coherent;
  return out;
}

// Whether it is for what threads of other CTAs do meanwhile.
bool may_meet_other_ctas(const Order& order) {
  return order.semantics != Semantics::weak && order.scope != Scope::cta;
}

// Whether a host program may look at what is written meanwhile. Volatile writes of old code are to shared
// memory most often.
bool may_meet_host(const Order& order, Space space) {
  return order.scope == Scope::sys && (order.semantics != Semantics::volatile_ || space == Space::global);
}

size_t vector_length(const ptx::Instruction& i) {
  for (const auto& [text, n] :
       std::array<std::pair<std::string_view, size_t>, 3>{{{".v2", 2}, {".v4", 4}, {".v8", 8}}})
    if (ptx::has(i, text)) return n;
  return 1;
}

void check_vector(const Builder& b, const Type& type, size_t n, Space space) {
  const size_t bytes = n * static_cast<size_t>(type.bits) / 8;
  if (type.bits == 128 && b.version() < 83) throw Invalid("'.b128' needs PTX 8.3");
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

// An instruction of `operands` operands, and behind them the cache policy of one with .L2::cache_hint: 64
// bits that only help the hardware: no byte depends on them (PTX ISA 9.0, 9.7.9.8).
void take_policy(Builder& b, const Match& m, size_t operands) {
  const bool hinted = ptx::has(b.instruction(), ".L2::cache_hint");
  if (b.operand_count() != operands + (hinted ? 1 : 0))
    throw Invalid("'" + m.name + "' takes " + std::to_string(operands + (hinted ? 1 : 0)) + " operands");
  if (!hinted) return;
  b.source(b.operand(operands), b.type(".u64"));
  b.uses().as(Use::Take::hint);
}

// What a load or a store does to memory, at the place that operand number `place` says.
RowUse use_of(Builder& b, Op& op, const Type& type, size_t place, bool loads) {
  const ptx::Instruction& i = b.instruction();
  const Space space = space_of(i);
  const size_t n = vector_length(i);
  RowUse use;
  use.size = static_cast<uint16_t>(type.bits / 8);
  use.is_signed = loads && type.kind == 's';
  use.order = access_order(i);
  set_address(b, op, use, b.operand(place), space);
  b.uses().touch_there({.space = space,
                        .reads = loads,
                        .writes = !loads,
                        .strong = loads && may_meet_other_ctas(use.order),
                        .host = !loads && may_meet_host(use.order, space),
                        .gives = loads,
                        .takes = !loads,
                        .element = static_cast<uint8_t>(use.size),
                        .bytes = static_cast<uint32_t>(n * use.size)});
  check_vector(b, type, n, use.space);
  use.count = static_cast<uint16_t>(n);
  return use;
}

}  // namespace

void build_load(Builder& b, const Match& m) {
  const Type& type = b.type(b.instruction().modifiers.back());
  take_policy(b, m, 2);
  Op op = effect(load);
  RowUse use = use_of(b, op, type, 1, true);
  const size_t n = use.count;
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
  use.choose_moves();
  op.results = list;
  b.payload(op, use);
  b.emit(op);
}

void build_store(Builder& b, const Match& m) {
  const Type& type = b.type(b.instruction().modifiers.back());
  take_policy(b, m, 2);
  if (space_of(b.instruction()) == Space::constant) throw Invalid("a store to .const");
  Op op = effect(store);
  RowUse use = use_of(b, op, type, 0, false);
  const size_t n = use.count;
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
  use.choose_moves();
  op.sources = list;
  b.payload(op, use);
  b.emit(op);
}

void build_atomic(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool returns = i.opcode == "atom";
  const Type& type = b.type(i.modifiers.back());
  const AtomicOperation operation = operation_of(i);
  const size_t want = (returns ? 1u : 0u) + 2 + (operation == AtomicOperation::cas ? 1 : 0);
  take_policy(b, m, want);
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
  b.uses().touch_there({.space = use.space,
                        .reads = true,
                        .writes = true,
                        .atomic = true,
                        .commutes = commutes(operation, element_of(i.modifiers.back())),
                        .host = may_meet_host(use.order, use.space),
                        .gives = returns,
                        .takes = operation == AtomicOperation::exch,
                        .element = static_cast<uint8_t>(use.size),
                        .bytes = use.size});
  op.b = b.source(b.operand(next++), type).row;
  if (operation == AtomicOperation::cas) op.c = b.source(b.operand(next), type).row;
  use.operation = operation;
  use.type = element_of(i.modifiers.back());
  b.payload(op, use);
  b.emit(op);
}

// atom d, [a], b | red [a], b, of vectors in global memory (PTX ISA 9.0, 9.7.13.6 and 9.7.13.8)
void build_atomic_vector(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool returns = i.opcode == "atom";
  const Type& type = b.type(i.modifiers.back());
  take_policy(b, m, returns ? 3 : 2);
  Op op = effect(atomic);
  AtomicUse use;
  use.size = static_cast<uint16_t>(type.bits / 8);
  use.count = static_cast<uint16_t>(vector_length(i));
  use.order = order_of(i, {Semantics::relaxed, Scope::gpu});
  use.operation = operation_of(i);
  use.type = element_of(i.modifiers.back());
  const size_t place = returns ? 1 : 0;
  set_address(b, op, use, b.operand(place), space_of(i));
  b.uses().touch_there({.space = use.space,
                        .reads = true,
                        .writes = true,
                        .atomic = true,
                        .host = may_meet_host(use.order, use.space),
                        .gives = returns,
                        .element = static_cast<uint8_t>(use.size),
                        .bytes = static_cast<uint32_t>(use.size) * use.count});
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

}  // namespace bitwell::isa
