// What of a program lets its clusters not run side by side.
#include <algorithm>

#include "model/run/parallel/apart.h"
#include "model/run/parallel/parallel.h"

namespace bitwell::run {
namespace {

bool may_be_global(isa::Space space) { return space == isa::Space::global || space == isa::Space::generic; }

// Registers that anything in the function reads.
std::vector<bool> read_registers(const isa::FunctionUses& uses) {
  std::vector<bool> out;
  for (size_t i = 0; i < uses.size(); ++i)
    for (const isa::Use& use : uses.at(i).operands) {
      if (use.of != isa::Use::Of::reg || use.take == isa::Use::Take::result) continue;
      if (use.number >= out.size()) out.resize(use.number + 1);
      out[use.number] = true;
    }
  return out;
}

std::string at_line(const isa::Line& line) { return line.text + " at PTX line " + std::to_string(line.ptx); }

// Why an instruction is to be executed cluster after cluster; empty: it need not.
std::string why(const isa::Uses& uses, const isa::Line& line, bool unordered) {
  if (uses.act == isa::Act::takes_clusters) return at_line(line) + " takes clusters that have not started";
  if (uses.act == isa::Act::allocates || uses.act == isa::Act::frees)
    return "the heap gives addresses in order, at PTX line " + std::to_string(line.ptx);
  for (const isa::Touch& touch : uses.touches) {
    if (touch.barrier || !may_be_global(touch.space)) continue;
    // Of a generic address only a run tells whether it is global.
    if (touch.atomic && !unordered && touch.space == isa::Space::global)
      return at_line(line) + " changes what other CTAs may change too, and its order matters";
    if (touch.host) return at_line(line) + " may be seen by the host meanwhile, and could not be taken back";
    if (touch.strong && touch.reads && !touch.atomic)
      return at_line(line) + " reads what other CTAs may write meanwhile";
  }
  return "";
}

}  // namespace

Unordered unordered_atomics(const isa::Program& program) {
  Unordered out;
  for (const isa::Function& f : program.functions) {
    std::vector<bool>& lines = out.emplace_back(f.uses.size());
    std::vector<bool> read;
    for (size_t i = 0; i < f.uses.size(); ++i) {
      const isa::Uses uses = f.uses.at(i);
      if (!std::any_of(uses.touches.begin(), uses.touches.end(),
                       [](const isa::Touch& t) { return t.commutes; }))
        continue;
      if (read.empty()) read = read_registers(f.uses);
      lines[i] = std::none_of(uses.operands.begin(), uses.operands.end(), [&](const isa::Use& use) {
        return use.of == isa::Use::Of::reg && use.take == isa::Use::Take::result &&
               use.number < read.size() && read[use.number];
      });
    }
  }
  return out;
}

std::string why_in_order(const isa::Program& program, const Shape& shape, const Options& options,
                         const Unordered& unordered) {
  if (options.chooser != nullptr) return "the schedule gives each turn";
  if (options.schedule.policy == Policy::random)
    return "under the random schedule clusters interrupt each other";
  const bool one_watches = options.observers.size() == 1 && apart_of(options.observers.front()) != nullptr;
  if (options.follow != nullptr ||
      (!one_watches &&
       std::any_of(options.observers.begin(), options.observers.end(),
                   [](const machine::Observer& o) { return o.accesses || !o.lines.empty(); })))
    return "every access is watched, in order";
  if (shape.cooperative) return "the launch is cooperative: its CTAs wait for each other";
  for (size_t f = 0; f < program.functions.size(); ++f) {
    const isa::Function& function = program.functions[f];
    for (size_t i = 0; i < function.uses.size(); ++i)
      if (std::string text = why(function.uses.at(i), function.lines[i], unordered[f][i]); !text.empty())
        return text;
  }
  return "";
}

}  // namespace bitwell::run
