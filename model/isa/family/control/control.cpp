// Branches, calls and ends: bra, brx.idx, call, ret, exit, trap (PTX ISA 9.0, 9.7.12).
#include <algorithm>
#include <cstring>

#include "model/isa/family/control/call.h"
#include "model/isa/family/control/cluster.h"
#include "model/isa/family/control/device_heap.h"
#include "model/isa/family/control/printf.h"
#include "model/isa/family/emit.h"
#include "model/isa/family/tensor/tensor_unit.h"
#include "model/isa/form/variable.h"
#include "model/machine/failure.h"
#include "model/run/context.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

using machine::Activation;
using machine::Fault;
using machine::kLanes;
using machine::Split;

namespace {

void copy_local(machine::Warp& warp, uint32_t mask, uint64_t to, uint64_t from, uint64_t size) {
  for (size_t lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0) {
      std::memcpy(warp.local[lane].data() + to, warp.local[lane].data() + from, size);
      std::memcpy(warp.local_defined[lane].data() + to, warp.local_defined[lane].data() + from, size);
    }
}

void remove_split(run::Context& context) {
  context.warp.splits.erase(context.warp.splits.begin() + static_cast<std::ptrdiff_t>(context.split_index));
}

const Function& function_of(run::Context& context, const Activation& activation) {
  return context.cta.grid.program.functions[static_cast<size_t>(activation.function)];
}

Next leave_thread(const Op&, run::Context& context, uint32_t mask) {
  run::take_lanes(context, mask);
  context.warp.exited |= mask;
  run::tell_synchronised(machine::Synchronisation::Kind::exited, context.cta, context.warp, context.split(),
                         mask, 0);
  if (context.checked) check_register_counts(context);
  context.cta.cluster.change();
  // Columns outlive a CTA that keeps them: nothing else would ever get them.
  if (const TensorUnit* const unit =
          context.warp.splits.size() == 1 ? context.cta.families.find<TensorUnit>() : nullptr;
      unit != nullptr && unit->memory.allocated() &&
      std::count_if(context.cta.warps.begin(), context.cta.warps.end(),
                    [](const machine::Warp& w) { return !w.splits.empty(); }) == 1)
    throw Fault("the CTA ends with " + unit->memory.describe() +
                " of tensor memory allocated: tcgen05.dealloc is missing");
  remove_split(context);
  for (uint32_t rest = context.cta.barriers_under_way; rest != 0; rest &= rest - 1)
    context.cta.try_release(static_cast<uint32_t>(__builtin_ctz(rest)));
  context.cta.try_release_warp(context.warp);
  context.cta.cluster.try_release_barrier();
  for (Split& s : context.warp.splits)
    if (s.wait == &run::kMeets) s.wait = nullptr;  // fewer threads to wait for
  return Next::moved;
}

Next leave_function(const Op& op, run::Context& context, uint32_t mask) {
  const std::shared_ptr<Activation> from = context.split().activation;
  if (from->caller == nullptr) return leave_thread(op, context, mask);
  Split& split = run::take_lanes(context, mask);
  const std::shared_ptr<Activation> to = from->caller;
  const Op& call_op = function_of(context, *to).code[from->call_pc];
  const auto& site = call_op.as<CallSite>();
  const Function& callee = function_of(context, *from);
  for (size_t n = 0; n < site.results.size(); ++n)
    copy_local(context.warp, mask, to->local_base + site.results[n].offset,
               from->local_base + callee.returns[n].offset, site.results[n].size);
  split.activation = to;
  split.pc = from->return_pc;
  return Next::moved;
}

Next trap(const Op&, run::Context&, uint32_t mask) { throw Fault("trap", __builtin_ctz(mask)); }

Next break_here(const Op&, run::Context&, uint32_t mask) {
  throw Fault("brkpt, which stops for a debugger: there is none", __builtin_ctz(mask));
}

Next branch_indexed(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a branch index");
  run::take_lanes(context, mask);
  const auto* index = context.row<uint32_t>(op.a);
  const uint32_t first = index[__builtin_ctz(mask)];
  uint32_t same = 0;
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) {
      if (index[i] >= op.targets->size())
        throw Fault("brx.idx index " + std::to_string(index[i]) + " is beyond its " +
                        std::to_string(op.targets->size()) + " targets",
                    i);
      if (index[i] == first) same |= 1u << i;
    }
  Split& split = context.split();
  if (same != mask) {  // the others stay here and choose again
    Split rest = split;
    rest.mask = mask & ~same;
    split.mask = same;
    context.warp.splits.push_back(std::move(rest));
  }
  context.split().pc = (*op.targets)[first];
  return Next::moved;
}

