#include "verify/image/readable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace bitwell::image {

size_t readable_bytes(const void* address, size_t most) {
  const auto close = [](std::FILE* f) { std::fclose(f); };
  const std::unique_ptr<std::FILE, decltype(close)> maps(std::fopen("/proc/self/maps", "r"));
  if (maps == nullptr) return most;  // nobody can tell
  const uint64_t from = reinterpret_cast<uintptr_t>(address);
  uint64_t end = from;  // of what can be read from there, as far as it is known
  char line[512];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    unsigned long long begins = 0, ends = 0;
    char readable = 0;
    if (std::sscanf(line, "%llx-%llx %c", &begins, &ends, &readable) != 3)
      continue;  // the rest of a long name
    if (begins > end) break;
    if (ends > end && readable == 'r')
      end = ends;
    else if (ends > end)
      break;
  }
  return std::min<uint64_t>(end - from, most);
}

}  // namespace bitwell::image
