#include "model/hazard/knowledge/knowledge.h"

#include <algorithm>

namespace bitwell::hazard {

using machine::Scope;

namespace {

size_t reach(Scope scope) { return static_cast<size_t>(std::min(scope, Scope::gpu)); }

}  // namespace

void join(Knowledge& to, const Knowledge& more) {
  to.happened.join(more.happened);
  for (size_t i = 0; i < to.fenced.size(); ++i) to.fenced[i].join(more.fenced[i]);
  to.narrow_release.join(more.narrow_release);
  to.narrow_acquire.join(more.narrow_acquire);
  to.unreleased.join(more.unreleased);
  to.unwaited.join(more.unwaited);
  to.used.join(more.used);
  to.offered.join(more.offered);
  to.maps = joined(to.maps, more.maps);
  to.sc = joined(to.sc, more.sc);
}

namespace {

bool covers(const Knowledge& a, const Knowledge& b) {
  return a.happened.covers(b.happened) && a.fenced[0].covers(b.fenced[0]) &&
         a.fenced[1].covers(b.fenced[1]) && a.narrow_release.covers(b.narrow_release) &&
         a.narrow_acquire.covers(b.narrow_acquire) && a.unreleased.covers(b.unreleased) &&
         a.unwaited.covers(b.unwaited) && a.used.covers(b.used) && a.offered.covers(b.offered) &&
         (b.maps == nullptr || a.maps == b.maps) && joined(a.sc, b.sc) == a.sc;
}

}  // namespace

Known joined(const Known& a, const Known& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  if (covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  auto out = counted<Knowledge>(*a);
  join(*out, *b);
  return out;
}

Known raised(const Known& known, UnitId unit, uint32_t lanes, uint32_t time) {
  auto out = known == nullptr ? counted<Knowledge>() : counted<Knowledge>(*known);
  out->happened.raise(unit, lanes, time);
  return out;
}

void Message::publish(const Known& known, Scope scope, const Domain& who) {
  Known before, after;  // most scopes hold the same: joined once
  for (size_t i = 0; i <= reach(scope); ++i) {
    if (i == 0 || within_[i] != before) {
      before = within_[i];
      after = joined(known, before);  // most often that knows all
    }
    within_[i] = after;
  }
  from_ = who;
  if (reach(scope) == reach(Scope::gpu)) return;
  const auto same = std::find_if(narrow_.begin(), narrow_.end(), [&](const Narrow& n) {
    return n.scope == scope && who.with(n.from) == Scope::cta;
  });
  if (same != narrow_.end())
    same->known = same->known == before ? after : joined(same->known, known);
  else
    narrow_.push_back({known, scope, who});
}

void Message::write_behind(const KnownAtFences& fences) {
  if (fences.empty()) return;
  KnownAtFences all = fenced_ == nullptr ? KnownAtFences{} : *fenced_;
  all.join(fences);
  if (fenced_ == nullptr || all != *fenced_) fenced_ = counted<const KnownAtFences>(all);
}

Known Message::acquire(Scope scope, const Domain& who) const {
  const size_t needed = reach(who.with(from_));
  const bool wide = reach(scope) >= needed;
  const Known& all = within_.front();
  const auto reaches = [&](const Narrow& n) { return who.with(n.from) <= n.scope; };
  // Who acquires all of it shares it with whoever else does: it is compared by its address.
  Known reached = std::all_of(narrow_.begin(), narrow_.end(), reaches) ? all : within_.back();
  if (reached != all)
    for (const Narrow& n : narrow_)
      if (reaches(n)) reached = joined(reached, n.known);
  Known out = wide ? reached : nullptr;
  if (all != nullptr && out != all) {
    auto narrow = counted<Knowledge>();
    if (reached != all) narrow->narrow_release = all->happened;
    if (!wide) narrow->narrow_acquire = all->happened;
    out = joined(out, narrow);
  }
  if (unreleased_ == nullptr) return out;
  auto unreleased = counted<Knowledge>();
  unreleased->unreleased = unreleased_->happened;
  return joined(out, unreleased);
}

}  // namespace bitwell::hazard
