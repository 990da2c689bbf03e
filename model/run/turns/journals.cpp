#include "model/run/turns/journals.h"

#include <utility>

namespace bitwell::run {

void Journals::add(uint32_t number, Grid& grid, Journal journal) {
  if (number != first_) {
    // Neighbours become one: a cluster may go on while any number of others come and go.
    const auto at = kept_.emplace(number, Kept{&grid, number + 1, std::move(journal)}).first;
    join(at);
    if (at != kept_.begin()) join(std::prev(at));
    return;
  }
  for (Kept now{&grid, number + 1, std::move(journal)};;) {
    now.grid->notes.add(now.journal.notes);
    if (!now.journal.printed.empty()) now.grid->options.print(now.journal.printed);
    first_ = now.end;
    const auto next = kept_.find(first_);
    if (next == kept_.end()) return;
    now = std::move(next->second);
    kept_.erase(next);
  }
}

// With the one behind it, if that begins where it ends.
void Journals::join(std::map<uint32_t, Kept>::iterator at) {
  const auto next = std::next(at);
  Kept& kept = at->second;
  if (next == kept_.end() || next->first != kept.end || next->second.grid != kept.grid) return;
  kept.journal.notes.add(next->second.journal.notes);
  kept.journal.printed += next->second.journal.printed;
  kept.end = next->second.end;
  kept_.erase(next);
}

}  // namespace bitwell::run
