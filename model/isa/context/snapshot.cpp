// A context as it was, and others that begin as it.
#include <algorithm>

#include "model/isa/context/turn.h"

namespace bitwell::isa {

Context::Snapshot Context::snapshot() {
  const Turn turn(*this, "snapshot");
  Snapshot out;
  out.memory_ = memory_.snapshot();
  out.origins_ = origins_;
  out.origins_.push_back({number_, last_});
  for (const auto& [number, l] : loaded_)
    out.modules_.push_back({number, l->module, l->approximate, l->place, l->constants.save(), l->programs});
  const auto add = [&](const isa::Module* key) {
    const Known& k = known_.at(key);
    const auto [first, last] = texts_.equal_range(k.hash);
    const bool is_text = std::any_of(first, last, [&](const auto& text) { return text.second == key; });
    out.known_.push_back({k.module, k.places, k.hash, k.loaded, is_text});
  };
  for (const auto& [key, k] : known_)
    if (k.loaded != 0) add(key);
  for (const isa::Module* const key : idle_) add(key);
  out.free_constants_ = free_constants_;
  return out;
}

Context::Context(const Snapshot& snapshot)
    : number_(next_number()),
      origins_(snapshot.origins_),
      memory_(snapshot.memory_),
      last_(origins_.back().last),
      free_constants_(snapshot.free_constants_) {
  for (const Snapshot::Module& m : snapshot.modules_) {
    Loaded& loaded =
        *loaded_
             .emplace(m.number, std::make_unique<Loaded>(Loaded{m.module, m.approximate, m.place,
                                                                machine::Region(m.constants), m.programs}))
             .first->second;
    if (m.place->has_constants) constants_.emplace(loaded.constants.base(), &loaded.constants);
  }
  for (const Snapshot::Text& t : snapshot.known_) {
    const isa::Module* const key = t.module.get();
    Known& known = known_.emplace(key, Known{t.module, t.hash, t.loaded, t.places}).first->second;
    if (t.loaded == 0) known.idle = idle_.insert(idle_.end(), key);
    if (t.is_text) texts_.emplace(t.hash, key);
  }
}

}  // namespace bitwell::isa
