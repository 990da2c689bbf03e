#include "model/hazard/flow/ways.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace bitwell::hazard {

namespace {

constexpr size_t kNobody = SIZE_MAX;

}  // namespace

Ways::Effect Ways::effect_of(const isa::Uses& uses) {
  using isa::Space;
  const bool results = std::any_of(uses.operands.begin(), uses.operands.end(),
                                   [](const isa::Use& operand) { return operand.written(); });
  Effect out;
  for (const isa::Touch& t : uses.touches) {
    if (t.barrier) continue;
    const bool anywhere = t.space == Space::generic;
    const std::array<bool, 3> there{anywhere || t.space == Space::shared || t.space == Space::cluster,
                                    anywhere || t.space == Space::local, t.space == Space::tensor};
    // What changes memory in its place alone leads nowhere else.
    const bool leads_on = t.reads && (!t.writes || results);
    for (size_t place = 0; place < there.size(); ++place) {
      out.reads[place] = out.reads[place] || (leads_on && there[place]);
      out.writes[place] = out.writes[place] || (t.writes && there[place]);
    }
    out.output = out.output || (t.writes && (anywhere || t.space == Space::global));
  }
  return out;
}

std::optional<Ways::Taken::As> Ways::taken_as(isa::Use::Take take) {
  using enum isa::Use::Take;
  switch (take) {
    case data:
    case accumulator:
    case fragment: return Taken::As::data;
    case address: return Taken::As::address;
    case guard: return Taken::As::guard;
    default: return std::nullopt;
  }
}

Ways::Ways(const isa::Program& program) : flow_(program, {}) {
  const size_t values = flow_.value_count();
  taken_.resize(values);
  flows_.resize(values);
  flow_.each_flow([&](size_t from, size_t to) { flows_[from].push_back(to); });
  for (size_t u = 0; u < flow_.uses().size(); ++u) {
    const ObjectFlow::Use& use = flow_.uses()[u];
    effects_.push_back(effect_of(use.what));
    for (size_t i = 0; i < use.values.size(); ++i)
      if (const auto as = taken_as(use.what.operands[i].take)) taken_[use.values[i]].push_back({u, *as});
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
      if (flow_.uses()[t.use].what.decides) s.end(Way::End::branch, node, t.use);
      leave(s, node, t.use);
    }
  }
  for (const size_t v : flows_[node]) s.reach(v, node, kNobody);
}

Way Ways::from(int line) const {
  Search s(flow_.value_count() + readers_.size());
  for (size_t use = 0; use < flow_.uses().size(); ++use)
    if (flow_.uses()[use].line == line) leave(s, kNobody, use);
  while (!s.waiting.empty() && s.found.end != Way::End::output) {
    const size_t node = s.waiting.front();
    s.waiting.pop_front();
    expand(s, node);
  }
  for (Search::From f = s.last; s.found.end != Way::End::none; f = s.from[f.node]) {
    if (f.use != kNobody) s.found.lines.push_back(flow_.uses()[f.use].line);
    if (f.node == kNobody) break;
  }
  std::reverse(s.found.lines.begin(), s.found.lines.end());
  return s.found;
}

}  // namespace bitwell::hazard
