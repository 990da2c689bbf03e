// What is known of machine code without any: of several instructions of PTX ptxas makes one, over a few it
// makes no branch.
#include <algorithm>
#include <initializer_list>
#include <optional>

#include "model/isa/form/program.h"
#include "model/timing/clock/state.h"

namespace bitwell::timing {

// Machine code has three operands where PTX has two: of two operations of logic, two sums, a shift or
// rotation and a sum, or a product and a sum, of which the second alone uses the first, it makes one.
void Clock::join_pairs(const isa::Function& f, std::vector<Info>& out) const {
  const auto name = [&](size_t i) -> std::string_view {
    return f.lines[static_cast<size_t>(f.code[i].line)].text;
  };
  const auto is = [&](size_t i, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name(i)) != names.end();
  };
  const auto logic = [&](size_t i) {
    return is(i, {"and.b32", "or.b32", "xor.b32", "not.b32", "and.b16", "or.b16", "xor.b16", "not.b16"});
  };
  const auto sum = [&](size_t i) { return is(i, {"add.s32", "add.u32", "sub.s32", "sub.u32"}); };
  const auto turn = [&](size_t i) { return is(i, {"shl.b32", "shf.l.wrap.b32"}); };
  // That a product may be joined with.
  const auto sum_of_product = [&](size_t i, size_t user) {
    for (const std::string_view type : {".f32", ".ftz.f32", ".f64", ".f16", ".f16x2"})
      if (name(i).starts_with("mul") && name(i).substr(3) == type)
        return (name(user).starts_with("add") || name(user).starts_with("sub")) &&
               name(user).substr(3) == type;
    return false;
  };
  const auto joins = [&](size_t i, size_t user) {
    if (logic(i)) return logic(user);
    if (sum(i)) return sum(user);
    if (name(i) == "shl.b32") return sum(user) || name(user) == "or.b32";
    if (turn(i)) return sum(user);
    return sum_of_product(i, user);
  };
  const auto may_join = [&](size_t i) {
    return logic(i) || sum(i) || turn(i) || name(i).starts_with("mul.f") || name(i).starts_with("mul.ftz");
  };
  constexpr size_t kFar = 256, kMost = 3;
  // What each takes in, with all that was joined to it; constants too.
  std::vector<std::vector<uint32_t>> takes(f.code.size());
  for (size_t i = 0; i < f.code.size(); ++i)
    for (const uint32_t row : {f.code[i].a, f.code[i].b, f.code[i].c})
      if (row > isa::kZero) takes[i].push_back(row);
  for (size_t i = 0; i < f.code.size(); ++i) {
    if (!may_join(i) || out[i].results != 1) continue;
    const uint32_t row = results(out[i]).front();
    size_t uses = 0;
    std::vector<size_t> users;
    for (size_t j = i + 1; j < std::min(f.code.size(), i + kFar); ++j) {
      const auto from = sources(out[j]), to = results(out[j]);
      const auto n = static_cast<size_t>(std::count(from.begin(), from.end(), row));
      if (n != 0) users.push_back(j);
      uses += n;
      if (std::count(to.begin(), to.end(), row) != 0 || out[j].ends_block) break;
    }
    if (users.empty() || uses != users.size()) continue;
    const auto has_two = [&](size_t j) { return joins(i, j) && takes[j].size() == 2; };
    if (logic(i) || sum(i)) {
      const size_t user = users.front();
      if (uses != 1 || !joins(i, user)) continue;
      std::vector<uint32_t> all = takes[i];
      for (const uint32_t other : takes[user])
        if (other != f.code[i].d && (!logic(i) || std::find(all.begin(), all.end(), other) == all.end()))
          all.push_back(other);
      if (all.size() > kMost) continue;
      takes[user] = std::move(all);
    } else {  // a shift has one sum, a product any number, none of which takes in more
      if ((turn(i) && uses != 1) || !std::all_of(users.begin(), users.end(), has_two)) continue;
      for (const size_t user : users) takes[user].assign(kMost, 0);
    }
    out[i].table.interval = 0;
    out[i].table.latency = 0;
  }
}

// ptxas makes no branch over a few instructions: it has them execute under its predicate.
// Returns by op: the row of that, or 0; of such a branch too.
std::vector<uint32_t> Clock::predicated(const isa::Function& f) const {
  constexpr size_t kMost = 7, kLoads = 1;
  std::vector<uint32_t> out(f.code.size());
  std::vector<uint32_t> comes(f.code.size() + 1);  // so many branches go there
  for (const isa::Op& op : f.code) {
    if (op.kind == isa::OpKind::branch || op.kind == isa::OpKind::jump) ++comes[op.target];
    if (op.targets != nullptr)
      for (const uint32_t to : *op.targets) ++comes[to];
  }
  for (size_t i = 0; i < f.code.size(); ++i) {
    const isa::Op& branch = f.code[i];
    if (branch.kind != isa::OpKind::branch || branch.guard == 0 || branch.target <= i + 1 ||
        branch.target - i - 1 > kMost)
      continue;
    size_t loads = 0;
    bool few = true;
    for (size_t k = i + 1; k < branch.target && few; ++k) {
      const isa::Op& op = f.code[k];
      const isa::Line& line = f.lines[static_cast<size_t>(op.line)];
      const std::optional<OpCost> cost = device_.op(line.text);
      const OpKind kind = kind_of(line.text, line.unit);
      loads += line.text.starts_with("ld") ? 1 : 0;
      few = comes[k] == 0 && op.guard == 0 && loads <= kLoads &&
            (op.kind == isa::OpKind::lanes || op.kind == isa::OpKind::effect) &&
            ((kind == OpKind::arithmetic && !(cost && cost->branches_within)) ||
             (kind == OpKind::memory && is_weak(line.text)));
    }
    if (few)
      for (size_t k = i; k < branch.target; ++k) out[k] = branch.guard;
  }
  return out;
}

}  // namespace bitwell::timing
