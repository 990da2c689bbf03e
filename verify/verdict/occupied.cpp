#include "verify/verdict/occupied.h"

#include <algorithm>

#include "model/budget/audit.h"

namespace bitwell::verdict {
namespace {

// Bytes that `stages` stages and all else take.
int64_t bytes(const budget::Fit& fit, int64_t stages) { return fit.fixed + stages * fit.stage; }

std::string differ(const char* what, int64_t budget, const char* how, int64_t kernel) {
  return std::string("the budget gives ") + std::to_string(budget) + " " + what + ", " +
         std::to_string(kernel) + " are " + how;
}

// The first formula that is not its layout's size.
std::string formula_finding(const budget::Audit& audit) {
  for (const auto* lines : {&audit.shared, &audit.tensor})
    for (const budget::Line& l : *lines)
      if (l.layout && *l.layout != l.formula)
        return "the budget's formula for " + l.item.name + ", " + l.item.size + ", gives " +
               std::to_string(l.formula) + ", its layout has " + std::to_string(*l.layout);
  return "";
}

}  // namespace

Occupied occupied(const suite::Reserves& reserves, const std::string& text, const run::Footprint& touched) {
  const budget::Audit audit = budget::audit(budget::parse_spec(text), reserves.names);
  const auto most = audit.names.find("most_stages");
  const auto stages = [&](const budget::Fit& fit) {
    return most == audit.names.end() ? fit.stages : std::min(fit.stages, most->second);
  };
  Occupied out;
  out.stages = {stages(audit.written), stages(audit.laid_out), reserves.stages, 0};
  out.shared = {bytes(audit.written, out.stages.formula), bytes(audit.laid_out, out.stages.laid_out),
                reserves.shared, std::count(touched.shared.begin(), touched.shared.end(), 1)};
  out.columns = {audit.written.columns, audit.laid_out.columns, reserves.columns,
                 static_cast<int64_t>(touched.tensor.written.count())};
  int64_t room = 0;
  for (const budget::Line& l : audit.shared)
    if (l.item.name == "room") room = l.formula * l.count;
  const auto allocated = static_cast<int64_t>(touched.tensor.allocated.count());
  if (!audit.agrees)
    out.finding = formula_finding(audit);
  else if (reserves.stages != 0 && out.stages.formula != reserves.stages)
    out.finding = differ("stages", out.stages.formula, "the kernel's", reserves.stages);
  else if (out.shared.formula != reserves.shared)
    out.finding = differ("bytes of shared memory", out.shared.formula, "reserved", reserves.shared);
  else if (audit.written.allocated != reserves.columns || allocated != reserves.columns)
    out.finding = differ("columns of tensor memory to allocate", audit.written.allocated,
                         allocated == reserves.columns ? "reserved" : "allocated",
                         allocated == reserves.columns ? reserves.columns : allocated);
  else if (out.columns.touched != out.columns.formula)
    out.finding = differ("columns of tensor memory", out.columns.formula, "touched", out.columns.touched);
  else if (out.shared.touched < reserves.shared - room)
    out.finding = differ("bytes of shared memory", reserves.shared - room, "touched", out.shared.touched) +
                  ", without the room";
  return out;
}

}  // namespace bitwell::verdict
