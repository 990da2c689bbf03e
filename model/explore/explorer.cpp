#include "model/explore/explorer.h"

#include <algorithm>

namespace bitwell::explore {

size_t Explorer::number_of(const Actor& actor) {
  return numbers_.try_emplace(actor, numbers_.size()).first->second;
}

bool Explorer::is_asleep(const Node& node, const Actor& actor) const {
  return std::any_of(node.asleep.begin(), node.asleep.end(),
                     [&](const Tried& t) { return t.actor == actor; });
}

// The next in the node's place that is still to be tried; nullptr: there is none.
const Actor* Explorer::left(const Node& node) const {
  for (const Actor& a : node.to_try)
    if (a != node.taken && !is_asleep(node, a) &&
        std::none_of(node.done.begin(), node.done.end(), [&](const Tried& t) { return t.actor == a; }))
      return &a;
  return nullptr;
}

Explorer::Next Explorer::next() {
  for (; !first_; nodes_.pop_back(), counted_ = false) {
    if (nodes_.size() == own_) return Next::over;
    Node& node = nodes_.back();
    if (!counted_) node.done.push_back({node.taken, std::move(node.footprint)});
    counted_ = true;
    const Actor* const actor = left(node);
    if (actor == nullptr) continue;
    if (node.given != nullptr) return Next::part;
    node.taken = *actor;
    break;
  }
  first_ = counted_ = false;
  known_ = nodes_.empty() ? 0 : nodes_.size() - 1;
  depth_ = 0;
  open_ = false;
  start_over();
  return Next::run;
}

std::unique_ptr<Explorer> Explorer::give(size_t behind) {
  size_t place = SIZE_MAX;
  for (size_t i = nodes_.size(), seen = 0; i-- > own_ && seen <= behind;) {
    if (nodes_[i].given != nullptr || left(nodes_[i]) == nullptr) continue;
    place = i;
    ++seen;
  }
  if (place == SIZE_MAX) return nullptr;
  auto out = std::make_unique<Explorer>(shape_, most_turns_);
  out->own_ = place + 1;
  out->numbers_ = numbers_;
  for (size_t i = 0; i <= place; ++i) {
    const Node& node = nodes_[i];
    out->nodes_.push_back({node.can, {}, {}, {}, node.taken, node.actor, node.footprint, node.clock});
  }
  Node& from = nodes_[place];
  Node& to = out->nodes_.back();
  to.asleep = from.asleep;
  to.done = from.done;
  if (place + 1 != nodes_.size() || !counted_) to.done.push_back({from.taken, from.footprint});
  to.taken = *left(from);
  from.given = out.get();
  return out;
}

void Explorer::take(const Explorer& part) {
  Node& node = nodes_.back();
  const Node& explored = part.nodes_.back();
  node.given = nullptr;
  node.taken = explored.taken;
  node.footprint = explored.footprint;
  counted_ = false;
  for (const Reversal& r : part.elsewhere_) reverse(r);
}

std::optional<Actor> Explorer::before(size_t turn) const {
  return turn == 0 ? std::nullopt : std::optional(nodes_[turn - 1].taken);
}

// Who goes on at a place where nobody has been before.
std::optional<Actor> Explorer::fresh(const Node& node) const {
  std::vector<Actor> awake;
  for (const Actor& a : node.can)
    if (!is_asleep(node, a)) awake.push_back(a);
  if (awake.empty()) return std::nullopt;
  return default_of(awake, before(depth_));
}

size_t Explorer::choose(std::span<const run::Taker> takers) {
  const std::vector<Actor> can = actors_of(takers);
  if (depth_ != 0) {
    const Node& last = nodes_[depth_ - 1];
    for (const Actor& a : can)
      if (std::count(last.can.begin(), last.can.end(), a) == 0) witness_.wakes(a, last.clock);
  }
  if (depth_ == most_turns_) throw TooLong("a run has more than " + std::to_string(most_turns_) + " turns");
  if (depth_ == nodes_.size()) {
    Node node;
    node.can = can;
    if (depth_ != 0) {
      const Node& last = nodes_[depth_ - 1];
      for (const auto* list : {&last.asleep, &last.done})
        for (const Tried& t : *list)
          if (t.actor != last.taken && !disturbs(last.footprint, t.footprint)) node.asleep.push_back(t);
    }
    const std::optional<Actor> taken = fresh(node);
    if (!taken) throw Pruned{};
    node.taken = *taken;
    node.to_try.push_back(*taken);
    nodes_.push_back(std::move(node));
  }
  Node& node = nodes_[depth_];
  const auto at = std::find(can.begin(), can.end(), node.taken);
  if (at == can.end()) throw machine::ModelBug("a run does not repeat itself: " + name_of(node.taken));
  node.actor = number_of(node.taken);
  witness_.begin(node.taken);
  ++depth_;
  open_ = true;
  return static_cast<size_t>(at - can.begin());
}

void Explorer::took(const run::Took& turn) {
  const bool any = changed(turn.changes);
  Node& node = nodes_[depth_ - 1];
  if (depth_ > known_) node.footprint = witness_.footprint(any);
  close(node, any);
}

void Explorer::end() {
  if (!open_) return;
  // A fault in the midst of a turn: nobody else goes on after it, so that all others are to be tried before.
  // One that comes before an access is told of may hang on what cannot be addressed by loads alone, and on
  // what has been freed.
  Node& node = nodes_[depth_ - 1];
  node.footprint = witness_.footprint(true);
  for (Touch& t : node.footprint) t.mode = Mode::write;
  if (node.footprint.empty())
    for (const Space space : kSpaces)
      node.footprint.push_back(
          {space, space == Space::global ? 0 : node.taken.cluster, 0, UINT64_MAX, Mode::write});
  reverse({depth_ - 1, {}, {}});
  close(node, true);
}

// The turn's clock, and the races that it is the later part of.
void Explorer::close(Node& node, bool changed) {
  Clock waiting = witness_.take_waiting(node.taken);
  if (depth_ > known_) {
    Clock& clock = node.clock;
    clock = std::move(waiting);
    join(clock, witness_.gathered());
    std::vector<size_t> races;
    uint32_t own = 0;
    for (size_t i = depth_ - 1; i-- > 0;)
      if (nodes_[i].actor == node.actor) {
        own = at(nodes_[i].clock, node.actor);
        join(clock, nodes_[i].clock);
        break;
      }
    for (size_t i = depth_ - 1; i-- > 0;) {
      const Node& before = nodes_[i];
      if (at(clock, before.actor) >= at(before.clock, before.actor)) continue;  // behind it anyway
      if (!conflict(before.footprint, node.footprint)) continue;
      races.push_back(i);
      join(clock, before.clock);
    }
    if (clock.size() <= node.actor) clock.resize(node.actor + 1);
    clock[node.actor] = own + 1;
    for (const size_t i : races) reverse({i, initials(i, node), node.taken});
  }
  witness_.end(node.clock, changed);
  open_ = false;
}

// Who could go first of what follows the turn `earlier` without being behind it, up to the turn `later`,
// which is to come before it.
std::vector<Actor> Explorer::initials(size_t earlier, const Node& later) const {
  const Node& skipped = nodes_[earlier];
  const uint32_t time = at(skipped.clock, skipped.actor);
  std::vector<const Node*> rest;
  for (size_t i = earlier + 1; i + 1 < depth_; ++i)
    if (at(nodes_[i].clock, skipped.actor) < time) rest.push_back(&nodes_[i]);
  rest.push_back(&later);
  std::vector<Actor> out;
  for (size_t i = 0; i < rest.size(); ++i) {
    const bool first =
        std::none_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(i), [&](const Node* o) {
          return o->actor == rest[i]->actor || at(rest[i]->clock, o->actor) >= at(o->clock, o->actor);
        });
    if (first) out.push_back(rest[i]->taken);
  }
  return out;
}