Next call(const Op& op, run::Context& context, uint32_t mask) {
  const auto& site = op.as<CallSite>();
  const Activation& caller = context.activation();
  if (site.kind == CallSite::Callee::vprintf || site.kind == CallSite::Callee::assertfail) {
    builtin_call(site, context, mask);
    return Next::advance;
  }
  if (site.kind == CallSite::Callee::malloc || site.kind == CallSite::Callee::free) {
    heap_call(site, context, mask);
    return Next::advance;
  }
  int function = site.function;
  uint32_t together = mask;
  if (site.kind == CallSite::Callee::indirect) {
    context.require_defined(op.a, mask, "a function's address");
    const auto* address = context.row<uint64_t>(op.a);
    const uint64_t first = address[__builtin_ctz(mask)];
    const auto& functions = context.cta.grid.program.functions;
    if (first - kFunctionWindow >= functions.size() || functions[first - kFunctionWindow].code.empty())
      throw Fault("an indirect call of an address that is no function", __builtin_ctz(mask));
    function = static_cast<int>(first - kFunctionWindow);
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0 && address[i] != first) together &= ~(1u << i);
  }
  const Function& callee = context.cta.grid.program.functions[static_cast<size_t>(function)];
  const auto same = [](const std::vector<Parameter>& formal, const std::vector<Parameter>& actual) {
    return std::equal(formal.begin(), formal.end(), actual.begin(), actual.end(),
                      [](const Parameter& f, const Parameter& g) { return f.size == g.size; });
  };
  if (callee.is_entry || !same(callee.params, site.arguments) || !same(callee.returns, site.results))
    throw Fault("the function called is an entry, or has other parameters than the call's prototype",
                __builtin_ctz(mask));
  if (together != mask) {  // lanes that call another function stay here
    Split rest = context.split();
    rest.mask = mask & ~together;
    context.split().mask &= ~rest.mask;
    context.warp.splits.push_back(std::move(rest));
  }
  const uint32_t base = caller.local_base;
  const uint32_t pc = context.split().pc;
  Split& split = run::take_lanes(context, together);
  auto activation = context.cta.activate(function, context.warp, together, split.activation);
  activation->call_pc = pc;
  activation->return_pc = pc + 1;
  for (size_t n = 0; n < site.arguments.size(); ++n)
    copy_local(context.warp, together, activation->local_base + callee.params[n].offset,
               base + site.arguments[n].offset, site.arguments[n].size);
  split.activation = std::move(activation);
  split.pc = 0;
  return Next::moved;
}

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
  Op op = effect(branch_indexed, OpKind::table);
  op.a = b.source(b.operand(0), b.type(".u32")).row;
  op.targets = b.new_list();
  for (const std::string& name : *names) op.targets->push_back(b.label(name));
  b.emit(op);
}

Effect leaving(const std::string& opcode) {
  if (opcode == "ret") return leave_function;
  return opcode == "exit" ? leave_thread : trap;
}

void leave(Builder& b, const Match&) { b.emit(effect(leaving(b.instruction().opcode), OpKind::leave)); }

std::vector<Parameter> call_list(Builder& b, const ptx::Operand& list,
                                 const std::vector<ptx::Variable>& formals, Use::Take take) {
  std::vector<Parameter> out;
  if (list.elements.size() != formals.size())
    throw Invalid("the call passes " + std::to_string(list.elements.size()) + " parameters where " +
                  std::to_string(formals.size()) + " are declared");
  for (size_t n = 0; n < formals.size(); ++n) {
    const auto v = b.find_variable(list.elements[n].name);
    if (!v || !v->call_param)
      throw machine::Unsupported("call argument '" + list.elements[n].name +
                                 "' that is not a .param variable");
    if (v->size != size_of(formals[n]))
      throw Invalid("call argument '" + list.elements[n].name + "' has another size than declared");
    if (v->align != align_of(formals[n]))
      throw Invalid("call argument '" + list.elements[n].name + "' has another alignment than declared");
    out.push_back({list.elements[n].name, "", v->address, v->size, false});
    b.name_variable(list.elements[n].name, take);
  }
  return out;
}

void stop_here(Builder& b, const Match&) { b.emit(effect_without_memory(b, break_here)); }

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
  CallSite site;
  Op op = effect(call, OpKind::call);
  const ptx::Function* callee = nullptr;
  const int f = b.find_function(target.name);
  if (target.kind != ptx::OperandKind::name) throw Invalid("'call' needs a function");
  if (f >= 0) {
    callee = &b.function(f);
    site.function = f;
    if (callee->is_entry) throw machine::Unsupported("a call of entry '" + target.name + "'");
    if (!callee->has_body) {
      if (target.name == "vprintf")
        site.kind = CallSite::Callee::vprintf;
      else if (target.name == "__assertfail")
        site.kind = CallSite::Callee::assertfail;
      else if (target.name == "malloc")
        site.kind = CallSite::Callee::malloc;
      else if (target.name == "free")
        site.kind = CallSite::Callee::free;
      else
        throw machine::Unsupported("a call of '" + target.name + "', which has no body");
    }
  } else {
    site.kind = CallSite::Callee::indirect;
    op.a = b.source(target, b.type(".u64"), false, false).row;
    b.uses().as(Use::Take::address);
    if (next >= b.operand_count()) throw Invalid("an indirect call needs a prototype");
    callee = b.prototype(b.operand(next).name);
    if (callee == nullptr) throw machine::Unsupported("an indirect call without a .callprototype");
    ++next;
  }
  if (next != b.operand_count()) throw Invalid("too many operands of 'call'");
  if (f >= 0) b.uses().add(Use::Of::function, Use::Take::address, static_cast<uint32_t>(f));
  site.arguments = call_list(b, *arguments, callee->params, Use::Take::data);
  site.results = call_list(b, *results, callee->returns, Use::Take::result);
  b.uses().act(site.kind == CallSite::Callee::malloc ? Act::allocates
               : site.kind == CallSite::Callee::free ? Act::frees
                                                     : Act::calls);
  b.payload(op, std::move(site));
  b.emit(op);
}

constexpr Form kControl[] = {
    {"bra[.uni]", "*", bra},
    {"brx.idx|[.uni]", "*", brx, 60},
    {"call[.uni]", "*", call_form},
    {"ret[.uni]", "", leave},
    {"exit", "", leave},
    {"trap", "", leave},
    {"brkpt", "", stop_here},
};

}  // namespace

std::span<const Form> control_forms() { return kControl; }

}  // namespace bitwell::isa
