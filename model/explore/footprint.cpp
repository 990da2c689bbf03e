#include "model/explore/footprint.h"

namespace bitwell::explore {
namespace {

bool meet(const Touch& a, const Touch& b) {
  if (a.space != b.space || a.cluster != b.cluster || a.begin >= b.end || b.begin >= a.end) return false;
  if (a.mode == Mode::read && b.mode == Mode::read) return false;
  return a.mode != Mode::join || b.mode != Mode::join || a.phase != b.phase;
}

}  // namespace

bool conflict(const Footprint& a, const Footprint& b) {
  for (const Touch& x : a)
    for (const Touch& y : b)
      if (meet(x, y)) return true;
  return false;
}

bool disturbs(const Footprint& taken, const Footprint& other) {
  if (conflict(taken, other)) return true;
  for (const Touch& x : taken)
    for (const Touch& y : other)
      if (x.over && x.space == y.space && x.cluster == y.cluster && x.begin == y.begin) return true;
  return false;
}

void add(Footprint& to, const Touch& touch) {
  if (!to.empty()) {
    Touch& last = to.back();
    const bool alike = last.space == touch.space && last.cluster == touch.cluster &&
                       last.mode == touch.mode && last.phase == touch.phase;
    if (alike && touch.begin <= last.end && touch.end >= last.begin) {
      if (touch.begin < last.begin) last.begin = touch.begin;
      if (touch.end > last.end) last.end = touch.end;
      return;
    }
  }
  to.push_back(touch);
}

}  // namespace bitwell::explore
