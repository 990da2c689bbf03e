#include <algorithm>
#include <map>
#include <tuple>

#include "model/isa/family/fragments.h"
#include "model/isa/family/shared_matrix.h"
#include "model/isa/family/tensor_mma.h"

namespace bitwell::isa {

using machine::Fault;
using machine::TensorPlace;

namespace {

constexpr uint32_t kQuarter = 32;  // lanes of one data path
constexpr const char* kName = "tcgen05.mma";

// Where each element of D stands, from D's address on: by row and column of one CTA's share.
const std::vector<TensorPlace>& accumulator_cells(uint32_t m, uint32_t n, int ctas) {
  static thread_local std::map<std::tuple<uint32_t, uint32_t, int>, std::vector<TensorPlace>> made;
  std::vector<TensorPlace>& cells = made[{m, n, ctas}];
  if (!cells.empty()) return cells;
  const layout::Hardware h = layout::accumulator(m, n, ctas);
  for (int64_t row = 0; row < h.axes[0].extent; ++row)
    for (int64_t column = 0; column < n; ++column) {
      const auto a = layout::tensor_address(h.layout(std::vector<layout::Tuple>{row, column}));
      cells.push_back({static_cast<uint32_t>(a.lane), static_cast<uint32_t>(a.column)});
    }
  return cells;
}

Packing packing_of(machine::MmaKind kind) {
  return kind == machine::MmaKind::f8f6f4 || kind == machine::MmaKind::mxf8f6f4 ? Packing::padded
                                                                                : Packing::dense;
}

// `rows` rows of A from tensor memory, [row][k]: row i in lane `lane` + i, elements packed from the low bits
// up.
std::vector<uint32_t> a_from_tensor(const Port& port, TensorUnit& unit, const TensorMma& mma, uint32_t lane,
                                    uint32_t rows) {
  const number::Format& f = *mma.shape.a;
  const bool bytes = f.bits <= 8 && mma.shape.k == 32;  // 4 and 6 bits in containers of 8
  const uint32_t each = bytes ? 4 : 32 / static_cast<uint32_t>(f.container);
  const uint32_t width = 32 / each;
  const uint32_t columns = mma.shape.k / each;
  unit.reach(port, AccessKind::read, {lane, rows, mma.a->column, columns}, -1, kName);
  std::vector<uint32_t> out(size_t{rows} * mma.shape.k);
  for (uint32_t row = 0; row < rows; ++row) {
    const auto cells = unit.memory.cells(lane + row, mma.a->column, columns, kName);
    for (uint32_t c = 0; c < columns; ++c) {
      if (cells.written[c] == 0)
        throw Fault(std::string(kName) + " reads A at lane " + std::to_string(lane + row) + ", column " +
                    std::to_string(mma.a->column + c) + " of tensor memory, which was never written");
      for (uint32_t i = 0; i < each; ++i) {
        uint32_t code = cells.words[c] >> i * width & ((uint64_t{1} << width) - 1);
        if (bytes && f.bits == 4) code >>= 2;  // E2M1 in bits 5 to 2
        out[size_t{row} * mma.shape.k + c * each + i] = code & ((uint64_t{1} << f.container) - 1);
      }
    }
  }
  return out;
}

// The scales of `rows` rows from `first` on, [row][scale], as one data path (quarter) reads them.
std::vector<uint8_t> scales(const Port& port, TensorUnit& unit, const TensorMma& mma, TensorPlace at,
                            uint32_t id, uint32_t first, uint32_t rows, uint32_t quarter, const char* what) {
  const auto each = static_cast<uint32_t>(mma.rule->scales(mma.shape.k));
  if (id + each > 4)
    throw Fault(std::string("the scale-factor id of ") + what + " is " + std::to_string(id) + ", with " +
                std::to_string(each) + " scales of a row in a word");
  unit.reach(port, AccessKind::read,
             {at.lane + quarter * kQuarter, std::min(rows, kQuarter), at.column + first / kQuarter,
              (rows + kQuarter - 1) / kQuarter},
             -1, kName);
  std::vector<uint8_t> out(size_t{rows} * each);
  for (uint32_t r = 0; r < rows; ++r) {
    const uint32_t lane = at.lane + (first + r) % kQuarter + quarter * kQuarter;
    const uint32_t column = at.column + (first + r) / kQuarter;
    const auto cell = unit.memory.cells(lane, column, 1, kName);
    if (*cell.written == 0)
      throw Fault(std::string(kName) + " reads the scales of " + what + " at lane " + std::to_string(lane) +
                  ", column " + std::to_string(column) + " of tensor memory, which was never written");
    for (uint32_t i = 0; i < each; ++i) out[r * each + i] = static_cast<uint8_t>(*cell.words >> 8 * (id + i));
  }
  return out;
}

// One CTA's rows, a quarter of its lanes at a time. `b_codes`: all of B, [column][k].
void multiply_share(const Port& port, Cta& cta, const TensorMmaUse& use, const TensorMma& mma,
                    std::span<const uint32_t> b_codes) {
  const auto& s = mma.shape;
  const uint32_t rows = s.m / static_cast<uint32_t>(use.cta_group);
  TensorUnit& unit = tensor_unit(cta);
  std::vector<uint32_t> a;  // of the whole share, or of a quarter from tensor memory
  if (!mma.a)
    a = read_matrix(shared_bytes(port, cta),
                    {machine::decode_matrix_descriptor(machine::DescriptorForm::tcgen05, mma.a_bits),
                     s.transpose_a, s.a, rows, s.k, packing_of(use.kind), kName, "A"});
  if (s.negate_a) negate(*s.a, a);
  const std::vector<TensorPlace>& cells = accumulator_cells(s.m, s.n, use.cta_group);
  // Banks of lanes, each with all rows and the next of the columns; quarters of the lanes share the rows of
  // a bank.
  const uint32_t columns = cells.back().column + 1;
  const uint32_t banks = s.n / columns;
  const uint32_t quarters = 4 / banks;
  unit.reach(port, AccessKind::update, {mma.d.lane, cells.back().lane + 1, mma.d.column, columns}, -1, kName);
  const uint32_t quarter_rows = rows / quarters;
  std::map<std::tuple<uint32_t, std::vector<uint8_t>>, number::DotColumns> prepared;
  std::vector<uint32_t> d;
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    const uint32_t first = quarter % quarters * quarter_rows;
    const uint32_t first_column = quarter / quarters * columns;
    if (mma.a) {  // it stands in the lanes of its rows of D, in each bank
      a = a_from_tensor(port, unit, mma, mma.a->lane + cells[size_t{first} * s.n + first_column].lane,
                        quarter_rows);
      if (s.negate_a) negate(*s.a, a);
    }
    std::vector<uint8_t> sfa;
    std::vector<uint8_t> sfb;
    if (s.scale != nullptr) {
      sfa = scales(port, unit, mma, mma.a_scales, s.a_scale_id, first, quarter_rows, quarter, "A");
      // Each bank's scales stand in the lanes of that bank.
      sfb = scales(port, unit, mma, mma.b_scales, s.b_scale_id, 0, columns, quarter, "B");
    }
    number::DotColumns& b = prepared[{first_column, sfb}];
    if (b.rule == nullptr)
      b = number::prepare_columns(
          *mma.rule, {s.b, b_codes.subspan(size_t{first_column} * s.k, size_t{columns} * s.k), sfb}, columns,
          s.k);
    d.assign(size_t{quarter_rows} * columns, 0);
    const uint32_t low = s.d == &number::f16 ? 0xFFFF : ~0u;
    const auto each_cell = [&](auto visit) {
      for (uint32_t r = 0; r < quarter_rows; ++r) {
        const TensorPlace& p = cells[size_t{first + r} * s.n + first_column];
        const uint32_t lane = mma.d.lane + p.lane;
        if ((mma.keep[lane / 32] >> lane % 32 & 1) != 0) continue;
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
        }
      });
    number::dot_tile(
        *mma.rule,
        {s.a, std::span(a).subspan(mma.a ? 0 : size_t{first} * s.k, size_t{quarter_rows} * s.k), sfa},
        quarter_rows, b, d);
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
  const auto& s = mma.shape;
  std::vector<uint32_t> b;  // [column][k]
  for (Cta* c : ctas) {
    const std::vector<uint32_t> share =
        read_matrix(shared_bytes(port, *c),
                    {machine::decode_matrix_descriptor(machine::DescriptorForm::tcgen05, mma.b_bits),
                     s.transpose_b, s.b, s.n / ctas.size(), s.k, packing_of(use.kind), kName, "B"});
    b.insert(b.end(), share.begin(), share.end());
  }
  if (s.negate_b) negate(*s.b, b);
  for (Cta* c : ctas) multiply_share(port, *c, use, mma, b);
}

}  // namespace bitwell::isa
