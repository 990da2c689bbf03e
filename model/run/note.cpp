#include "model/run/note.h"

#include <algorithm>

namespace bitwell::run {

void Notes::add(const machine::Place& place, const std::string& text) {
  if (strict_) throw machine::Fault(place, text);
  add(Note{place, text});
}

void Notes::add(const Notes& others) {
  for (const Note& note : others.all_) add(note);
}

void Notes::add(const Note& note) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const Note& n) {
    return n.place.ptx_line == note.place.ptx_line && n.text == note.text;
  });
  if (same != all_.end())
    same->times += note.times;
  else
    all_.push_back(note);
}

}  // namespace bitwell::run
