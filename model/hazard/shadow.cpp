#include "model/hazard/shadow.h"

namespace bitwell::hazard {

void Shadow::refine(Page& page, int shift) {
  auto finer = std::make_unique<Cell[]>(kPageBytes >> shift);
  for (uint64_t i = 0; i < kPageBytes >> shift; ++i) finer[i] = page.cells[i >> (page.shift - shift)];
  bytes_ += ((kPageBytes >> shift) - (kPageBytes >> page.shift)) * sizeof(Cell);
  page.cells = std::move(finer);
  page.shift = shift;
}

}  // namespace bitwell::hazard
