// Whether a loop comes back just as it was: what tells a spinning wait from one that makes progress.
#include <cstring>

#include "model/run/cluster.h"

namespace bitwell::run {

using machine::Split;

namespace {

// A loop may come round only after several back edges.
constexpr uint32_t kLooks = 16;

// visit(bytes, size) for all that says what the split will do next but memory. The callers' registers and
// places count too: a loop may be theirs. Until visit says no; returns whether it never did.
template <class Visit>
bool each_part(const isa::Program& program, const Split& split, uint32_t pc, Visit visit) {
  if (!visit(&split.mask, sizeof split.mask)) return false;
  uint32_t place = pc;
  for (machine::Activation* a = split.activation.get(); a != nullptr; a = a->caller.get()) {
    const size_t rows = program.functions[static_cast<size_t>(a->function)].rows * machine::kRowBytes;
    if (!visit(&a->function, sizeof a->function) || !visit(&place, sizeof place) ||
        !visit(a->rows.data(), rows))
      return false;
    place = a->return_pc;
  }
  return true;
}

}  // namespace

std::vector<std::byte> Cta::state(const Split& split, uint32_t pc) const {
  std::vector<std::byte> out;
  each_part(grid.program, split, pc, [&](const void* from, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(from);
    out.insert(out.end(), bytes, bytes + size);
    return true;
  });
  return out;
}

bool Cta::as_seen(const Split& split, uint32_t pc) const {
  if (split.seen_state == nullptr) return false;
  const std::vector<std::byte>& seen = *split.seen_state;
  size_t at = 0;
  const bool same = each_part(grid.program, split, pc, [&](const void* from, size_t size) {
    if (size > seen.size() - at || std::memcmp(seen.data() + at, from, size) != 0) return false;
    at += size;
    return true;
  });
  return same && at == seen.size();
}

bool Cta::repeats(const machine::Warp& warp, Split& split, uint32_t pc) {
  const bool seen = as_seen(split, pc);
  const uint64_t changes = cluster.changes(*this, warp);
  if (seen && split.seen_changes == changes) return true;
  if (!seen && split.looks != 0) {
    --split.looks;
    return false;
  }
  if (!seen) split.seen_state = std::make_shared<const std::vector<std::byte>>(state(split, pc));
  split.seen_changes = changes;
  cluster.remembered(*this, warp);
  split.looks = kLooks;
  split.polls_global = false;
  return false;
}

}  // namespace bitwell::run
