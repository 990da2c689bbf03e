// Which objects an address is beside, for a message.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace bitwell::machine {

struct Named {
  std::string name;
  uint64_t base;
  uint64_t size;  // bytes
};

// "64 bytes into 'x' of 64 bytes" (from its start, so also behind its end) or "4 bytes before 'y' of 128
// bytes", whichever is nearer, both where both are within 4 KiB; where nothing is within 1 MiB,
// `nothing_near` and how far the nearest is. Empty without objects.
std::string beside(std::span<const Named> objects, uint64_t address, const std::string& nothing_near);
// The name of the nearest of them; empty where nothing is within 1 MiB.
std::string nearest(std::span<const Named> objects, uint64_t address);

}  // namespace bitwell::machine
