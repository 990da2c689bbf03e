// What threads know, and hand on: to whoever synchronises with them.
#pragma once
#include "model/hazard/shadow/actors.h"

namespace bitwell::hazard {

// What `lanes` of the warp know, their own acts up to now included; all of them know what each did.
Known published(const Warp& w, uint32_t lanes);
// That becomes known there too, where already all is known that `last` has.
void publish(Knowledge& to, const Warp& w, uint32_t lanes, const Knowledge* last = nullptr);
// The same of one, up to an earlier time of its own.
Counted<Knowledge> published(const Warp& w, uint32_t lane, const Known& known, uint32_t time,
                             const Numbers& ended);
// What the lane's operations came to: those that it knows to have ended, and those that it has not waited
// for.
void add_operations(Knowledge& to, const Warp& w, uint32_t lane, const Numbers& ended);
// All that `lanes` of the warp know becomes joined with `more`.
void learn(Warp& w, uint32_t lanes, const Known& more);

Lane::Sc& sc_of(Warp& w, uint32_t lane);
// fence.sc of that scope by the lanes: what those knew with which it synchronises, they know.
void meet_fences(Warp& w, uint32_t lanes, machine::Scope scope);
// What the lanes knew at their own last fence.sc.
void add_own_fences(KnownAtFences& to, const Warp& w, uint32_t lanes);
// What they know of the order of fence.sc from those.
void add_sc_order(Knowledge& to, const Warp& w, uint32_t lanes);
// Whether somebody has fenced behind it, and what he did then was seen, but no fence.sc stands behind that.
bool fenced_before_seen(const Viewer& v, const Epoch& before);

}  // namespace bitwell::hazard
