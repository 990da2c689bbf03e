// Branches, calls, barriers and warp collectives (PTX ISA 9.0, 9.7.12, 9.7.13).
#include "model/isa/effects.h"
#include "model/isa/forms.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

void bra(Builder& b, const Match&) {
  if (b.operand_count() != 1 || b.operand(0).kind != ptx::OperandKind::name)
    throw Invalid("'bra' takes a label");
  Op op;
  op.kind = OpKind::branch;
  op.target = b.label(b.operand(0).name);
  b.emit(op);
}

void brx(Builder& b, const Match&) {
  if (b.operand_count() != 2) throw Invalid("'brx.idx' takes 2 operands");
  const std::vector<std::string>* names = b.branch_targets(b.operand(1).name);
  if (names == nullptr) throw Invalid("unknown branch targets '" + b.operand(1).name + "'");
  Op op;
  op.kind = OpKind::table;
  op.effect = branch_indexed;
  op.a = b.source(b.operand(0), b.type(".u32")).row;
  op.targets = b.new_list();
  for (const std::string& name : *names) op.targets->push_back(b.label(name));
  b.emit(op);
}

Effect leaving(const std::string& opcode) {
  if (opcode == "ret") return leave_function;
  return opcode == "exit" ? leave_thread : trap;
}

void leave(Builder& b, const Match&) {
  Op op;
  op.kind = OpKind::leave;
  op.effect = leaving(b.instruction().opcode);
  b.emit(op);
}

std::vector<Parameter> call_list(Builder& b, const ptx::Operand& list,
                                 const std::vector<ptx::Variable>& formals) {
  std::vector<Parameter> out;
  if (list.elements.size() != formals.size())
    throw Invalid("the call passes " + std::to_string(list.elements.size()) + " parameters where " +
                  std::to_string(formals.size()) + " are declared");
  for (size_t n = 0; n < formals.size(); ++n) {
    const Builder::Variable* v = b.find_variable(list.elements[n].name);
    if (v == nullptr || !v->call_param)
      throw machine::Unsupported("call argument '" + list.elements[n].name +
                                 "' that is not a .param variable");
    if (v->size != size_of(formals[n]))
      throw Invalid("call argument '" + list.elements[n].name + "' has another size than declared");
    if (v->align != align_of(formals[n]))
      throw Invalid("call argument '" + list.elements[n].name + "' has another alignment than declared");
    out.push_back({list.elements[n].name, "", v->address, v->size, false});
  }
  return out;
}

// call [(results),] target [, (arguments)] [, prototype]
void call_form(Builder& b, const Match&) {
  size_t next = 0;
  ptx::Operand none;
  none.kind = ptx::OperandKind::list;
  const ptx::Operand* results = &none;
  const ptx::Operand* arguments = &none;
  if (b.operand(next).kind == ptx::OperandKind::list) results = &b.operand(next++);
  const ptx::Operand& target = b.operand(next++);
  if (next < b.operand_count() && b.operand(next).kind == ptx::OperandKind::list)
    arguments = &b.operand(next++);
  CallSite* site = b.new_call();
  Op op;
  op.kind = OpKind::effect;
  op.effect = call;
  const ptx::Function* callee = nullptr;
  const int f = b.find_function(target.name);
  if (target.kind != ptx::OperandKind::name) throw Invalid("'call' needs a function");
  if (f >= 0) {
    callee = b.layout().functions[static_cast<size_t>(f)];
    site->function = f;
    if (callee->is_entry) throw machine::Unsupported("a call of entry '" + target.name + "'");
    if (!callee->has_body) {
      if (target.name == "vprintf")
        site->kind = CallSite::Callee::vprintf;
      else if (target.name == "__assertfail")
        site->kind = CallSite::Callee::assertfail;
      else
        throw machine::Unsupported("a call of '" + target.name + "', which has no body");
    }
  } else {
    site->kind = CallSite::Callee::indirect;
    op.a = b.source(target, b.type(".u64"), false, false).row;
    if (next >= b.operand_count()) throw Invalid("an indirect call needs a prototype");
    callee = b.prototype(b.operand(next).name);
    if (callee == nullptr) throw machine::Unsupported("an indirect call without a .callprototype");
    ++next;
  }
  if (next != b.operand_count()) throw Invalid("too many operands of 'call'");
  site->arguments = call_list(b, *arguments, callee->params);
  site->results = call_list(b, *results, callee->returns);
  op.imm = reinterpret_cast<uint64_t>(site);
  b.emit(op);
}

