#include "model/run/note.h"

#include <algorithm>

namespace bitwell::isa {

void Notes::add(const machine::Place& place, const std::string& text) {
  if (strict_) throw machine::Fault(place, text);
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const Note& n) {
    return n.place.ptx_line == place.ptx_line && n.text == text;
  });
  if (same != all_.end())
    ++same->times;
  else
    all_.push_back({place, text});
}

}  // namespace bitwell::isa
