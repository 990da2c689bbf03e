#include "model/machine/memory/pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "model/machine/memory/memory.h"

namespace bitwell::machine {
namespace {

bool is_zero(const std::byte* bytes, uint64_t length) {
  return std::all_of(bytes, bytes + length, [](std::byte b) { return b == std::byte{0}; });
}

bool starts_page(const std::byte* bytes) { return reinterpret_cast<uintptr_t>(bytes) % page_size() == 0; }

// Of [from, from + length).
std::optional<uint64_t> difference_in(const std::byte* a, const std::byte* b, uint64_t from,
                                      uint64_t length) {
  const auto at = std::mismatch(a + from, a + from + length, b + from).first;
  if (at == a + from + length) return std::nullopt;
  return static_cast<uint64_t>(at - a);
}

}  // namespace

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// In the map bit 63 is set for a page that is present, 62 for one that is swapped, 61 for a file's.
std::vector<uint64_t> touched_pages(const std::byte* bytes, uint64_t size, bool zero, const char* pagemap) {
  std::vector<uint64_t> out;
  const uint64_t page = page_size();
  const int map = open(pagemap, O_RDONLY | O_CLOEXEC);
  std::array<uint64_t, 512> entries{};
  for (uint64_t from = 0; from < size; from += entries.size() * page) {
    const uint64_t count = std::min<uint64_t>(entries.size(), (size - from + page - 1) / page);
    const auto at = static_cast<off_t>((reinterpret_cast<uintptr_t>(bytes) + from) / page * 8);
    const bool known =
        map >= 0 && pread(map, entries.data(), count * 8, at) == static_cast<ssize_t>(count * 8);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t offset = from + i * page;
      const bool own = (entries[i] >> 62) != 0 && (entries[i] >> 61 & 1) == 0;
      if (known ? own : !zero || !is_zero(bytes + offset, std::min(page, size - offset)))
        out.push_back(offset);
    }
  }
  if (map >= 0) close(map);
  return out;
}

std::optional<uint64_t> first_difference(const Region& a, const Region& b, const char* pagemap) {
  const std::byte *x = a.raw_bytes(), *y = b.raw_bytes();
  // Else they are small, and not in pages of their own; or the host's, whose pages others may have touched.
  if (!starts_page(x) || !starts_page(y) || a.adopted() || b.adopted())
    return difference_in(x, y, 0, a.size());
  std::vector<uint64_t> pages = touched_pages(x, a.size(), false, pagemap);
  const std::vector<uint64_t> others = touched_pages(y, a.size(), false, pagemap);
  pages.insert(pages.end(), others.begin(), others.end());
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  for (const uint64_t page : pages)
    if (const auto at = difference_in(x, y, page, std::min(page_size(), a.size() - page)); at) return at;
  return std::nullopt;
}

}  // namespace bitwell::machine
