#include "model/machine/memory/snapshot.h"

#include <utility>

namespace bitwell::machine {

Memory::Memory(const Snapshot& snapshot) { restore(snapshot); }

Snapshot Memory::snapshot() {
  Snapshot out;
  for (const auto& r : regions_) out.regions_.push_back(r->save());
  out.freed_ = freed_;
  out.freed_order_ = freed_order_;
  out.textures_ = textures_;
  out.last_texture_ = last_texture_;
  if (heap_ != nullptr) out.heap_ = heap_->save();
  out.next_ = next_;
  out.next_global_ = next_global_;
  out.behind_globals_ = behind_globals_;
  out.modules_ = modules_;
  return out;
}

void Memory::restore(const Snapshot& snapshot) {
  std::vector<std::unique_ptr<Region>> now;
  auto old = regions_.begin();
  for (const Region::Saved& saved : snapshot.regions_) {
    while (old != regions_.end() && (*old)->base() < saved.base) ++old;
    // Another may stand at its address, which was allocated after some earlier state had come back.
    const bool same = old != regions_.end() && (*old)->base() == saved.base && (*old)->size() == saved.size &&
                      (*old)->name() == saved.name;
    if (same) {
      (*old)->restore(saved);
      now.push_back(std::move(*old++));
    } else {
      now.push_back(std::make_unique<Region>(saved));
    }
  }
  regions_ = std::move(now);
  retired_.clear();
  freed_ = snapshot.freed_;
  freed_order_ = snapshot.freed_order_;
  textures_ = snapshot.textures_;
  last_texture_ = snapshot.last_texture_;
  heap_.reset();
  if (snapshot.heap_) heap().restore(*snapshot.heap_);
  next_ = snapshot.next_;
  next_global_ = snapshot.next_global_;
  behind_globals_ = snapshot.behind_globals_;
  modules_ = snapshot.modules_;
}

}  // namespace bitwell::machine
