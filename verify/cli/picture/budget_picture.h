// Budgets as stacked bars.
#pragma once
#include <string>
#include <vector>

#include "model/budget/audit.h"

namespace bitwell::cli {

struct NamedAudit {
  std::string title;
  budget::Audit audit;
};

// For each audit two bars of shared memory, as written and as laid out, each with the stages that it gives,
// and one of tensor-memory columns.
std::string picture(const std::vector<NamedAudit>& audits);

}  // namespace bitwell::cli
