#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

#include "model/isa/family/tensor/tensor_mma_operands.h"
#include "model/number/decode.h"
#include "model/number/dot_integer.h"
#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::isa {

using machine::Fault;
using machine::TensorPlace;

namespace {

constexpr const char* kMultiply = "tcgen05.mma";

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
    throw machine::Unsupported(std::string(kMultiply) + " with a scale-input-d of " + std::to_string(by) +
                               " and a D whose product with 2^-" + std::to_string(by) + " is no " +
                               std::string(f.name) + ": how it is rounded is not known");
  return static_cast<uint32_t>(scaled);
}

// B and its scales as prepared for number::dot_tile: most often all quarters, and both CTAs of a pair, have
// the same.
class PreparedB {
 public:
  // `codes`: all of B, [column][k]
  PreparedB(const TensorMma& mma, std::span<const uint32_t> codes) : mma_(mma), codes_(codes) {}

  std::span<const uint32_t> codes(uint32_t first_column, uint32_t columns) const {
    return codes_.subspan(size_t{first_column} * mma_.shape.k, size_t{columns} * mma_.shape.k);
  }
  const number::DotColumns& columns(uint32_t first, uint32_t count, const std::vector<uint8_t>& scales) {
    const auto found = std::find_if(made_.begin(), made_.end(), [&](const auto& m) {
      return m.first == first && m.second.scales == scales;
    });
    if (found != made_.end()) return found->second;
    made_.emplace_back(first, number::prepare_columns(*mma_.rule, {mma_.shape.b, codes(first, count), scales},
                                                      count, mma_.shape.k));
    return made_.back().second;
  }

 private:
  const TensorMma& mma_;
  std::span<const uint32_t> codes_;
  std::deque<std::pair<uint32_t, number::DotColumns>> made_;  // by first column
};

// One CTA's share of D.
class ShareOfD {
 public:
  ShareOfD(const TensorMmaUse& use, const TensorMma& mma, const run::Cta& cta, TensorUnit& unit)
      : use_(use),
        mma_(mma),
        unit_(unit),
        keep_(&mma.keep[use.cta_group == 2 ? cta.rank % 2 * 4 : 0]),
        first_row_(use.cta_group == 2 ? cta.rank % 2 * mma.shape.m / 2 : 0),
        follow_(cta.grid.options.follow) {}

  // Calls multiply(codes, how far apart their rows are) for a row of D in each lane of `at`: it adds to the
  // codes. They are where they stand in tensor memory, or copies where only some of it is theirs.
  template <class Multiply>
  void update(const TensorBlock& at, Multiply multiply) const {
    if (mma_.accumulate) require_sums(at);
    const bool halves = mma_.shape.d == &number::f16;
    bool all = !halves && use_.scale_d == 0 && !mma_.shape.integers;
    for (uint32_t r = 0; r < at.lanes; ++r) all = all && !kept(at.lane + r);
    if (all) {
      if (!mma_.accumulate)
        each_row(at, [&](const auto& cells, uint32_t) { std::fill_n(cells.words, at.columns, 0u); });
      constexpr auto pitch = static_cast<size_t>(layout::kTensorColumns);
      multiply(std::span(cells(at, 0).words, (at.lanes - 1) * pitch + at.columns), pitch);
      if (!mma_.accumulate || follow_ != nullptr)  // else they were written before
        each_row(at, [&](const auto& to, uint32_t) { std::fill_n(to.written, at.columns, uint8_t{1}); });
      return;
    }
    std::vector<uint32_t> d(size_t{at.lanes} * at.columns);
    if (mma_.accumulate)
      each_row(at, [&](const auto& from, uint32_t r) {
        for (uint32_t c = 0; c < at.columns; ++c) {
          uint32_t& code = d[size_t{r} * at.columns + c];
          code = halves ? from.words[c] & 0xFFFF : from.words[c];
          if (use_.scale_d != 0) code = scaled_down(*mma_.shape.d, code, use_.scale_d);
        }
      });
    multiply(std::span(d), size_t{at.columns});
    each_row(at, [&](const auto& to, uint32_t r) {
      std::copy_n(&d[size_t{r} * at.columns], at.columns, to.words);
      std::fill_n(to.written, at.columns, uint8_t{1});
    });
  }