void Explorer::reverse(Reversal r) {
  if (r.place < own_) {
    if (known_elsewhere_.insert(r).second) elsewhere_.push_back(std::move(r));
    return;
  }
  Node& node = nodes_[r.place];
  const auto among = [](const std::vector<Actor>& all, const Actor& a) {
    return std::find(all.begin(), all.end(), a) != all.end();
  };
  const auto possible = [&](const Actor& a) { return among(node.can, a); };
  if (std::any_of(r.first.begin(), r.first.end(), [&](const Actor& a) { return among(node.to_try, a); }))
    return;
  const auto at = std::find_if(r.first.begin(), r.first.end(), possible);
  if (among(r.first, r.later) && possible(r.later))
    node.to_try.push_back(r.later);
  else if (at != r.first.end())
    node.to_try.push_back(*at);
  else  // what makes one of them possible is not in the clocks
    for (const Actor& a : node.can)
      if (!among(node.to_try, a)) node.to_try.push_back(a);
}

// Up to the last turn that an order without it would give to another.
Order Explorer::order() const {
  size_t named = depth_;
  while (named != 0 && default_of(nodes_[named - 1].can, before(named - 1)) == nodes_[named - 1].taken)
    --named;
  Order out;
  for (size_t i = 0; i < named; ++i) {
    if (out.empty() || out.back().first != nodes_[i].taken) out.emplace_back(nodes_[i].taken, 0);
    ++out.back().second;
  }
  return out;
}

}  // namespace bitwell::explore
