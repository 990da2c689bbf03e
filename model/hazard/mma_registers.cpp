#include "model/hazard/mma_registers.h"

#include <algorithm>

#include "model/hazard/register_range.h"

namespace bitwell::hazard {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

// A register by the scope that declares it: names come again in inner ones.
using Register = std::pair<int, std::string>;

struct Access {
  Register which;
  bool written;
};
struct Mma {
  int line;
  std::string shape;
  std::set<Register> accumulators, fragments;
};
struct RegisterUse {
  int line;
  std::vector<Access> accesses;
};

bool is_mma(const Instruction& i) {
  return i.opcode == "wgmma" && !i.modifiers.empty() && i.modifiers.front() == ".mma_async";
}

// The instructions of a function, with registers for names.
class Walk {
 public:
  explicit Walk(const ptx::Function& f) { block(f.body); }

  std::vector<Mma> mmas;
  std::vector<RegisterUse> uses;
  std::set<int> fences, taken;  // lines of wgmma.fence, and of anything of wgmma

 private:
  struct Scope {
    int number;
    std::set<std::string> names;
    std::vector<std::pair<std::string, int>> ranges;
  };

  void block(const std::vector<ptx::Statement>& body) {
    scopes_.push_back({count_++, {}, {}});
    for (const ptx::Statement& s : body) {
      if (s.kind == ptx::Statement::Kind::variable && s.variable.space == ".reg") {
        if (s.variable.range)
          scopes_.back().ranges.emplace_back(s.variable.name, *s.variable.range);
        else
          scopes_.back().names.insert(s.variable.name);
      }
      if (s.kind == ptx::Statement::Kind::instruction) instruction(s.instruction);
      if (s.kind == ptx::Statement::Kind::block) block(s.body);
    }
    scopes_.pop_back();
  }

  // Of the innermost scope that declares it; labels and variables are none.
  std::optional<Register> register_at(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->names.count(name) != 0) return Register{scope->number, name};
      for (const auto& [prefix, count] : scope->ranges)
        if (const auto one = register_of(name, prefix, count)) return Register{scope->number, *one};
    }
    return std::nullopt;
  }

  template <class Visit>
  void each(const Operand& o, Visit visit) const {
    if (o.kind == OperandKind::name) {
      if (const auto found = register_at(o.name)) visit(*found);
    } else {
      for (const Operand& e : o.elements) each(e, visit);
    }
  }

  void instruction(const Instruction& i) {
    const int line = i.at.line;
    if (i.opcode == "wgmma") taken.insert(line);
    if (is_mma(i) && i.operands.size() > 1) {
      Mma& mma = mmas.emplace_back(Mma{line, i.modifiers.size() > 3 ? i.modifiers[3] : "", {}, {}});
      each(i.operands[0], [&](const Register& r) { mma.accumulators.insert(r); });
      if (i.operands[1].kind == OperandKind::vector)
        each(i.operands[1], [&](const Register& r) { mma.fragments.insert(r); });
    } else if (i.opcode == "wgmma") {
      if (!i.modifiers.empty() && i.modifiers.front() == ".fence") fences.insert(line);
    } else {
      RegisterUse& use = uses.emplace_back(RegisterUse{line, {}});
      for (const Operand& o : i.operands) {
        const bool written = &o == &i.operands.front() && o.kind != OperandKind::memory;
        each(o, [&](const Register& r) { use.accesses.push_back({r, written}); });
      }
    }
  }

  std::vector<Scope> scopes_;
  int count_ = 0;
};

// One of both sets, or nullptr.
const Register* common(const std::set<Register>& a, const std::set<Register>& b) {
  const auto at = std::find_if(a.begin(), a.end(), [&](const Register& r) { return b.count(r) != 0; });
  return at == a.end() ? nullptr : &*at;
}

}  // namespace

MmaRegisters::MmaRegisters(const ptx::Module& module) {
  using As = Reach::As;
  for (const ptx::Function& f : module.functions) {
    const Walk walk(f);
    if (walk.mmas.empty()) continue;
    fences_.insert(walk.fences.begin(), walk.fences.end());
    std::set<Register> all;
    for (const Mma& mma : walk.mmas)
      for (const auto* own : {&mma.accumulators, &mma.fragments}) all.insert(own->begin(), own->end());
    for (const RegisterUse& use : walk.uses) {
      // Of one line only its first instruction is known to be reached.
      if (walk.taken.count(use.line) != 0) continue;
      if (std::none_of(use.accesses.begin(), use.accesses.end(),
                       [&](const Access& a) { return all.count(a.which) != 0; }))
        continue;
      for (const Mma& mma : walk.mmas)
        for (const bool written : {true, false})
          for (const bool accumulator : {true, false}) {
            const auto& own = accumulator ? mma.accumulators : mma.fragments;
            const auto at = std::find_if(use.accesses.begin(), use.accesses.end(), [&](const Access& a) {
              return a.written == written && own.count(a.which) != 0;
            });
            if (at != use.accesses.end())
              reaches_[use.line].push_back({As::thread, mma.line, at->which.second, accumulator, written});
          }
    }
    for (const Mma& mma : walk.mmas)
      for (const Mma& other : walk.mmas) {
        if (const Register* r = common(mma.fragments, other.accumulators))
          reaches_[mma.line].push_back({As::operand, other.line, r->second, true, false});
        if (const Register* r = common(mma.accumulators, other.fragments))
          reaches_[mma.line].push_back({As::operand, other.line, r->second, false, true});
        if (const Register* r = common(mma.accumulators, other.accumulators);
            r != nullptr && mma.shape != other.shape)
          reaches_[mma.line].push_back({As::other_shape, other.line, r->second, true, true});
      }
  }
}

const std::vector<MmaRegisters::Reach>& MmaRegisters::at(int line) const {
  static const std::vector<Reach> none;
  const auto found = reaches_.find(line);
  return found == reaches_.end() ? none : found->second;
}

std::vector<int> MmaRegisters::lines() const {
  std::set<int> out = fences_;
  for (const auto& [line, reached] : reaches_) out.insert(line);
  return {out.begin(), out.end()};
}

}  // namespace bitwell::hazard
