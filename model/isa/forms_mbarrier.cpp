// mbarrier instructions (PTX ISA 9.0, 9.7.13.15).
#include "model/isa/effects.h"
#include "model/isa/forms.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

void need(const Builder& b, const Match& m, size_t least, size_t most) {
  if (b.operand_count() < least || b.operand_count() > most)
    throw Invalid("'" + m.name + "' takes " + std::to_string(least) +
                  (least == most ? "" : " to " + std::to_string(most)) + " operands");
}

Op action(Builder& b, MbarrierAction a, size_t address_operand) {
  Op op;
  op.kind = OpKind::effect;
  op.effect = mbarrier;
  op.target = static_cast<uint32_t>(a);
  set_address(b, op, b.operand(address_operand), space_of(b.instruction()));
  return op;
}

// init [a], count; inval [a]; expect_tx [a], bytes; complete_tx [a], bytes
void plain(Builder& b, const Match& m) {
  const std::string& which = b.instruction().modifiers[0];
  const MbarrierAction a = which == ".init"        ? MbarrierAction::init
                           : which == ".inval"     ? MbarrierAction::inval
                           : which == ".expect_tx" ? MbarrierAction::expect
                                                   : MbarrierAction::complete;
  const size_t operands = a == MbarrierAction::inval ? 1 : 2;
  need(b, m, operands, operands);
  Op op = action(b, a, 0);
  if (operands == 2) op.b = b.source(b.operand(1), b.type(".u32")).row;
  b.emit(op);
}

// arrive[.expect_tx][.noComplete] state | _, [a][, count | bytes]; the state may be left out
void arrive(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool drop = i.modifiers[0] == ".arrive_drop";
  const bool expects = has(i, ".expect_tx");
  const bool no_complete = has(i, ".noComplete");
  const bool remote = has(i, ".shared::cluster");
  const bool stated = b.operand_count() > 0 && b.operand(0).kind == ptx::OperandKind::name;
  if (!stated && !remote) throw Invalid("'" + m.name + "' needs a destination for the state");
  const size_t first = stated ? 1 : 0;
  const bool counted = expects || no_complete;
  need(b, m, first + (counted ? 2 : 1), first + 2);
  const MbarrierAction a =
      no_complete ? (drop ? MbarrierAction::drop_no_complete : MbarrierAction::arrive_no_complete)
      : expects   ? (drop ? MbarrierAction::drop_expect : MbarrierAction::arrive_expect)
                  : (drop ? MbarrierAction::drop : MbarrierAction::arrive);
  Op op = action(b, a, first);
  if (stated) {
    if (remote && b.operand(0).name != "_")
      throw Invalid("the state of a .shared::cluster mbarrier cannot be had: the destination is '_'");
    if (b.operand(0).name != "_") op.d = b.destination(b.operand(0), b.type(".b64")).row;
  }
  op.b = b.operand_count() == first + 2 ? b.source(b.operand(first + 1), b.type(".u32")).row
                                        : b.constant_row(32, 1);
  b.emit(op);
}

// test_wait | try_wait [.parity] p, [a], state | parity[, time]
void wait(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool tries = i.modifiers[0] == ".try_wait";
  const bool parity = has(i, ".parity");
  need(b, m, 3, tries ? 4 : 3);
  Op op = action(b,
                 tries ? (parity ? MbarrierAction::try_parity : MbarrierAction::try_state)
                       : (parity ? MbarrierAction::test_parity : MbarrierAction::test_state),
                 1);
  bool negated = false;
  op.d = b.predicate(b.operand(0), true, negated).row;
  op.b = b.source(b.operand(2), b.type(parity ? ".u32" : ".b64")).row;
  if (b.operand_count() == 4) b.source(b.operand(3), b.type(".u32"));  // a hint
  b.emit(op);
}

void pending_count(Builder& b, const Match&) {
  Op op;
  op.lanes = pending_count_lanes;
  place_operands(b, op);
  b.emit(op);
}

#define OWN "[.shared,.shared::cta]"
#define ANY "[.shared,.shared::cta,.shared::cluster]"
constexpr Form kMbarrier[] = {
    {"mbarrier.init" OWN ".b64", "*", plain, 70, 80},
    {"mbarrier.inval" OWN ".b64", "*", plain, 70, 80},
    {"mbarrier.expect_tx[.relaxed][.cta,.cluster]" ANY ".b64", "*", plain, 80, 90},
    {"mbarrier.complete_tx[.relaxed][.cta,.cluster]" ANY ".b64", "*", plain, 80, 90},
    {"mbarrier{.arrive,.arrive_drop}" OWN ".b64", "*", arrive, 70, 80},
    {"mbarrier{.arrive,.arrive_drop}.noComplete" OWN ".b64", "*", arrive, 70, 80},
    {"mbarrier{.arrive,.arrive_drop}.noComplete.release.cta" OWN ".b64", "*", arrive, 80, 80},
    {"mbarrier{.arrive,.arrive_drop}[.expect_tx]" ANY ".b64", "*", arrive, 80, 90},
    {"mbarrier{.arrive,.arrive_drop}[.expect_tx]{.release,.relaxed}{.cta,.cluster}" ANY ".b64", "*", arrive,
     80, 90},
    {"mbarrier.test_wait[.parity]" OWN ".b64", "*", wait, 71, 80},
    {"mbarrier.test_wait[.parity]{.acquire,.relaxed}{.cta,.cluster}" OWN ".b64", "*", wait, 80, 90},
    {"mbarrier.try_wait[.parity]" OWN ".b64", "*", wait, 78, 90},
    {"mbarrier.try_wait[.parity]{.acquire,.relaxed}{.cta,.cluster}" OWN ".b64", "*", wait, 80, 90},
    {"mbarrier.pending_count.b64", "d:u32 r:b64", pending_count, 70, 80},
};

}  // namespace

std::span<const Form> mbarrier_forms() { return kMbarrier; }

}  // namespace bitwell::isa
