#include "model/run/stops.h"

#include <algorithm>
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
    out.emplace_back();
    for (size_t pc = 0; pc < f.code.size(); ++pc) {
      const int line = f.lines[static_cast<size_t>(f.code[pc].line)].ptx;
      // An instruction of several ops starts with the first.
      const bool starts = pc == 0 || f.lines[static_cast<size_t>(f.code[pc - 1].line)].ptx != line;
      if (starts && f.code[pc].kind != isa::OpKind::jump && lines.count(line) != 0)
        out.back().push_back(static_cast<uint32_t>(pc));
    }
  }
  return out;
}

uint32_t Cta::next_stop(const Context& context, uint32_t from) const {
  const auto& pcs =
      grid.stops[static_cast<size_t>(context.warp.splits[context.split_index].activation->function)];
  const auto at = std::lower_bound(pcs.begin(), pcs.end(), from);
  return at == pcs.end() ? UINT32_MAX : *at;
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
