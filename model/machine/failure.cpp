#include "model/machine/failure.h"

#include <cstdio>

#include "model/machine/where.h"

namespace bitwell::machine {

std::string triple(const std::array<uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string hex(uint64_t address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
  return text.data();
}

std::string line_of(const Place& place) {
  std::string out;
  if (place.ptx_line > 0) out += "PTX line " + std::to_string(place.ptx_line);
  if (place.cuda != nullptr) out += " (" + place.cuda->words + ")";
  return out;
}

std::string where(const Place& place) {
  std::string out = line_of(place);
  if (place.has_thread)
    out += (out.empty() ? "" : ", ") + ("CTA " + triple(place.cta)) + ", thread " + triple(place.thread);
  return out;
}

std::string describe(const Place& place, const std::string& message) {
  const std::string at = where(place);
  return at.empty() ? message : at + ": " + message;
}

}  // namespace bitwell::machine
