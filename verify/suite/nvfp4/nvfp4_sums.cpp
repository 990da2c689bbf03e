#include "verify/suite/nvfp4/nvfp4_sums.h"

#include "verify/oracle/scaled_rows.h"
#include "verify/suite/parallel.h"

namespace bitwell::suite {
namespace {

// A row as it is stored, its scales without the sign that UE4M3 has not.
Nvfp4Operand::Row row_of(const Nvfp4Operand& of, int batch, int row) {
  Nvfp4Operand::Row out = of.row(batch, row);
  for (uint8_t& s : out.scales) s &= 0x7F;
  return out;
}

}  // namespace

Nvfp4Sums nvfp4_sums(const Nvfp4Operand& a, const Nvfp4Operand& b, bool exact) {
  const auto u = [](int v) { return static_cast<size_t>(v); };
  Nvfp4Sums out;
  out.sums.resize(u(a.l) * u(a.rows) * u(b.rows));
  if (exact) out.exact.resize(out.sums.size());
  for (int batch = 0; batch < a.l; ++batch) {
    std::vector<Nvfp4Operand::Row> rows;
    std::vector<oracle::ScaledRow> columns;
    for (int n = 0; n < b.rows; ++n) {
      const Nvfp4Operand::Row row = row_of(b, batch, n);
      columns.emplace_back(row.codes, row.scales);
      if (exact) rows.push_back(row);
    }
    each_in_parallel(u(a.rows), 0, [&](size_t m) {
      const Nvfp4Operand::Row row = row_of(a, batch, static_cast<int>(m));
      const oracle::ScaledRow of_a(row.codes, row.scales);
      const size_t first = (u(batch) * u(a.rows) + m) * u(b.rows);
      for (size_t n = 0; n < columns.size(); ++n) {
        out.sums[first + n] = oracle::scaled_sum(of_a, columns[n], 0, 0, u(a.k));
        if (exact) out.exact[first + n] = oracle::dot(row.codes, rows[n].codes, row.scales, rows[n].scales);
      }
    });
  }
  return out;
}

}  // namespace bitwell::suite
