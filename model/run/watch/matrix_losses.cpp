#include "model/run/watch/matrix_losses.h"

#include <algorithm>
#include <cmath>

#include "model/number/aligned_sum.h"
#include "model/number/decode.h"
#include "model/number/half.h"

namespace bitwell::run {
namespace {

__extension__ typedef __int128 Wide;

// Operands of products whose results are fp16 have at most 16 bits: all are multiples of this unit below
// 2^16.
constexpr int kUnit = -24;  // its exponent

int64_t units(const number::Format& format, uint32_t code) {
  const number::Operand o = number::operand(format, code);
  const auto value = static_cast<int64_t>(o.significand << (o.exponent - format.fraction_bits - kUnit));
  return o.negative ? -value : value;
}

// The exact sum of one result's products, in squares of units.
Wide products(const isa::MatrixSums& sums, size_t row, size_t column) {
  Wide sum = 0;
  for (size_t i = 0; i < sums.b.k; ++i)
    sum += Wide{units(*sums.a.format, sums.a.codes[row * sums.b.k + i])} *
           units(*sums.b.format, sums.b.codes[column * sums.b.k + i]);
  return sum;
}

float value_of(uint32_t half) { return number::half_to_float(static_cast<uint16_t>(half)); }

// By vector of k codes.
std::vector<bool> finite_ones(const number::Format& format, std::span<const uint32_t> codes, size_t k) {
  std::vector<bool> out(codes.size() / k, true);
  for (size_t i = 0; format.has_nan() && i < codes.size(); ++i) {
    const number::Exact value = number::decode(format, codes[i]);
    if (value.kind != number::Kind::finite) out[i / k] = false;
  }
  return out;
}

}  // namespace

MatrixLosses::MatrixLosses(const isa::Line& line, Bound bound) : bound_(bound) {
  seen_.form = Losses::Form::matrix;
  seen_.ptx_line = line.ptx;
  seen_.instruction = line.text;
}

void MatrixLosses::look(const isa::MatrixSums& sums) {
  const size_t columns = sums.b.columns;
  const size_t rows = sums.before.size() / columns;
  const std::vector<bool> row_finite = finite_ones(*sums.a.format, sums.a.codes, sums.b.k);
  const std::vector<bool> column_finite = finite_ones(*sums.b.format, sums.b.codes, sums.b.k);
  std::vector<uint32_t> alone(rows * columns);
  number::dot_tile(sums.rule, sums.a, rows, sums.b, alone);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      if (row_finite[row] && column_finite[column]) judge(sums, row, column, alone[row * columns + column]);
}

// `alone`: what the instruction gives for an accumulator of 0.
void MatrixLosses::judge(const isa::MatrixSums& sums, size_t row, size_t column, uint32_t alone) {
  const size_t at = row * sums.b.columns + column;
  const float before = value_of(sums.before[at]);
  if (!std::isfinite(before)) return;
  Losses& seen = LossesApart::of(seen_);
  ++seen.results;
  const float after = value_of(sums.after[at]);
  const auto count = [&](Loss& loss) {
    if (loss.count++ != 0) return;
    const auto sum = std::ldexp(static_cast<double>(products(sums, row, column)), 2 * kUnit);
    loss.first = sums.place;
    loss.cell = {sums.first_row + row, sums.first_column + column};
    loss.operands = {static_cast<float>(sum), before};
    loss.result = after;
  };
  if (std::isinf(after)) return count(seen.overflowed);
  if (before == 0) return;
  const float term = value_of(alone);
  if (after == term || (after == before && products(sums, row, column) != 0)) count(seen.absorbed);
  const int bits = bound_ ? lost_bits(term, before, after, false) : 0;
  if (!bound_ || bits <= *bound_) return;
  count(seen.shortened);
  seen.shortened.bits = std::max(seen.shortened.bits, bits);
}

}  // namespace bitwell::run