  // Adds A B to rows of D in the lanes of `at`, and tells who watches. `row`, `column`: where the first of
  // them stands in the CTA's share.
  void add_products(const TensorBlock& at, const number::DotOperand& a, const number::DotColumns& b,
                    uint32_t row, uint32_t column) const {
    const bool watched = use_.watch != nullptr && mma_.shape.d == &number::f16;
    update(at, [&](std::span<uint32_t> d, size_t pitch) {
      const std::vector<uint32_t> before =
          watched ? std::vector(d.begin(), d.end()) : std::vector<uint32_t>();
      number::dot_tile(*mma_.rule, a, at.lanes, b, d, "", pitch);
      for (uint32_t r = 0; watched && r < at.lanes; ++r)
        if (!kept(at.lane + r))
          use_.watch->look({*mma_.rule,
                            {a.format, a.codes.subspan(size_t{r} * b.k, b.k)},
                            b,
                            std::span(before).subspan(r * pitch, at.columns),
                            d.subspan(r * pitch, at.columns),
                            first_row_ + row + r,
                            column,
                            mma_.place});
    });
  }

 private:
  bool kept(uint32_t lane) const { return (keep_[lane / 32] >> lane % 32 & 1) != 0; }
  machine::TensorMemory::Cells cells(const TensorBlock& at, uint32_t row) const {
    return unit_.memory.cells(at.lane + row, at.column, at.columns, kMultiply);
  }
  // Of what is not kept.
  template <class Visit>
  void each_row(const TensorBlock& at, Visit visit) const {
    for (uint32_t r = 0; r < at.lanes; ++r)
      if (!kept(at.lane + r)) visit(cells(at, r), r);
  }
  void require_sums(const TensorBlock& at) const {
    each_row(at, [&](const auto& from, uint32_t r) {
      const auto* missing = static_cast<const uint8_t*>(std::memchr(from.written, 0, at.columns));
      if (missing == nullptr) return;
      if (follow_ != nullptr) return follow_->used_here("D");
      throw Fault(std::string(kMultiply) + " adds to D at lane " + std::to_string(at.lane + r) + ", column " +
                  std::to_string(at.column + static_cast<uint32_t>(missing - from.written)) +
                  " of tensor memory, which was never written: the first MMA of a sum must not add");
    });
  }

  const TensorMmaUse& use_;
  const TensorMma& mma_;
  TensorUnit& unit_;
  const uint32_t* keep_;
  uint32_t first_row_;  // of the instruction's D that is the share's
  run::Follow* follow_;
};

Collectors::Reading reading(const TensorMma& mma, bool a) {
  const auto& s = mma.shape;
  return {a ? s.a : s.b, s.k, a ? s.transpose_a : s.transpose_b, a ? s.negate_a : s.negate_b,
          a ? machine::ColumnMask{} : mma.columns};
}

// What the collector keeps of A is what stands in memory: for A from shared memory, and for a quarter of its
// rows from tensor memory, the first of them in `lane`.
void share_a(run::Cta& cta, const TensorMmaUse& use, const TensorMma& mma, std::span<const uint32_t> codes,
             size_t part = 0, uint32_t lane = 0) {
  if (mma.collected.fill == 0 || use.stationary) return;
  tensor_unit(cta).collectors.read(mma.collected, reading(mma, true), part, codes, [&](size_t i) {
    const size_t row = i / mma.shape.k;
    const size_t k = i % mma.shape.k;
    Collectors::Standing out = mma.a ? in_tensor(cta, mma, lane + static_cast<uint32_t>(row), k)
                                     : in_shared(cta, use, mma, true, row, k);
    out.where = (mma.a ? "lane " + std::to_string(lane + row) : "row " + std::to_string(row)) + " of A in " +
                out.where;
    return out;
  });
}
// The same of B.
void share_b(run::Cta& cta, const TensorMmaUse& use, const TensorMma& mma, std::span<const uint32_t> codes) {
  if (mma.collected.fill == 0 || !use.stationary) return;
  tensor_unit(cta).collectors.read(mma.collected, reading(mma, false), 0, codes, [&](size_t i) {
    const auto column = static_cast<uint32_t>(i / mma.shape.k);
    Collectors::Standing out =
        in_shared(cta, use, mma, false, mma.columns.source(column).value_or(column), i % mma.shape.k);
    out.where = "column " + std::to_string(column) + " of B in " + out.where;
    return out;
  });
}