// bar.sync a[, b]; barrier.sync; .arrive a, b; .red.op d, a[, b], [!]p
void bar(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op;
  op.kind = OpKind::effect;
  op.effect = barrier;
  const bool red = has(i, ".red");
  const bool arrive = has(i, ".arrive");
  BarrierKind kind = arrive ? BarrierKind::arrive : BarrierKind::sync;
  size_t next = 0;
  const size_t operands = b.operand_count();
  bool negated = false;
  if (red) {
    kind = has(i, ".popc")  ? BarrierKind::red_popc
           : has(i, ".and") ? BarrierKind::red_and
                            : BarrierKind::red_or;
    if (operands < 3 || operands > 4) throw Invalid("'" + m.name + "' takes 3 or 4 operands");
    if (kind == BarrierKind::red_popc)
      op.d = b.destination(b.operand(next++), b.type(".u32")).row;
    else
      op.d = b.predicate(b.operand(next++), true, negated).row;
    op.c = b.predicate(b.operand(operands - 1), false, negated).row;
  } else if (operands < (arrive ? 2u : 1u) || operands > 2) {
    throw Invalid("'" + m.name + "' takes " + (arrive ? "2" : "1 or 2") + " operands");
  }
  if (b.operand(next).kind == ptx::OperandKind::integer && b.operand(next).integer > 15)
    throw Invalid("barrier " + std::to_string(b.operand(next).integer) + ": barriers are 0 to 15");
  op.a = b.source(b.operand(next++), b.type(".u32")).row;
  op.imm = static_cast<uint64_t>(kind);
  if (next < operands - (red ? 1 : 0)) {
    op.b = b.source(b.operand(next), b.type(".u32")).row;
    op.imm |= kCounted;
  }
  if (i.opcode == "bar" || has(i, ".aligned")) op.imm |= kAligned;
  if (negated) op.imm |= kNegated;
  b.emit(op);
}

Op collective(Effect effect) {
  Op op;
  op.kind = OpKind::effect;
  op.effect = effect;
  return op;
}

void bar_warp(Builder& b, const Match&) {
  Op op = collective(warp_barrier);
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
  Op op = collective(shuffle);
  pair_destination(b, op, b.type(".b32"), false);
  op.a = b.source(b.operand(1), b.type(".b32")).row;
  op.b = b.source(b.operand(2), b.type(".b32")).row;
  op.c = b.source(b.operand(3), b.type(".b32")).row;
  op.e = b.source(b.operand(4), b.type(".b32")).row;
  op.imm = static_cast<uint64_t>(m.choice[0] == ".up"     ? ShuffleMode::up
                                 : m.choice[0] == ".down" ? ShuffleMode::down
                                 : m.choice[0] == ".bfly" ? ShuffleMode::bfly
                                                          : ShuffleMode::idx);
  b.emit(op);
}

void vote_form(Builder& b, const Match& m) {
  need(b, m, 3);
  Op op = collective(vote);
  const bool ballot = has(b.instruction(), ".ballot");
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
  op.imm = static_cast<uint64_t>(mode) | (negated ? kNegated : 0);
  b.emit(op);
}

void match_form(Builder& b, const Match& m) {
  need(b, m, 3);
  Op op = collective(match_lanes);
  const bool all = m.choice[0] == ".all";
  const Type& type = b.type(m.choice[1]);
  if (!all && b.operand(0).kind == ptx::OperandKind::pair) throw Invalid("'match.any' has one destination");
  pair_destination(b, op, b.type(".u32"), false);
  op.a = b.source(b.operand(1), type).row;
  op.e = b.source(b.operand(2), b.type(".u32")).row;
  op.size = static_cast<uint16_t>(type.bits / 8);
  op.imm = all ? 1 : 0;
  b.emit(op);
}

void redux(Builder& b, const Match& m) {
  Op op = collective(reduce);
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
  op.imm = static_cast<uint64_t>(operation) | (m.choice[1] == ".s32" ? 256 : 0);
  b.emit(op);
}

void activemask(Builder& b, const Match&) {
  Op op = collective(active_mask);
  op.d = b.values()[0].row;
  b.emit(op);
}

void elect_form(Builder& b, const Match& m) {
  need(b, m, 2);
  Op op = collective(elect);
  pair_destination(b, op, b.type(".b32"), true);
  op.e = b.source(b.operand(1), b.type(".b32")).row;
  b.emit(op);
}

constexpr Form kControl[] = {
    {"bra[.uni]", "*", bra},
    {"brx.idx[.uni]", "*", brx, 60},
    {"call[.uni]", "*", call_form},
    {"ret[.uni]", "", leave},
    {"exit", "", leave},
    {"trap", "", leave},
    {"bar[.cta]{.sync,.arrive}", "*", bar},
    {"bar[.cta].red.popc.u32", "*", bar},
    {"bar[.cta].red{.and,.or}.pred", "*", bar},
    {"barrier[.cta]{.sync,.arrive}[.aligned]", "*", bar, 60},
    {"barrier[.cta].red.popc[.aligned].u32", "*", bar, 60},
    {"barrier[.cta].red{.and,.or}[.aligned].pred", "*", bar, 60},
};

constexpr Form kWarp[] = {
    {"bar.warp.sync", "s:b32", bar_warp, 60},
    {"shfl.sync{.up,.down,.bfly,.idx}.b32", "*", shfl, 60},
    {"vote.sync{.all,.any,.uni}.pred", "*", vote_form, 60},
    {"vote.sync.ballot.b32", "*", vote_form, 60},
    {"match{.any,.all}.sync{.b32,.b64}", "*", match_form, 60},
    {"redux.sync{.add,.min,.max}{.u32,.s32}", "d:$2 s:$2 s:b32", redux, 70, 80},
    {"redux.sync{.and,.or,.xor}{.b32}", "d:b32 s:b32 s:b32", redux, 70, 80},
    {"activemask.b32", "d:b32", activemask, 62},
    {"elect.sync", "*", elect_form, 80, 90},
};

}  // namespace

std::span<const Form> control_forms() { return kControl; }
std::span<const Form> warp_forms() { return kWarp; }

}  // namespace bitwell::isa
