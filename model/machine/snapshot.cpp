#include "model/machine/snapshot.h"

#include <utility>

namespace bitwell::machine {

Memory::Memory(const Snapshot& snapshot) { restore(snapshot); }

Snapshot Memory::snapshot() {
  Snapshot out;
  for (const auto& r : regions_) out.regions_.push_back(r->save());
  out.freed_ = freed_;
  out.textures_ = textures_;
  if (heap_ != nullptr) out.heap_ = heap_->save();
  out.next_ = next_;
  out.next_global_ = next_global_;
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
  textures_ = snapshot.textures_;
  heap_.reset();
  if (snapshot.heap_) heap().restore(*snapshot.heap_);
  next_ = snapshot.next_;
  next_global_ = snapshot.next_global_;
  modules_ = snapshot.modules_;
}

}  // namespace bitwell::machine
