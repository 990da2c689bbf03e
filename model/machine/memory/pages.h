// Which pages of mapped bytes somebody has written, as the host tells.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bitwell::machine {

class Region;

inline constexpr const char* kPageMap = "/proc/self/pagemap";  // where Linux says which are touched
uint64_t page_size();
// Bytes that snapshots keep at this time, in all of the process: no part of what it has in its own pages.
uint64_t kept_bytes();

// The offsets of the pages of [bytes, bytes + size) that are no longer what they were mapped as. Where the
// map cannot be read: of those that were `zero` at first all that are not, else all.
std::vector<uint64_t> touched_pages(const std::byte* bytes, uint64_t size, bool zero, const char* pagemap);

// The first byte of a region that is another in `b`, a region of the same size: of two memories that began as
// one snapshot. Pages that neither has touched are not looked at.
std::optional<uint64_t> first_difference(const Region& a, const Region& b, const char* pagemap = kPageMap);

}  // namespace bitwell::machine
