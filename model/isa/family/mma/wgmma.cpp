// wgmma.fence, mma_async, commit_group and wait_group (PTX ISA 9.0, 9.7.15).
#include <set>

#include "model/isa/family/emit.h"
#include "model/isa/family/mma/tensor_operands.h"
#include "model/isa/family/mma/warpgroup.h"
#include "model/machine/failure.h"
#include "model/run/context.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

using machine::Fault;

namespace {

struct PendingGroups : Payload {
  uint64_t pending = 0;
};

constexpr int kGroupWarps = 4;  // of a warpgroup

// A warpgroup's queue as the scheduler sees it.
class WarpgroupAgent : public machine::Agent {
 public:
  WarpgroupAgent(Warpgroup& group, run::Cta& cta, int first) : group_(group), cta_(cta), first_(first) {
    ending = machine::Ending::warpgroup;
  }

  bool ready() const override { return group_.front_ready(); }
  bool step() override {
    if (!cta_.alive()) throw Fault("wgmma.mma_async of a CTA that has ended without waiting for it");
    place = group_.front().place;
    run::tell_synchronised(machine::Synchronisation::Kind::mma_started, cta_, first_, group_.front_number());
    const auto& mma = group_.front().op->as<WarpgroupMmaUse>();
    work.products += uint64_t{kGroupWarps} * kFragmentRows * mma.n * mma.k;
    group_.run_front(run::Port(cta_.cluster, *this, {Semantics::weak, Scope::cta, Proxy::async}));
    cta_.wake_operations(first_, kGroupWarps);
    return group_.empty();
  }
  machine::Task task() const override {
    const auto& mma = group_.front().op->as<WarpgroupMmaUse>();
    machine::Task out;
    out.kind = machine::Task::Kind::multiply;
    out.n = mma.n;
    out.a_elsewhere = mma.a_in_registers;
    return out;
  }
  std::string describe() const override {
    if (group_.empty()) return "wgmma.mma_async, all done";
    const WarpgroupMma& front = group_.front();
    return "wgmma.mma_async of PTX line " + std::to_string(front.place.ptx_line) + ", issued by " +
           std::to_string(front.warps) + " of the 4 warps of the warpgroup";
  }

