// Forms of the collectives of a warp (PTX ISA 9.0, 9.7.9.7, 9.7.13).
#include "model/isa/family/control/warp.h"
#include "model/isa/family/emit.h"

namespace bitwell::isa {
namespace {

void bar_warp(Builder& b, const Match&) {
  Op op = effect_without_memory(b, warp_barrier);
  op.e = b.values()[0].row;
  b.emit(op);
}

// d or d|p
void pair_destination(Builder& b, Op& op, const Type& type, bool required) {
  const ptx::Operand& d = b.operand(0);
  bool negated = false;
  if (d.kind == ptx::OperandKind::pair) {
    op.d = b.destination(d.elements[0], type, false, true).row;
    op.d2 = b.predicate(d.elements[1], true, negated).row;
  } else {
    if (required) throw Invalid("a destination of the form d|p is needed");
    op.d = b.destination(d, type).row;
    op.d2 = b.new_predicate();
  }
}

void need(const Builder& b, const Match& m, size_t n) {
  if (b.operand_count() != n) throw Invalid("'" + m.name + "' takes " + std::to_string(n) + " operands");
}

void shfl(Builder& b, const Match& m) {
  need(b, m, 5);
  Op op = effect(shuffle, OpKind::collective);
  pair_destination(b, op, b.type(".b32"), false);
  op.a = b.source(b.operand(1), b.type(".b32")).row;
  op.b = b.source(b.operand(2), b.type(".b32")).row;
  op.c = b.source(b.operand(3), b.type(".b32")).row;
  op.e = b.source(b.operand(4), b.type(".b32")).row;
  using Mode = std::pair<ShuffleMode, Carry>;
  const auto [mode, carry] = m.choice[0] == ".up"     ? Mode{ShuffleMode::up, Carry::up}
                             : m.choice[0] == ".down" ? Mode{ShuffleMode::down, Carry::down}
                             : m.choice[0] == ".bfly" ? Mode{ShuffleMode::bfly, Carry::butterfly}
                                                      : Mode{ShuffleMode::idx, Carry::index};
  b.payload<ShuffleUse>(op).mode = mode;
  b.uses().carry(carry);
  b.emit(op);
}

void vote_form(Builder& b, const Match& m) {
  need(b, m, 3);
  Op op = effect(vote, OpKind::collective);
  const bool ballot = ptx::has(b.instruction(), ".ballot");
  bool negated = false;
  if (ballot)
    op.d = b.destination(b.operand(0), b.type(".b32")).row;
  else
    op.d = b.predicate(b.operand(0), true, negated).row;
  op.a = b.predicate(b.operand(1), false, negated).row;
  op.e = b.source(b.operand(2), b.type(".b32")).row;
  const VoteMode mode = ballot                  ? VoteMode::ballot
                        : m.choice[0] == ".all" ? VoteMode::all
                        : m.choice[0] == ".any" ? VoteMode::any
                                                : VoteMode::uni;
  auto& use = b.payload<VoteUse>(op);
  use.mode = mode;
  use.negated = negated;
  b.emit(op);
}

void match_form(Builder& b, const Match& m) {
  need(b, m, 3);
  Op op = effect(match_lanes, OpKind::collective);
  const bool all = m.choice[0] == ".all";
  const Type& type = b.type(m.choice[1]);
  if (!all && b.operand(0).kind == ptx::OperandKind::pair) throw Invalid("'match.any' has one destination");
  pair_destination(b, op, b.type(".u32"), false);
  op.a = b.source(b.operand(1), type).row;
  op.e = b.source(b.operand(2), b.type(".u32")).row;
  auto& use = b.payload<MatchUse>(op);
  use.size = type.bits / 8;
  use.all = all;
  b.emit(op);
}

void redux(Builder& b, const Match& m) {
  Op op = effect(reduce, OpKind::collective);
  op.d = b.values()[0].row;
  op.a = b.values()[1].row;
  op.e = b.values()[2].row;
  const std::string& o = m.choice[0];
  const AtomicOperation operation = o == ".add"   ? AtomicOperation::add
                                    : o == ".min" ? AtomicOperation::min
                                    : o == ".max" ? AtomicOperation::max
                                    : o == ".and" ? AtomicOperation::band
                                    : o == ".or"  ? AtomicOperation::bor
                                                  : AtomicOperation::bxor;
  auto& use = b.payload<ReduceUse>(op);
  use.operation = operation;
  use.extreme = extreme_of(b.instruction());
  b.emit(op);
}

void activemask(Builder& b, const Match&) {
  Op op = effect_without_memory(b, active_mask);
  op.d = b.values()[0].row;
  b.emit(op);
}

void elect_form(Builder& b, const Match& m) {
  need(b, m, 2);
  Op op = effect(elect, OpKind::collective);
  pair_destination(b, op, b.type(".b32"), true);
  op.e = b.source(b.operand(1), b.type(".b32")).row;
  b.emit(op);
}

constexpr Form kWarp[] = {
    {"bar.warp.sync|", "s:b32", bar_warp, 60},
    {"shfl.sync{.up,.down,.bfly,.idx}.b32", "*", shfl, 60},
    {"vote.sync{.all,.any,.uni}.pred", "*", vote_form, 60},
    {"vote.sync.ballot.b32", "*", vote_form, 60},
    {"match{.any,.all}.sync{.b32,.b64}", "*", match_form, 60},
    {"redux.sync{.add,.min,.max}{.u32,.s32}", "d:$2 s:$2 s:b32", redux, 70, 80},
    {"redux.sync{.and,.or,.xor}{.b32}", "d:b32 s:b32 s:b32", redux, 70, 80},
    {"redux.sync{.min,.max}[.abs][.NaN].f32", "d:f32 r:f32 s:b32", redux, 86, &Features::redux_f32},
    {"activemask.b32", "d:b32", activemask, 62},
    {"elect.sync", "*", elect_form, 80, 90},
};

}  // namespace

std::span<const Form> warp_forms() { return kWarp; }

}  // namespace bitwell::isa
