#include "model/hazard/ways.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace bitwell::hazard {

using ptx::Instruction;

namespace {

constexpr size_t kNobody = SIZE_MAX;

// The state spaces that an instruction names, in its order: of a copy the destination's first.
std::vector<std::string_view> spaces(const Instruction& i) {
  std::vector<std::string_view> out;
  for (const std::string& m : i.modifiers)
    for (const std::string_view space : {".shared", ".global", ".local", ".const", ".param"})
      if (m == space || m.starts_with(std::string(space) + "::")) out.push_back(space);
  return out;
}

bool branches(const Instruction& i) {
  return i.opcode == "bra" || i.opcode == "brx" || i.opcode == "ret" || i.opcode == "exit" ||
         i.opcode == "trap" || i.opcode == "call";
}

}  // namespace

Ways::Effect Ways::effect_of(const ObjectFlow::Use& use) {
  const Instruction& i = *use.instruction;
  const std::vector<std::string_view> named = spaces(i);
  const std::string_view first = named.empty() ? "" : named.front();
  const bool anywhere = named.empty();
  Effect out;
  const std::array<bool, 3> there{first == ".shared" || anywhere, first == ".local" || anywhere, false};
  const std::string& op = i.opcode;
  const bool loads = op == "ld" || op == "ldu" || (op == "wmma" && has(i, ".load"));
  const bool stores = op == "st" || op == "red" || (op == "wmma" && has(i, ".store"));
  if (loads || op == "atom") out.reads = there;
  if (op == "sust") {
    out.output = true;
  } else if (stores || op == "atom") {
    out.writes = there;
    out.output = first == ".global" || anywhere;
  } else if (op == "ldmatrix" || (op == "wgmma" && has(i, ".mma_async"))) {
    out.reads[shared] = true;
  } else if (op == "stmatrix") {
    out.writes[shared] = true;
  } else if (op == "cp") {
    out.reads[shared] = named.size() > 1 && named[1] == ".shared";
    out.writes[shared] = named.size() > 1 && first == ".shared";
    out.output = named.size() > 1 && first == ".global";
  } else if (op == "tcgen05") {
    out.reads[shared] = has(i, ".mma") || has(i, ".cp");
    out.reads[tensor] = has(i, ".mma") || has(i, ".ld") || has(i, ".shift");
    out.writes[tensor] = has(i, ".mma") || has(i, ".cp") || has(i, ".st") || has(i, ".shift");
  } else if (op == "tensormap") {
    out.reads[shared] = out.writes[shared] = out.output = true;
  }
  return out;
}

Ways::Ways(ptx::Module module) : module_(std::move(module)), flow_(module_, {}) {
  const size_t values = flow_.value_count();
  taken_.resize(values);
  flows_.resize(values);
  flow_.each_flow([&](size_t from, size_t to) { flows_[from].push_back(to); });
  for (size_t u = 0; u < flow_.uses().size(); ++u) {
    const ObjectFlow::Use& use = flow_.uses()[u];
    effects_.push_back(effect_of(use));
    for (const size_t v : use.sources) taken_[v].push_back({u, Taken::As::data});
    for (const size_t v : use.addresses) taken_[v].push_back({u, Taken::As::address});
    if (use.guard) taken_[*use.guard].push_back({u, Taken::As::guard});
    for (size_t place = 0; place < readers_.size(); ++place)
      if (effects_[u].reads[place]) readers_[place].push_back(u);
  }
}

// From what an instruction reads on, breadth first. Nodes are values, and behind them the places.
struct Ways::Search {
  struct From {
    size_t node = kNobody, use = kNobody;  // the node before, and the instruction that led on
  };
  explicit Search(size_t nodes) : from(nodes), seen(nodes) {}

  void reach(size_t node, size_t before, size_t use) {
    if (node <= 1 || seen[node]) return;  // constants, and what comes from elsewhere
    seen[node] = true;
    from[node] = {before, use};
    waiting.push_back(node);
  }
  void end(Way::End how, size_t before, size_t use) {
    const bool better = found.end == Way::End::none || (how == Way::End::output && found.end != how);
    if (!better) return;
    found.end = how;
    last = {before, use};
  }

  std::vector<From> from;
  std::vector<bool> seen;
  std::deque<size_t> waiting;
  Way found;
  From last;
};

// What comes of an instruction whose data were reached.
void Ways::leave(Search& s, size_t from, size_t use) const {
  const Effect& effect = effects_[use];
  if (effect.output) s.end(Way::End::output, from, use);
  for (const size_t v : flow_.uses()[use].results) s.reach(v, from, use);
  for (size_t place = 0; place < effect.writes.size(); ++place)
    if (effect.writes[place]) s.reach(flow_.value_count() + place, from, use);
}

void Ways::expand(Search& s, size_t node) const {
  if (node >= flow_.value_count()) {
    for (const size_t use : readers_[node - flow_.value_count()]) leave(s, node, use);
    return;
  }
  for (const Taken& t : taken_[node]) {
    if (t.as == Taken::As::address) {
      s.end(Way::End::address, node, t.use);
    } else {
      const bool decides = t.as == Taken::As::guard && branches(*flow_.uses()[t.use].instruction);
      if (decides) s.end(Way::End::branch, node, t.use);
      leave(s, node, t.use);
    }
  }
  for (const size_t v : flows_[node]) s.reach(v, node, kNobody);
}

Way Ways::from(int line) const {
  Search s(flow_.value_count() + readers_.size());
  for (size_t use = 0; use < flow_.uses().size(); ++use)
    if (flow_.uses()[use].instruction->at.line == line) leave(s, kNobody, use);
  while (!s.waiting.empty() && s.found.end != Way::End::output) {
    const size_t node = s.waiting.front();
    s.waiting.pop_front();
    expand(s, node);
  }
  for (Search::From f = s.last; s.found.end != Way::End::none; f = s.from[f.node]) {
    if (f.use != kNobody) s.found.lines.push_back(flow_.uses()[f.use].instruction->at.line);
    if (f.node == kNobody) break;
  }
  std::reverse(s.found.lines.begin(), s.found.lines.end());
  return s.found;
}

}  // namespace bitwell::hazard