// One CTA's rows, a quarter of its lanes at a time.
void multiply_share(const run::Port& port, run::Cta& cta, const TensorMmaUse& use, const TensorMma& mma,
                    PreparedB& b) {
  const auto& s = mma.shape;
  const uint32_t rows = s.m / static_cast<uint32_t>(use.cta_group);
  TensorUnit& unit = tensor_unit(cta);
  std::vector<uint32_t> a;  // of the whole share, or of a quarter from tensor memory
  if (!mma.a) {
    a = a_from_shared(port, cta, use, mma, rows);
    share_a(cta, use, mma, a);
  }
  const std::vector<TensorPlace>& cells = accumulator_cells(s.m, s.n, use.cta_group, use.stationary);
  // Banks of lanes, each with all rows and the next of the columns; quarters of the lanes share the rows of
  // a bank.
  const uint32_t columns = cells.back().column + 1;
  const uint32_t banks = s.n / columns;
  const uint32_t quarters = 4 / banks;
  const uint32_t quarter_rows = rows / quarters;
  // 64 rows stand in half of each warp's lanes: the other halves are others'.
  const bool apart = cells.back().lane + 1 > 4 * quarter_rows;
  for (uint32_t quarter = 0; quarter < (apart ? 4 : 1); ++quarter)
    unit.reach(port, machine::AccessKind::update,
               {mma.d.lane + cells[size_t{quarter} * quarter_rows * s.n].lane,
                apart ? quarter_rows : cells.back().lane + 1, mma.d.column, columns},
               -1, kMultiply);
  const ShareOfD share(use, mma, cta, unit);
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    const uint32_t first = quarter % quarters * quarter_rows;
    const uint32_t first_column = quarter / quarters * columns;
    const TensorPlace& place =
        cells[size_t{first} * s.n + first_column];  // rows of a quarter are in adjacent lanes
    if (mma.a) {                                    // it stands in the lanes of its rows of D, in each bank
      const uint32_t lane = mma.a->lane + place.lane;
      a = a_from_tensor(port, unit, mma, lane, quarter_rows);
      share_a(cta, use, mma, a, quarter, lane);
    }
    std::vector<uint8_t> sfa;
    std::vector<uint8_t> sfb;
    if (s.scale != nullptr) {
      sfa = scales(port, unit, mma, mma.a_scales, s.a_scale_id, first, quarter_rows, quarter, "A");
      // Each bank's scales stand in the lanes of that bank.
      sfb = scales(port, unit, mma, mma.b_scales, s.b_scale_id, 0, columns, quarter, "B");
    }
    const auto a_of_quarter =
        std::span(a).subspan(mma.a ? 0 : size_t{first} * s.k, size_t{quarter_rows} * s.k);
    const TensorBlock at{mma.d.lane + place.lane, quarter_rows, mma.d.column + place.column, columns};
    if (s.integers)
      share.update(at, [&](std::span<uint32_t> d, size_t) {
        number::integer_dot_tile({a_of_quarter, s.integers->a_signed},
                                 {b.codes(first_column, columns), s.integers->b_signed}, s.k, columns,
                                 s.integers->saturate, d);
      });
    else
      share.add_products(at, {s.a, a_of_quarter, sfa}, b.columns(first_column, columns, sfb), first,
                         first_column);
  }
}

}  // namespace

void multiply(const run::Port& port, run::Cta& cta, const TensorMmaUse& use, const TensorMma& mma) {
  std::vector<run::Cta*> ctas{&cta};
  if (use.cta_group == 2) {
    ctas.push_back(&peer(cta));
    if (cta.rank % 2 != 0) std::swap(ctas[0], ctas[1]);
  }
  const std::vector<uint32_t> codes = b_from_shared(port, ctas, use, mma);
  share_b(cta, use, mma, codes);
  PreparedB b(mma, codes);
  for (run::Cta* c : ctas) multiply_share(port, *c, use, mma, b);
}

}  // namespace bitwell::isa
