#include "model/hazard/flow/mma_registers.h"

#include <algorithm>
#include <optional>
#include <set>

namespace bitwell::hazard {

using Take = isa::Use::Take;

namespace {

using Register = uint32_t;  // number in its function

struct Access {
  Register which;
  bool written;
};
struct Mma {
  int line;
  uint32_t shape;
  std::set<Register> accumulators, fragments;
};
struct RegisterUse {
  int line;
  std::vector<Access> accesses;
};

// The instructions of a function that has any.
class Walk {
 public:
  explicit Walk(const isa::Function& f) {
    bool any = false;
    for (size_t i = 0; i < f.uses.size(); ++i) any = any || f.uses.at(i).act == isa::Act::warpgroup_mma;
    for (size_t i = 0; any && i < f.uses.size(); ++i) instruction(f.uses.at(i), f.lines[i].ptx);
  }

  std::vector<Mma> mmas;
  std::vector<RegisterUse> uses;
  std::set<int> fences, taken;  // lines of wgmma.fence, and of anything of wgmma

 private:
  void instruction(const isa::Uses& what, int line) {
    using enum isa::Act;
    if (what.act == warpgroup_mma || what.act == warpgroup_fence || what.act == warpgroup_group) {
      taken.insert(line);
      if (what.act == warpgroup_fence) fences.insert(line);
      if (what.act != warpgroup_mma) return;
      Mma& mma = mmas.emplace_back(Mma{line, what.shape, {}, {}});
      for (const isa::Use& u : what.operands) {
        if (u.of != isa::Use::Of::reg) continue;
        if (u.take == Take::accumulator) mma.accumulators.insert(u.number);
        if (u.take == Take::fragment) mma.fragments.insert(u.number);
      }
      return;
    }
    RegisterUse& use = uses.emplace_back(RegisterUse{line, {}});
    for (const isa::Use& u : what.operands)
      if (u.of == isa::Use::Of::reg) use.accesses.push_back({u.number, u.written()});
  }
};

// The name of one of both sets, or nothing.
std::optional<std::string> common(const std::set<Register>& a, const std::set<Register>& b,
                                  const isa::FunctionUses& names) {
  std::optional<std::string> out;
  for (const Register r : a)
    if (b.count(r) != 0 && (!out || names.register_name(r) < *out)) out = names.register_name(r);
  return out;
}

}  // namespace

MmaRegisters::MmaRegisters(const isa::Program& program) {
  using As = Reach::As;
  for (const isa::Function& f : program.functions) {
    const Walk walk(f);
    if (walk.mmas.empty()) continue;
    for (const int line : walk.fences) of_line(line).fences = true;
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
              of_line(use.line).reaches.push_back(
                  {As::thread, mma.line, f.uses.register_name(at->which), accumulator, written});
          }
    }
    for (const Mma& mma : walk.mmas)
      for (const Mma& other : walk.mmas) {
        if (const auto r = common(mma.fragments, other.accumulators, f.uses))
          of_line(mma.line).reaches.push_back({As::operand, other.line, *r, true, false});
        if (const auto r = common(mma.accumulators, other.fragments, f.uses))
          of_line(mma.line).reaches.push_back({As::operand, other.line, *r, false, true});
        if (mma.shape == other.shape) continue;
        if (const auto r = common(mma.accumulators, other.accumulators, f.uses))
          of_line(mma.line).reaches.push_back({As::other_shape, other.line, *r, true, true});
      }
  }
}

MmaRegisters::OfLine& MmaRegisters::of_line(int line) {
  const auto number = static_cast<size_t>(line);
  if (number >= of_lines_.size()) of_lines_.resize(number + 1);
  return of_lines_[number];
}

const std::vector<MmaRegisters::Reach>& MmaRegisters::at(int line) const {
  static const std::vector<Reach> none;
  const auto number = static_cast<size_t>(line);
  return number < of_lines_.size() ? of_lines_[number].reaches : none;
}

std::vector<int> MmaRegisters::lines() const {
  std::vector<int> out;
  for (size_t i = 0; i < of_lines_.size(); ++i)
    if (of_lines_[i].fences || !of_lines_[i].reaches.empty()) out.push_back(static_cast<int>(i));
  return out;
}

}  // namespace bitwell::hazard
