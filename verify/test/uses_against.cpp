#include "uses_against.h"

#include "model/machine/memory/memory.h"

namespace bitwell::test {

std::string words(const isa::Touch& t) {
  static constexpr const char* kSpaces[] = {"generic", "global", "shared::cta",     "local",
                                            "param",   "const",  "shared::cluster", "tensor"};
  return std::string(t.reads && t.writes ? "updates"
                     : t.reads           ? "reads"
                                         : "writes") +
         " " + (t.bytes == 0 ? "" : std::to_string(t.bytes) + " bytes of ") +
         kSpaces[static_cast<size_t>(t.space)] + (t.barrier ? ", an mbarrier" : "") +
         (t.operation ? ", by an operation" : "") +
         (t.address == isa::Touch::kNoAddress ? "" : ", at operand " + std::to_string(t.address));
}

std::string words(const isa::FunctionUses& of, size_t instruction) {
  static constexpr const char* kTakes[] = {"takes",  "goes to", "is helped by", "if",
                                           "writes", "adds to", "multiplies"};
  const isa::Uses uses = of.at(instruction);
  std::string out;
  for (const isa::Use& u : uses.operands) {
    out += std::string(out.empty() ? "" : "; ") + kTakes[static_cast<size_t>(u.take)] + " ";
    switch (u.of) {
      case isa::Use::Of::nothing: out += "_"; break;
      case isa::Use::Of::reg: out += of.register_name(u.number); break;
      case isa::Use::Of::constant: out += std::to_string(of.constant(u)); break;
      case isa::Use::Of::variable:
      case isa::Use::Of::parameter: out += of.variable(u); break;
      case isa::Use::Of::function: out += "function " + std::to_string(u.number); break;
      case isa::Use::Of::special: out += "a special register"; break;
    }
  }
  for (const isa::Touch& t : uses.touches) out += (out.empty() ? "" : "; ") + words(t);
  return out;
}

namespace {
bool in(uint64_t window, uint64_t address) { return address - window < machine::kWindowSize; }
bool allows(const isa::Touch& t, const machine::Access& a, uint64_t address) {
  using isa::Space;
  const bool reads = a.kind != machine::AccessKind::write, writes = a.kind != machine::AccessKind::read;
  if ((reads && !t.reads) || (writes && !t.writes) || (a.operation != 0 && !t.operation)) return false;
  if (t.barrier != a.mbarrier || (t.bytes != 0 && t.bytes != a.bytes)) return false;
  if (a.rows != 0 || t.space == Space::tensor) return a.rows != 0 && t.space == Space::tensor;
  if (t.space == Space::generic) return true;
  if (in(machine::kSharedWindow, address)) return t.space == Space::shared || t.space == Space::cluster;
  // Parameters of functions and calls stand in local memory.
  if (in(machine::kLocalWindow, address)) return t.space == Space::local || t.space == Space::param;
  if (in(machine::kParamWindow, address)) return t.space == Space::param;
  if (in(machine::kConstWindow, address)) return t.space == Space::constant;
  return t.space == Space::global;
}
}  // namespace

UsesAgainst::UsesAgainst(const isa::Program& program) {
  for (const isa::Function& f : program.functions)
    for (size_t i = 0; i < f.uses.size(); ++i)
      for (const isa::Touch& t : f.uses.at(i).touches) of_line_[f.lines[i].ptx].push_back(&t);
  for (const isa::Function& f : program.functions)
    for (size_t i = 0; i < f.uses.size(); ++i)
      if (f.uses.at(i).act == isa::Act::allocates || f.uses.at(i).act == isa::Act::frees)
        heap_.insert(f.lines[i].ptx);
}
machine::Observer UsesAgainst::observer() {
  machine::Observer out;
  out.accesses = true;
  out.steps = false;
  out.tell = [this](const machine::Event& event) { look(event); };
  return out;
}
void UsesAgainst::look(const machine::Event& event) {
  if (const auto* a = std::get_if<machine::Access>(&event.what)) look(*a);
}
std::string UsesAgainst::unseen() const {
  for (const auto& [line, touches] : of_line_)
    for (const isa::Touch* t : touches)
      if (t->space != isa::Space::param && !seen(t))
        return "PTX line " + std::to_string(line) + " never " + words(*t);
  return "";
}
size_t UsesAgainst::accesses_of(int line) const {
  const auto at = counts_.find(line);
  return at == counts_.end() ? 0 : at->second;
}
void UsesAgainst::look(const machine::Access& a) {
  ++counts_[a.ptx_line];
  if (heap_.contains(a.ptx_line)) return;
  const uint64_t address = a.addresses[a.lanes == 0 ? 0 : static_cast<size_t>(__builtin_ctz(a.lanes))];
  bool allowed = false;
  for (const isa::Touch* t : of_line_[a.ptx_line])
    if (allows(*t, a, address)) {
      allowed = true;
      seen_.insert(t);
    }
  if (allowed || !wrong_.empty()) return;
  wrong_ = "PTX line " + std::to_string(a.ptx_line) + ": " +
           (a.kind == machine::AccessKind::read    ? "a read"
            : a.kind == machine::AccessKind::write ? "a write"
                                                   : "an update") +
           " of " + std::to_string(a.bytes) + " bytes at " + std::to_string(address) +
           (a.operation != 0 ? " by an operation" : "") + (a.mbarrier ? " of an mbarrier" : "") +
           (a.rows != 0 ? " of tensor memory" : "") + ", which has";
  for (const isa::Touch* t : of_line_[a.ptx_line]) wrong_ += " [" + words(*t) + "]";
}

}  // namespace bitwell::test
