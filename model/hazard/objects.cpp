#include "model/hazard/objects.h"

#include <algorithm>

#include "model/hazard/local_pointers.h"
#include "model/hazard/object_flow.h"
#include "model/machine/memory.h"

namespace bitwell::hazard {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

// Of a copy between two places the operands of both are addresses: it reads through the second.
bool copies(const Instruction& i) {
  return i.opcode == "cp" || (i.opcode == "tensormap" && has(i, ".cp_fenceproxy"));
}

// Those that reach no bytes, or those of an mbarrier alone.
bool reaches_bytes(const Instruction& i) {
  const bool arrives =
      has(i, ".mbarrier") && i.opcode == "cp";
  return i.opcode != "mbarrier" && i.opcode != "prefetch" && i.opcode != "fence" && !arrives;
}

}  // namespace

bool Object::holds(uint64_t at, uint64_t bytes) const {
  const auto in = [&](uint64_t first) { return at >= first && (size == 0 || at + bytes <= first + size); };
  return in(offset) || std::any_of(elsewhere.begin(), elsewhere.end(), in);
}

ObjectPlace object_place(uint64_t generic) {
  if (const uint64_t at = generic - machine::kSharedWindow; at < machine::kWindowSize)
    return {Object::Space::shared, at & ((uint64_t{1} << machine::kRankShift) - 1)};
  if (const uint64_t at = generic - machine::kLocalWindow; at < machine::kWindowSize)
    return {Object::Space::local, at};
  const bool constant = generic - machine::kConstWindow < machine::kWindowSize;
  return {constant ? Object::Space::constant : Object::Space::global, generic};
}

// Calls of malloc and free where they are nobody's own functions.
void Objects::find_heap_calls(const std::vector<ptx::Statement>& body) {
  for (const ptx::Statement& s : body) {
    find_heap_calls(s.body);
    if (s.kind != ptx::Statement::Kind::instruction || s.instruction.opcode != "call") continue;
    for (const Operand& o : s.instruction.operands) {
      if (o.kind != OperandKind::name || (o.name != "malloc" && o.name != "free")) continue;
      const auto line = static_cast<size_t>(s.instruction.at.line);
      if (heap_.size() <= line) heap_.resize(line + 1);
      heap_[line] = o.name == "free" ? Heap::free : Heap::malloc;
    }
  }
}

Objects::Objects(const ptx::Module& module, std::vector<Object> places) : places_(std::move(places)) {
  const bool own = std::any_of(module.functions.begin(), module.functions.end(), [](const ptx::Function& f) {
    return f.has_body && (f.name == "malloc" || f.name == "free");
  });
  for (const ptx::Function& f : module.functions)
    if (!own) find_heap_calls(f.body);
  std::vector<std::string> names;
  for (const Object& o : places_) names.push_back(o.name);
  const ObjectFlow flow(module, names);
  local_pointers_ = std::make_shared<const LocalPointers>(flow, places_);
  std::vector<int> seen;
  const auto put = [](ByLine& lines, int line, std::optional<size_t> object) {
    if (lines.size() <= static_cast<size_t>(line)) lines.resize(static_cast<size_t>(line) + 1);
    lines[static_cast<size_t>(line)] = object;
  };
  for (const ObjectFlow::Use& use : flow.uses()) {
    if (use.addresses.empty() || !reaches_bytes(*use.instruction)) continue;
    const int line = use.instruction->at.line;
    const bool again = !seen.empty() && seen.back() == line;  // two instructions of a line
    seen.push_back(line);
    const size_t read = copies(*use.instruction) ? 1 : 0;
    const bool reads = !again && read < use.addresses.size();
    put(reads_, line, reads ? flow.object_of(use.addresses[read]) : std::nullopt);
    put(writes_, line, again ? std::nullopt : flow.object_of(use.addresses[0]));
  }
}

}  // namespace bitwell::hazard
