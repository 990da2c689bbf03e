#include "verify/cli/large_pages.h"

#include <cstdint>
#include <cstdlib>

#if __has_include(<malloc.h>) && __has_include(<sys/mman.h>)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace bitwell::cli {

void grow_by_large_pages() {
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
  constexpr int kAtOnce = 256 << 20, kKept = 1 << 30,
                kMapped = 32 << 20;  // bytes; of addresses, not of memory
  constexpr uintptr_t kPage = 2 << 20;
  mallopt(M_TOP_PAD, kAtOnce);
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kMapped);
  const auto end_of_heap = [] { return reinterpret_cast<uintptr_t>(sbrk(0)); };
  const uintptr_t begin = (end_of_heap() + kPage - 1) / kPage * kPage;
  void* volatile more = std::malloc(kPage);  // than the heap has left, so that it grows
  std::free(more);
  const uintptr_t end = end_of_heap() / kPage * kPage;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace bitwell::cli
