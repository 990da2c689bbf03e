// Statements for which the threads of a warp meet: exactly those whose bits the mask has.
#include "model/isa/family/families.h"
#include "verify/program/drawing.h"

namespace bitwell::program {
namespace {

using Modifiers = Drawing::Modifiers;

// The highest lane of the mask, in %x0.
constexpr const char* kLeader = "clz.b32 %x0, $m;\nsub.u32 %x0, 31, %x0;\n";

std::string destination_pair(Drawing& d, const std::string& type, bool required) {
  const std::string to = d.destination(type);
  return required || d.one_in(2) ? to + "|" + d.predicate() : to;
}

// A lane that reads from one outside the mask gets nothing that is defined: only whole warps shuffle freely.
Statement shuffle(Drawing& d, const Place& place) {
  Statement out;
  const bool free = place.uniform && place.whole_warps;
  if (!free) out.text = kLeader;
  out.text += d.spelled(
      isa::warp_forms(), "shfl", [&](const Modifiers& m) { return free || has(m, ".idx"); },
      [&](const Modifiers& m) {
        const std::string head = destination_pair(d, ".u32", false) + ", " + d.word() + ", ";
        if (!free) return head + "%x0, 31, $m";
        const size_t width = size_t{1} << (1 + d.below(5));
        const size_t clamp = has(m, ".up") ? 0 : 31;
        const std::string by = d.one_in(2) ? d.word() : std::to_string(d.below(32));
        return head + by + ", " + std::to_string(((32 - width) << 8) | clamp) + ", $m";
      });
  return out;
}

Statement vote(Drawing& d) {
  Statement out;
  out.text = d.spelled(
      isa::warp_forms(), "vote", [](const Modifiers&) { return true; },
      [&](const Modifiers& m) {
        return (has(m, ".ballot") ? d.destination(".u32") : d.predicate()) + ", " + (d.one_in(3) ? "!" : "") +
               d.predicate() + ", $m";
      });
  return out;
}

Statement match(Drawing& d) {
  Statement out;
  out.text = d.spelled(
      isa::warp_forms(), "match", [](const Modifiers&) { return true; },
      [&](const Modifiers& m) {
        const std::string to = has(m, ".all") ? destination_pair(d, ".u32", false) : d.destination(".u32");
        return to + ", " + d.source(m.back() == ".b64" ? ".u64" : ".u32") + ", $m";
      });
  return out;
}

Statement reduction(Drawing& d) {
  Statement out;
  out.text = d.spelled(
      isa::warp_forms(), "redux", [](const Modifiers&) { return true; },
      [&](const Modifiers& m) {
        return d.destination(".u32") + ", " + d.source(m.back() == ".f32" ? ".f32" : ".u32") + ", $m";
      });
  return out;
}

}  // namespace

Statement warp_collective(Drawing& d, const Place& place) {
  Statement out;
  switch (d.below(6)) {
    case 0:
    case 1: out = shuffle(d, place); break;
    case 2: out = vote(d); break;
    case 3: out = match(d); break;
    case 4: out = reduction(d); break;
    default: out.text = "elect.sync " + destination_pair(d, ".u32", true) + ", $m;\n";
  }
  out.collective = true;
  return out;
}

}  // namespace bitwell::program