 private:
  Warpgroup& group_;
  run::Cta& cta_;
  int first_;  // warp
};

// Of a CTA, as far as used.
struct Warpgroups : std::vector<std::unique_ptr<Warpgroup>> {};

Warpgroup& warpgroup(run::Context& context) {
  const auto number = static_cast<size_t>(context.warp.index / kGroupWarps);
  auto& groups = context.cta.families.get<Warpgroups>();
  while (groups.size() <= number) groups.push_back(std::make_unique<Warpgroup>(context.cta));
  return *groups[number];
}

size_t share(const run::Context& context) { return static_cast<size_t>(context.warp.index % kGroupWarps); }

Next wgmma_fence(const Op&, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  warpgroup(context).fence(share(context));
  return Next::advance;
}

Next wgmma_mma(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const int first = context.warp.index / kGroupWarps * kGroupWarps;
  if (context.cta.warps.size() < static_cast<size_t>(first + kGroupWarps))
    throw Fault("wgmma needs a warpgroup of 4 warps, this one has " +
                std::to_string(context.cta.warps.size() - static_cast<size_t>(first)));
  Warpgroup& group = warpgroup(context);
  if (group.issue(share(context), op, context)) {
    auto agent = std::make_unique<WarpgroupAgent>(group, context.cta, first);
    agent->place = group.front().place;
    context.cta.cluster.start(std::move(agent), context.warp);
  } else {
    context.cta.cluster.settle();
  }
  return Next::advance;
}

Next wgmma_commit(const Op&, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  warpgroup(context).commit(share(context));
  run::tell_synchronised(machine::Synchronisation::Kind::mma_committed, context.cta, context.warp,
                         context.split(), mask, 0);
  return Next::advance;
}

Next wgmma_wait(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const uint64_t pending = op.as<PendingGroups>().pending;
  if (warpgroup(context).groups_done(share(context), pending)) {
    run::tell_synchronised(machine::Synchronisation::Kind::mma_waited, context.cta, context.warp,
                           context.split(), mask, pending);
    return Next::advance;
  }
  context.split().wait = &run::kForOperations;
  return Next::wait;
}

// An immediate that must be one of two values.
bool choice(const Builder& b, size_t operand, uint64_t no, uint64_t yes, const char* what) {
  const uint64_t value = b.constant(b.operand(operand));
  if (value != no && value != yes)
    throw Invalid(std::string(what) + " is " + std::to_string(static_cast<int64_t>(value)) + ", it must be " +
                  std::to_string(static_cast<int64_t>(no)) + " or " +
                  std::to_string(static_cast<int64_t>(yes)));
  return value == yes;
}

// D's registers are given; those of A or its descriptor, that of B, and scale-d.
void operands_of(Builder& b, const Match& m, WarpgroupMmaUse& mma, Op& op) {
  b.uses().act(Act::warpgroup_mma, mma.n << 16 | mma.k);
  b.uses().touch({.space = Space::shared, .reads = true, .operation = true});
  if (std::set<uint32_t>(op.results->begin(), op.results->end()).size() != op.results->size())
    throw machine::Unsupported("'" + m.name + "' with a register twice in D");
  for (const uint32_t r : *op.results) b.pin(r);
  if (mma.a_in_registers) {
    op.sources = b.new_list();
    const size_t from = b.uses().operand_count();
    tensor_registers(b, b.operand(1), mma.a_registers(), *mma.a, "A", *op.sources);
    b.uses().as(Use::Take::fragment, from);
  } else {
    op.a = b.source(b.operand(1), b.type(".b64")).row;
  }
  op.b = b.source(b.operand(2), b.type(".b64")).row;
  if (b.operand(3).kind == ptx::OperandKind::integer) {
    op.c = b.constant_row(32, choice(b, 3, 0, 1, "scale-d") ? ~0u : 0);
  } else {
    bool negated = false;
    op.c = b.predicate(b.operand(3), false, negated).row;
    mma.negated_scale = negated;
  }
}

// wgmma.mma_async d, a | a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b[, imm-trans-a][, imm-trans-b]
void wgmma_form(Builder& b, const Match& m) {
  const auto& modifiers = b.instruction().modifiers;  // .mma_async .sync .aligned shape D A B
  Op op = effect(wgmma_mma);
  WarpgroupMmaUse* mma = &b.payload<WarpgroupMmaUse>(op);
  mma->a = &tensor_format(modifiers[5]);
  mma->b = &tensor_format(modifiers[6]);
  mma->rule = &dot_rule(b.sm(), "wgmma", *mma->a, *mma->b, tensor_format(modifiers[4]));
  mma->n = extent(modifiers[3], 'n');
  mma->k = extent(modifiers[3], 'k');
  if (b.operand_count() < 2) throw Invalid("too few operands");
  mma->a_in_registers = b.operand(1).kind == ptx::OperandKind::vector;
  const bool transposes = mma->a->container == 16;
  const size_t count = 6 + (transposes ? (mma->a_in_registers ? 1 : 2) : 0);
  if (b.operand_count() != count)
    throw Invalid("'" + m.name + "' takes " + std::to_string(count) + " operands here");
  op.results = b.new_list();
  const size_t from = b.uses().operand_count();
  tensor_registers(b, b.operand(0), mma->d_registers(), *mma->rule->output, "D", *op.results);
  b.uses().as(Use::Take::accumulator, from);
  operands_of(b, m, *mma, op);
  mma->negate_a = choice(b, 4, 1, ~uint64_t{0}, "imm-scale-a");
  mma->negate_b = choice(b, 5, 1, ~uint64_t{0}, "imm-scale-b");
  if (count == 8) mma->transpose_a = choice(b, 6, 0, 1, "imm-trans-a");
  if (transposes) mma->transpose_b = choice(b, count - 1, 0, 1, "imm-trans-b");
  b.emit(op);
}

// wgmma.mma_async d, a | a-desc, b-desc, scale-d
void wgmma_bytes(Builder& b, const Match& m) {
  const auto& modifiers = b.instruction().modifiers;  // .mma_async .sync .aligned shape [.satfinite] D A B
  const std::string& a_type = modifiers[modifiers.size() - 2];
  if (a_type != modifiers.back() && b.version() < 84)
    throw Invalid("'" + m.name + "': types that differ need PTX 8.4");
  operands_left(b, m, 4);
  Op op = effect(wgmma_mma);
  WarpgroupMmaUse* mma = &b.payload<WarpgroupMmaUse>(op);
  mma->bytes = ByteTypes{a_type == ".s8", modifiers.back() == ".s8", ptx::has(b.instruction(), ".satfinite")};
  mma->a = mma->b = &number::e4m3;
  mma->n = extent(modifiers[3], 'n');
  mma->k = extent(modifiers[3], 'k');
  mma->a_in_registers = b.operand(1).kind == ptx::OperandKind::vector;
  const ptx::Operand& d = b.operand(0);
  if (d.kind != ptx::OperandKind::vector || d.elements.size() != mma->d_registers())
    throw Invalid("D must be a vector of " + std::to_string(mma->d_registers()) + " registers");
  op.results = b.new_list();
  for (const ptx::Operand& e : d.elements) {
    op.results->push_back(b.destination(e, b.type(".s32"), false, true).row);
    b.uses().as(Use::Take::accumulator);
  }
  operands_of(b, m, *mma, op);
  b.emit(op);
}

void wgmma_order(Builder& b, const Match&) {
  const std::string& which = b.instruction().modifiers[0];
  Op op = effect_without_memory(b, which == ".fence"          ? wgmma_fence
                                   : which == ".commit_group" ? wgmma_commit
                                                              : wgmma_wait);
  b.uses().act(which == ".fence" ? Act::warpgroup_fence : Act::warpgroup_group);
  if (which == ".wait_group") {
    if (b.operand_count() != 1) throw Invalid("'wgmma.wait_group' takes 1 operand");
    need_range(b.operand(0), 0, INT64_MAX, 1, "the number of pending groups");
    b.payload<PendingGroups>(op).pending = b.constant(b.operand(0));
  }
  b.emit(op);
}

#define SHAPES(k)                                                                                        \
  "{.m64n8" k ",.m64n16" k ",.m64n24" k ",.m64n32" k ",.m64n40" k ",.m64n48" k ",.m64n56" k ",.m64n64" k \
  ",.m64n72" k ",.m64n80" k ",.m64n88" k ",.m64n96" k ",.m64n104" k ",.m64n112" k ",.m64n120" k          \
  ",.m64n128" k ",.m64n136" k ",.m64n144" k ",.m64n152" k ",.m64n160" k ",.m64n168" k ",.m64n176" k      \
  ",.m64n184" k ",.m64n192" k ",.m64n200" k ",.m64n208" k ",.m64n216" k ",.m64n224" k ",.m64n232" k      \
  ",.m64n240" k ",.m64n248" k ",.m64n256" k "}"
#define BYTE_SHAPES                                                                                      \
  "{.m64n8k32,.m64n16k32,.m64n24k32,.m64n32k32,.m64n48k32,.m64n64k32,.m64n80k32,.m64n96k32,.m64n112k32," \
  ".m64n128k32,.m64n144k32,.m64n160k32,.m64n176k32,.m64n192k32,.m64n208k32,.m64n224k32,.m64n240k32,"     \
  ".m64n256k32}"
constexpr Form kWgmma[] = {
    {"wgmma.mma_async|.sync.aligned" SHAPES("k16") "{.f32,.f16}.f16.f16", "*", wgmma_form, 80,
     &Features::wgmma},
    {"wgmma.mma_async|.sync.aligned" SHAPES("k16") ".f32.bf16.bf16", "*", wgmma_form, 80, &Features::wgmma},
    {"wgmma.mma_async|.sync.aligned" SHAPES("k8") ".f32.tf32.tf32", "*", wgmma_form, 80, &Features::wgmma},
    {"wgmma.mma_async|.sync.aligned" SHAPES("k32") "{.f32,.f16}{.e4m3,.e5m2}{.e4m3,.e5m2}", "*", wgmma_form,
     80, &Features::wgmma},
    {"wgmma.mma_async|.sync.aligned" BYTE_SHAPES "[.satfinite].s32{.s8,.u8}{.s8,.u8}", "*", wgmma_bytes, 80,
     &Features::wgmma},
    {"wgmma.fence|.sync.aligned", "", wgmma_order, 80, &Features::wgmma},
    {"wgmma.commit_group|.sync.aligned", "", wgmma_order, 80, &Features::wgmma},
    {"wgmma.wait_group|.sync.aligned", "*", wgmma_order, 80, &Features::wgmma},
};
#undef SHAPES
#undef BYTE_SHAPES

}  // namespace

std::span<const Form> wgmma_forms() { return kWgmma; }

}  // namespace bitwell::isa
