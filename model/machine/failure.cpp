#include "model/machine/failure.h"

namespace bitwell::machine {

std::string triple(const std::array<uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string describe(const Place& place, const std::string& message) {
  std::string out;
  if (place.ptx_line > 0) out += "PTX line " + std::to_string(place.ptx_line);
  if (!place.source.empty()) out += " (" + place.source + ")";
  if (place.has_thread)
    out += (out.empty() ? "" : ", ") + ("CTA " + triple(place.cta)) + ", thread " + triple(place.thread);
  return out.empty() ? message : out + ": " + message;
}

}  // namespace bitwell::machine
