#include <algorithm>
#include <map>
#include <tuple>

#include "model/isa/family/tensor_mma_operands.h"
#include "model/number/decode.h"
#include "model/number/dot_integer.h"
#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::isa {

using machine::Fault;
using machine::TensorPlace;

namespace {

constexpr const char* kName = "tcgen05.mma";

// Where each element of D stands, from D's address on: by row and column of one CTA's share.
const std::vector<TensorPlace>& accumulator_cells(uint32_t m, uint32_t n, int ctas, bool stationary) {
  static thread_local std::map<std::tuple<uint32_t, uint32_t, int, bool>, std::vector<TensorPlace>> made;
  std::vector<TensorPlace>& cells = made[{m, n, ctas, stationary}];
  if (!cells.empty()) return cells;
  cells = layout::tensor_cells(layout::accumulator(m, n, ctas, stationary));
  return cells;
}

// The code of D * 2^-by.
uint32_t scaled_down(const number::Format& f, uint32_t code, int by) {
  const auto times = [&](uint64_t of, int power) {
    number::Exact value = number::decode(f, of);
    if (value.kind != number::Kind::finite) return of;
    value.exponent += power;
    return number::encode(f,
                          number::round(f, value, number::Rounding::toward_zero, number::Overflow::saturate));
  };
  const uint64_t scaled = times(code, -by);
  if (times(scaled, by) != code)
    throw machine::Unsupported(std::string(kName) + " with a scale-input-d of " + std::to_string(by) +
                               " and a D whose product with 2^-" + std::to_string(by) + " is no " +
                               std::string(f.name) + ": how it is rounded is not known");
  return static_cast<uint32_t>(scaled);
}

// One CTA's rows, a quarter of its lanes at a time. `b_codes`: all of B, [column][k].
void multiply_share(const Port& port, Cta& cta, const TensorMmaUse& use, const TensorMma& mma,
                    std::span<const uint32_t> b_codes) {
  const auto& s = mma.shape;
  const uint32_t rows = s.m / static_cast<uint32_t>(use.cta_group);
  TensorUnit& unit = tensor_unit(cta);
  std::vector<uint32_t> a;  // of the whole share, or of a quarter from tensor memory
  if (!mma.a) a = a_from_shared(port, cta, use, mma, rows);
  const std::vector<TensorPlace>& cells = accumulator_cells(s.m, s.n, use.cta_group, use.stationary);
  // Banks of lanes, each with all rows and the next of the columns; quarters of the lanes share the rows of
  // a bank.
  const uint32_t columns = cells.back().column + 1;
  const uint32_t banks = s.n / columns;
  const uint32_t quarters = 4 / banks;
  unit.reach(port, AccessKind::update, {mma.d.lane, cells.back().lane + 1, mma.d.column, columns}, -1, kName);
  const uint32_t quarter_rows = rows / quarters;
  std::map<std::tuple<uint32_t, std::vector<uint8_t>>, number::DotColumns> prepared;
  const uint32_t* const keep = &mma.keep[use.cta_group == 2 ? cta.rank % 2 * 4 : 0];
  std::vector<uint32_t> d;
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    const uint32_t first = quarter % quarters * quarter_rows;
    const uint32_t first_column = quarter / quarters * columns;
    if (mma.a)  // it stands in the lanes of its rows of D, in each bank
      a = a_from_tensor(port, unit, mma, mma.a->lane + cells[size_t{first} * s.n + first_column].lane,
                        quarter_rows);
    std::vector<uint8_t> sfa;
    std::vector<uint8_t> sfb;
    if (s.scale != nullptr) {
      sfa = scales(port, unit, mma, mma.a_scales, s.a_scale_id, first, quarter_rows, quarter, "A");
      // Each bank's scales stand in the lanes of that bank.
      sfb = scales(port, unit, mma, mma.b_scales, s.b_scale_id, 0, columns, quarter, "B");
    }
    d.assign(size_t{quarter_rows} * columns, 0);
    const uint32_t low = s.d == &number::f16 ? 0xFFFF : ~0u;
    const auto each_cell = [&](auto visit) {
      for (uint32_t r = 0; r < quarter_rows; ++r) {
        const TensorPlace& p = cells[size_t{first + r} * s.n + first_column];
        const uint32_t lane = mma.d.lane + p.lane;
        if ((keep[lane / 32] >> lane % 32 & 1) != 0) continue;
        visit(unit.memory.cells(lane, mma.d.column + p.column, columns, kName), &d[size_t{r} * columns],
              lane);
      }
    };
    if (mma.accumulate)
      each_cell([&](const machine::TensorMemory::Cells& from, uint32_t* to, uint32_t lane) {
        for (uint32_t c = 0; c < columns; ++c) {
          if (from.written[c] == 0)
            throw Fault(std::string(kName) + " adds to D at lane " + std::to_string(lane) + ", column " +
                        std::to_string(mma.d.column + c) +
                        " of tensor memory, which was never written: the first MMA of a sum must not add");
          to[c] = from.words[c] & low;
          if (use.scale_d != 0) to[c] = scaled_down(*s.d, to[c], use.scale_d);
        }
      });
    const auto b_of_bank = b_codes.subspan(size_t{first_column} * s.k, size_t{columns} * s.k);
    const auto a_of_quarter =
        std::span(a).subspan(mma.a ? 0 : size_t{first} * s.k, size_t{quarter_rows} * s.k);
    if (s.integers) {
      number::integer_dot_tile({a_of_quarter, s.integers->a_signed}, {b_of_bank, s.integers->b_signed}, s.k,
                               columns, s.integers->saturate, d);
    } else {
      number::DotColumns& b = prepared[{first_column, sfb}];
      if (b.rule == nullptr) b = number::prepare_columns(*mma.rule, {s.b, b_of_bank, sfb}, columns, s.k);
      number::dot_tile(*mma.rule, {s.a, a_of_quarter, sfa}, quarter_rows, b, d);
    }
    each_cell([&](const machine::TensorMemory::Cells& to, const uint32_t* from, uint32_t) {
      std::copy_n(from, columns, to.words);
      std::fill_n(to.written, columns, uint8_t{1});
    });
  }
}

}  // namespace

void multiply(const Port& port, Cta& cta, const TensorMmaUse& use, const TensorMma& mma) {
  std::vector<Cta*> ctas{&cta};
  if (use.cta_group == 2) {
    ctas.push_back(&peer(cta));
    if (cta.rank % 2 != 0) std::swap(ctas[0], ctas[1]);
  }
  const std::vector<uint32_t> b = b_from_shared(port, ctas, use, mma);
  for (Cta* c : ctas) multiply_share(port, *c, use, mma, b);
}

}  // namespace bitwell::isa
