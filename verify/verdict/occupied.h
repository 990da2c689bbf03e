// What a kernel reserves of shared and tensor memory, beside its budget and beside what its cases touched.
#pragma once
#include <cstdint>
#include <string>

#include "model/run/watch/footprint.h"
#include "verify/suite/suite.h"

namespace bitwell::verdict {

// Bytes of shared memory, columns of tensor memory, or pipeline stages.
struct Amount {
  int64_t formula = 0;   // by the budget's formulas
  int64_t laid_out = 0;  // by the layouts they stand for
  int64_t reserved = 0;  // by the kernel
  int64_t touched = 0;   // by its cases, all together; of stages nothing is known
};

struct Occupied {
  Amount stages, shared, columns;
  std::string finding;  // the first disagreement; empty: all agree
};

// `budget`: text of the spec that the kernel names. The formulas are those of the layouts and give what the
// kernel reserves; the cases touch every column that is counted, and every byte but some of what the budget
// calls room. Throws budget::BudgetError for a spec that cannot be read or computed.
Occupied occupied(const suite::Reserves& reserves, const std::string& budget, const run::Footprint& touched);

}  // namespace bitwell::verdict
