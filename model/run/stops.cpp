#include "model/run/stops.h"

#include <set>

#include "model/run/context.h"

namespace bitwell::run {

std::vector<std::vector<uint32_t>> stops(const isa::Program& program,
                                         const std::vector<machine::Observer>& observers) {
  std::set<int> lines;
  for (const machine::Observer& o : observers) lines.insert(o.lines.begin(), o.lines.end());
  if (lines.empty()) return {};
  std::vector<std::vector<uint32_t>> out;
  for (const isa::Function& f : program.functions) {
    std::vector<uint32_t>& next = out.emplace_back(f.code.size() + 2, UINT32_MAX);
    for (size_t pc = f.code.size(); pc-- > 0;) {
      next[pc] = next[pc + 1];
      const int line = f.lines[static_cast<size_t>(f.code[pc].line)].ptx;
      // An instruction of several ops starts with the first.
      const bool starts = pc == 0 || f.lines[static_cast<size_t>(f.code[pc - 1].line)].ptx != line;
      if (starts && f.code[pc].kind != isa::OpKind::jump && lines.count(line) != 0)
        next[pc] = static_cast<uint32_t>(pc);
    }
  }
  return out;
}

uint32_t Cta::next_stop(const Context& context, uint32_t from) const {
  return grid.stops[static_cast<size_t>(context.warp.splits[context.split_index].activation->function)][from];
}

// Tells of a split that is at a stop, once for each time that it comes there: not again when it has waited.
void Cta::arrive(Context& context, uint32_t pc, uint64_t instructions) {
  machine::Split& split = context.split();
  if (split.told_at == pc) return;
  split.told_at = machine::Split::kNotTold;
  if (next_stop(context, pc) != pc) return;
  const isa::Op& op = grid.program.functions[static_cast<size_t>(split.activation->function)].code[pc];
  uint32_t lanes = split.mask;
  if (op.guard != 0) {
    const uint32_t guard = *context.row<uint32_t>(op.guard);
    lanes &= op.guard_negated ? ~guard : guard;
  }
  if (lanes == 0) return;
  split.told_at = pc;
  cluster.executed(instructions);
  const isa::Line& at = grid.program.functions[static_cast<size_t>(split.activation->function)]
                            .lines[static_cast<size_t>(op.line)];
  cluster.tell_reached(cluster.event_of<machine::Reached>(
      index, context.warp.index, lanes, cluster.time(), at.ptx, machine::words_of(at.cuda),
      std::string_view(at.text), &shared, &tensor_memory));
}

}  // namespace bitwell::run
