#include "model/isa/family/tensor/tensor_mma_operands.h"

#include <algorithm>

#include "model/isa/family/mma/fragments.h"
#include "model/isa/family/mma/shared_matrix.h"

namespace bitwell::isa {

using machine::Fault;
using machine::TensorPlace;

namespace {

constexpr uint32_t kQuarter = 32;  // lanes of one data path
constexpr const char* kName = "tcgen05.mma";

SharedMatrix matrix(const TensorMmaUse& use, const TensorMma& mma, bool a, size_t rows) {
  const bool padded = use.kind == machine::MmaKind::f8f6f4 || use.kind == machine::MmaKind::mxf8f6f4;
  const auto& s = mma.shape;
  return {machine::decode_matrix_descriptor(machine::DescriptorForm::tcgen05, a ? mma.a_bits : mma.b_bits),
          a ? s.transpose_a : s.transpose_b,
          a ? s.a_bits() : s.b_bits(),
          rows,
          s.k,
          padded ? Packing::padded : Packing::dense,
          kName,
          a ? "A" : "B"};
}

std::vector<uint32_t> masked_columns(const SharedBytes& shared, const TensorMmaUse& use,
                                     const TensorMma& mma) {
  const auto& s = mma.shape;
  SharedMatrix m = matrix(use, mma, false, s.n + mma.columns.shift);
  m.skipped.assign(m.rows, true);
  for (uint32_t c = 0; c < s.n; ++c)
    if (const auto from = mma.columns.source(c)) m.skipped[*from] = false;
  const std::vector<uint32_t> all = read_matrix(shared, m);
  std::vector<uint32_t> out(size_t{s.n} * s.k);
  for (uint32_t c = 0; c < s.n; ++c)
    if (const auto from = mma.columns.source(c))
      std::copy_n(&all[size_t{*from} * s.k], s.k, &out[size_t{c} * s.k]);
  return out;
}

}  // namespace

std::vector<uint32_t> a_from_shared(const run::Port& port, run::Cta& cta, const TensorMmaUse& use,
                                    const TensorMma& mma, uint32_t rows) {
  std::vector<uint32_t> out = read_matrix(shared_bytes(port, cta), matrix(use, mma, true, rows));
  if (mma.shape.negate_a) negate(*mma.shape.a, out);
  return out;
}

std::vector<uint32_t> b_from_shared(const run::Port& port, std::span<run::Cta* const> ctas,
                                    const TensorMmaUse& use, const TensorMma& mma) {
  std::vector<uint32_t> out;
  if (use.stationary) out = masked_columns(shared_bytes(port, *ctas[0]), use, mma);
  for (size_t i = 0; !use.stationary && i < ctas.size(); ++i) {
    const std::vector<uint32_t> share =
        read_matrix(shared_bytes(port, *ctas[i]), matrix(use, mma, false, mma.shape.n / ctas.size()));
    out.insert(out.end(), share.begin(), share.end());
  }
  if (mma.shape.negate_b) negate(*mma.shape.b, out);
  return out;
}

Collectors::Standing in_shared(run::Cta& cta, const TensorMmaUse& use, const TensorMma& mma, bool a,
                               size_t row, size_t k) {
  const SharedMatrix m = matrix(use, mma, a, 0);
  const auto bits = static_cast<uint32_t>(m.bits);
  const uint32_t each = m.packing == Packing::padded ? 16 : 128 / bits;
  const uint32_t at =
      machine::chunk_of(m.descriptor, m.mn_major, each, static_cast<uint32_t>(row), static_cast<uint32_t>(k));
  Collectors::Standing out{
      "bytes " + std::to_string(at) + " to " + std::to_string(at + 15) + " of shared memory", {}};
  const uint64_t first_bit = (m.mn_major ? row : k) % each * bits;
  const uint64_t byte = first_bit / 8;
  if (const run::LastWriters* writers = cta.cluster.writers())
    out.writer = writers->of_shared(cta.shared.base() + at + byte, (first_bit + bits + 7) / 8 - byte);
  return out;
}

namespace {

// 4 and 6 bits in containers of 8.
bool in_bytes(const TensorMma& mma) { return mma.shape.a_bits() <= 8 && mma.shape.k == 32; }
// Of A's elements, in a cell of tensor memory.
uint32_t elements_a_cell(const TensorMma& mma) {
  return in_bytes(mma) ? 4 : 32 / static_cast<uint32_t>(mma.shape.a_bits());
}

}  // namespace

Collectors::Standing in_tensor(run::Cta& cta, const TensorMma& mma, uint32_t lane, size_t k) {
  Collectors::Standing out{"tensor memory", {}};
  if (const run::LastWriters* writers = cta.cluster.writers())
    out.writer =
        writers->of_cell(cta.rank, lane, mma.a->column + static_cast<uint32_t>(k) / elements_a_cell(mma));
  return out;
}

// Elements are packed from the low bits up.
std::vector<uint32_t> a_from_tensor(const run::Port& port, TensorUnit& unit, const TensorMma& mma,
                                    uint32_t lane, uint32_t rows) {
  const auto bits = static_cast<uint32_t>(mma.shape.a_bits());
  const bool bytes = in_bytes(mma);
  const uint32_t each = elements_a_cell(mma);
  const uint32_t width = 32 / each;
  const uint32_t columns = mma.shape.k / each;
  unit.reach(port, machine::AccessKind::read, {lane, rows, mma.a->column, columns}, -1, kName);
  std::vector<uint32_t> out(size_t{rows} * mma.shape.k);
  for (uint32_t row = 0; row < rows; ++row) {
    const auto cells = unit.memory.cells(lane + row, mma.a->column, columns, kName);
    for (uint32_t c = 0; c < columns; ++c) {
      if (cells.written[c] == 0 && port.follow() != nullptr)
        port.follow()->used_here("A");
      else if (cells.written[c] == 0)
        throw Fault(std::string(kName) + " reads A at lane " + std::to_string(lane + row) + ", column " +
                    std::to_string(mma.a->column + c) + " of tensor memory, which was never written");
      for (uint32_t i = 0; i < each; ++i) {
        uint32_t code = cells.words[c] >> i * width & ((uint64_t{1} << width) - 1);
        if (bytes && bits == 4) code >>= 2;  // E2M1 in bits 5 to 2
        out[size_t{row} * mma.shape.k + c * each + i] = code & ((uint64_t{1} << bits) - 1);
      }
    }
  }
  if (mma.shape.negate_a) negate(*mma.shape.a, out);
  return out;
}

std::vector<uint8_t> scales(const run::Port& port, TensorUnit& unit, const TensorMma& mma, TensorPlace at,
                            uint32_t id, uint32_t first, uint32_t rows, uint32_t quarter, const char* what) {
  const auto each = static_cast<uint32_t>(mma.rule->scales(mma.shape.k));
  if (id + each > 4)
    throw Fault(std::string("the scale-factor id of ") + what + " is " + std::to_string(id) + ", with " +
                std::to_string(each) + " scales of a row in a word");
  unit.reach(port, machine::AccessKind::read,
             {at.lane + quarter * kQuarter, std::min(rows, kQuarter), at.column + first / kQuarter,
              (rows + kQuarter - 1) / kQuarter},
             -1, kName);
  std::vector<uint8_t> out(size_t{rows} * each);
  const auto lane_of = [&](uint32_t r) { return at.lane + (first + r) % kQuarter + quarter * kQuarter; };
  const auto column_of = [&](uint32_t r) { return at.column + (first + r) / kQuarter; };
  bool missing = false;
  for (uint32_t l = 0; l < std::min(rows, kQuarter); ++l) {  // every 32nd row is in the same lane
    const uint32_t count = (rows - l + kQuarter - 1) / kQuarter;
    const auto cells = unit.memory.cells(lane_of(l), column_of(l), count, kName);
    for (uint32_t c = 0; c < count; ++c) {
      missing = missing || cells.written[c] == 0;
      for (uint32_t i = 0; i < each; ++i)
        out[(l + c * kQuarter) * each + i] = static_cast<uint8_t>(cells.words[c] >> 8 * (id + i));
    }
  }
  if (missing && port.follow() != nullptr) {
    port.follow()->used_here(std::string("scales of ") + what);
    return out;
  }
  for (uint32_t r = 0; missing && r < rows; ++r)
    if (*unit.memory.cells(lane_of(r), column_of(r), 1, kName).written == 0)
      throw Fault(std::string(kName) + " reads the scales of " + what + " at lane " +
                  std::to_string(lane_of(r)) + ", column " + std::to_string(column_of(r)) +
                  " of tensor memory, which was never written");
  return out;
}

}  // namespace bitwell::isa
