// mov, cvta, isspacep (PTX ISA 9.0, 9.7.9).
#include "model/isa/family/emit.h"
#include "model/isa/form/explicit_cluster.h"
#include "model/machine/failure.h"
#include "model/machine/memory/memory.h"
#include "model/run/context.h"

namespace bitwell::isa {
namespace {

void mov_vector(Builder& b, const Type& type) {
  const ptx::Operand& left = b.operand(0);
  const ptx::Operand& right = b.operand(1);
  const bool unpack = left.kind == ptx::OperandKind::vector;
  const ptx::Operand& vector = unpack ? left : right;
  const size_t n = vector.elements.size();
  if ((n != 2 && n != 4) || type.kind == 'f' || type.bits / static_cast<int>(n) < 8)
    throw Invalid("a vector of " + std::to_string(n) + " does not make up " + std::string(type.name));
  if (unpack && right.kind == ptx::OperandKind::vector) throw Invalid("vectors on both sides of 'mov'");
  if (type.kind != 'b')
    throw Invalid("'mov" + std::string(type.name) + "' of a vector needs an untyped size");
  const Type& element = b.type(".b" + std::to_string(type.bits / static_cast<int>(n)));
  b.uses().carry(Carry::any);
  Op op = lane_op((unpack ? "unpack." : "pack.") + std::to_string(type.bits) + "." + std::to_string(n));
  std::vector<uint32_t>* list = b.new_list();
  for (const ptx::Operand& e : vector.elements)
    list->push_back(unpack ? b.destination(e, element, false, true).row : b.source(e, element).row);
  if (unpack) {
    op.results = list;
    op.a = b.source(right, type).row;
  } else {
    op.sources = list;
    op.d = b.destination(left, type).row;
  }
  b.emit(op);
}

// A vector of one is its register.
const ptx::Operand& alone(const ptx::Operand& o) {
  return o.kind == ptx::OperandKind::vector && o.elements.size() == 1 ? o.elements[0] : o;
}

// mov.type d, a | d, vector | vector, a | d, symbol
void mov(Builder& b, const Match& m) {
  const Type& type = b.type(m.choice[0]);
  if (b.operand_count() != 2) throw Invalid("'mov' takes 2 operands");
  if (type.kind == 'p') {
    bool negated = false;
    Op op = lane_op("mov.pred");
    op.d = b.predicate(b.operand(0), true, negated).row;
    const ptx::Operand& from = b.operand(1);
    if (from.name == kExplicitCluster && !b.is_predicate(from.name)) {
      const uint32_t to = op.d;
      op = lane_op("setp.ne.u32");
      op.d = to;
      op.a = b.special_row(32, Special::is_explicit_cluster);
      b.uses().add(Use::Of::special, Use::Take::data);
      op.b = b.constant_row(32, 0);
      negated = from.negated;
    } else if (from.kind == ptx::OperandKind::integer) {
      op.a = b.constant_row(32, from.integer != 0 ? ~uint32_t{0} : 0);
      b.uses().add_constant(Use::Take::data, from.integer);
    } else {
      op.a = b.predicate(from, false, negated).row;
    }
    if (negated) throw Invalid("'!' before an operand of 'mov'");
    b.uses().carry(Carry::copy);
    b.emit(op);
    return;
  }
  const ptx::Operand& from = alone(b.operand(1));
  const ptx::Operand& to = alone(b.operand(0));
  if (to.kind == ptx::OperandKind::vector || from.kind == ptx::OperandKind::vector)
    return mov_vector(b, type);
  if (type.bits == 128 && from.kind != ptx::OperandKind::name)
    throw machine::Unsupported("'mov.b128' of a constant");
  Op op = lane_op("mov.b" + std::to_string(type.bits));
  op.d = b.destination(to, type).row;
  b.uses().carry(Carry::copy);
  const bool name = from.kind == ptx::OperandKind::name && from.suffix.empty();
  // Unlike arithmetic, mov's immediate may be of either kind for untyped sizes.
  if (const auto v = name ? b.find_variable(from.name) : std::nullopt) {
    if (type.kind == 'f' || type.bits < 32)
      throw Invalid("an address does not fit " + std::string(type.name));
    if (v->argument) throw Invalid("the address of parameter '" + from.name + "' cannot be taken");
    b.name_variable(from.name, Use::Take::data);
    if (type.bits == 32 && v->space == Space::global)
      throw machine::Unsupported("a 32-bit address of .global variable '" + from.name + "'");
    if (v->space == Space::local) {
      Op add = lane_op("add.u64");
      add.a = b.special_row(64, Special::local_base);
      add.b = b.constant_row(64, v->address + from.integer);
      add.d = type.bits == 64 ? op.d : b.new_row(64);
      b.emit(add);
      if (type.bits == 64) return;
      const uint32_t narrow = op.d;
      op = lane_op("cvt.u32.u64");
      op.a = add.d;
      op.d = narrow;
    } else {
      op.a = b.address_row(type.bits, *v, from.integer);
    }
  } else if (const int f = name && from.integer == 0 ? b.find_function(from.name) : -1; f >= 0) {
    if (type.bits == 32 && type.kind != 'f')
      throw machine::Unsupported("a 32-bit address of function '" + from.name + "'");
    if (type.kind == 'f' || type.bits != 64)
      throw Invalid("a function's address does not fit " + std::string(type.name));
    if (!b.function(f).has_body)
      throw machine::Unsupported("the address of '" + from.name + "', which has no body");
    b.uses().add(Use::Of::function, Use::Take::data, static_cast<uint32_t>(f));
    op.a = b.constant_row(64, kFunctionWindow + static_cast<uint64_t>(f));
  } else {
    op.a = b.source(from, type).row;
  }
  b.emit(op);
}

uint64_t window_of(const std::string& space) {
  if (space == ".global") return 0;
  if (space == ".const") return 0;  // const variables have their window's address already
  if (space.starts_with(".shared")) return machine::kSharedWindow;
  if (space == ".local") return machine::kLocalWindow;
  return machine::kParamWindow;
}

// cvta[.to].space.u64 d, a | d, variable[+n]
void cvta(Builder& b, const Match& m) {
  const bool to = b.instruction().modifiers[0] == ".to";
  const std::string& space = m.choice[0];
  const Type& type = b.type(".u64");
  if (b.operand_count() != 2) throw Invalid("'cvta' takes 2 operands");
  const ptx::Operand& from = b.operand(1);
  const uint64_t window = window_of(space);
  b.uses().carry(Carry::any);
  Op op = lane_op(to ? "sub.u64" : "add.u64");
  op.d = b.destination(b.operand(0), type).row;
  const auto v = from.kind == ptx::OperandKind::name && !to ? b.find_variable(from.name) : std::nullopt;
  if (v) {
    const Space named = space == ".global"             ? Space::global
                        : space == ".const"            ? Space::constant
                        : space.starts_with(".shared") ? Space::shared
                        : space == ".local"            ? Space::local
                                                       : Space::param;
    if (v->space != named) throw Invalid("variable '" + from.name + "' is not in " + space);
    if (v->space == Space::local) throw machine::Unsupported("'cvta' of a local variable by name");
    b.name_variable(from.name, Use::Take::data);
    op.a = b.address_row(64, *v, from.integer);
  } else {
    op.a = b.source(from, type).row;
  }
  op.b = b.constant_row(64, window);
  b.emit(op);
}

// isspacep.shared::cta
Next is_own_shared(const Op& op, run::Context& context, uint32_t mask) {
  const auto* a = context.row<uint64_t>(op.a);
  uint32_t result = 0;
  for (int i = 0; i < machine::kLanes; ++i) {
    const uint64_t at = a[i] - machine::kSharedWindow;
    const bool in = at < machine::kWindowSize && at >> machine::kRankShift == context.cta.rank;
    result |= static_cast<uint32_t>(in) << i;
  }
  auto* d = context.row<uint32_t>(op.d);
  *d = (*d & ~mask) | (result & mask);
  context.set_known(op.d, mask, context.known_at(op.a, mask));
  return Next::advance;
}

// isspacep of the other spaces; imm: the window, 0: global
void isspacep_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  const auto* a = reinterpret_cast<const uint64_t*>(rows + op.a);
  uint32_t result = 0;
  for (int i = 0; i < machine::kLanes; ++i) {
    const bool in = op.imm == 0 ? machine::is_global(a[i]) : a[i] - op.imm < machine::kWindowSize;
    result |= static_cast<uint32_t>(in) << i;
  }
  auto* d = reinterpret_cast<uint32_t*>(rows + op.d);
  *d = (*d & ~mask) | (result & mask);
}

// isspacep.space p, a
void isspacep(Builder& b, const Match& m) {
  Op op;
  const std::string& space = m.choice[0];
  if (space == ".shared" || space == ".shared::cta") {
    op = effect_without_memory(b, is_own_shared);
  } else {
    op.lanes = isspacep_lanes;
    op.imm = space == ".global"            ? 0
             : space == ".const"           ? machine::kConstWindow
             : space == ".local"           ? machine::kLocalWindow
             : space == ".shared::cluster" ? machine::kSharedWindow
                                           : machine::kParamWindow;
  }
  op.d = b.values()[0].row;
  op.a = b.values()[1].row;
  b.emit(op);
}

constexpr Form kMove[] = {
    {"mov{.b16,.b32,.b64,.b128,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64,.pred}", "*", mov},
    {"cvta{.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param}.u64", "*", cvta},
    {"cvta.to|{.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param}.u64", "*", cvta},
    {"isspacep{.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param}", "q r:u64", isspacep},
};

}  // namespace

std::span<const Form> move_forms() { return kMove; }

}  // namespace bitwell::isa
