// ldmatrix and stmatrix (PTX ISA 9.0, 9.7.14.5.15 and 9.7.14.5.16).
#include <array>
#include <cstring>

#include "model/isa/family/emit.h"
#include "model/run/context.h"
#include "model/run/port.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

struct MatrixUse : AddressUse {
  int count = 1;  // matrices of 8 x 8 16-bit elements
  bool transposed = false;
};

using Row = std::array<std::byte, 16>;  // of a matrix

// Where the 8 rows of every matrix are.
std::array<SharedPlace, kLanes> row_places(const Op& op, Context& context) {
  const uint32_t used = op.as<MatrixUse>().count == 4 ? ~0u : (1u << 8 * op.as<MatrixUse>().count) - 1;
  context.require_defined(op.a, used, "an address");
  std::array<SharedPlace, kLanes> out{};
  for (int lane = 0; lane < 8 * op.as<MatrixUse>().count; ++lane)
    out[static_cast<size_t>(lane)] = shared_place(op.as<MatrixUse>(), op.a, context, lane, 16, 16, true);
  return out;
}

Next load_matrix(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<MatrixUse>();
  const auto places = row_places(op, context);
  std::array<Row, kLanes> rows;
  std::array<std::array<uint8_t, 16>, kLanes> defined;
  for (size_t r = 0; r < 8 * static_cast<size_t>(use.count); ++r)
    Port(context, static_cast<int>(r), use.order)
        .read(places[r].cta->shared, places[r].address, 16, rows[r].data(), defined[r].data());
  for (size_t m = 0; m < static_cast<size_t>(use.count); ++m) {
    auto* d = context.row<uint32_t>((*op.results)[m]);
    uint32_t known = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      uint32_t word = 0;
      bool whole = true;
      for (size_t e = 0; e < 2; ++e) {
        const size_t row = 8 * m + (use.transposed ? 2 * (lane % 4) + e : lane / 4);
        const size_t column = use.transposed ? lane / 4 : 2 * (lane % 4) + e;
        uint16_t element = 0;
        std::memcpy(&element, rows[row].data() + 2 * column, 2);
        word |= static_cast<uint32_t>(element) << 16 * e;
        whole = whole && machine::all_written(defined[row].data() + 2 * column, 2);
      }
      d[lane] = word;
      known |= static_cast<uint32_t>(whole) << lane;
    }
    context.set_known((*op.results)[m], ~0u, known);
  }
  return Next::advance;
}

Next store_matrix(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const auto places = row_places(op, context);
  Cluster& cluster = context.cta.cluster;
  cluster.change();
  if (context.checked && cluster.operations_under_way())
    for (int row = 0; row < 8 * op.as<MatrixUse>().count; ++row) {
      const uint64_t address = places[static_cast<size_t>(row)].address;
      if (const machine::Agent* copy = cluster.filling(address, 16))
        throw Fault("a write to " + cluster.shared_name(address) + ", which the copy of PTX line " +
                        std::to_string(copy->place.ptx_line) + " is still to write",
                    row);
    }
  const auto& use = op.as<MatrixUse>();
  std::array<Row, kLanes> rows;
  for (size_t m = 0; m < static_cast<size_t>(use.count); ++m) {
    const auto* s = context.row<uint32_t>((*op.sources)[m]);
    context.require_defined((*op.sources)[m], mask, "a matrix operand");
    for (size_t lane = 0; lane < kLanes; ++lane)
      for (size_t e = 0; e < 2; ++e) {
        const size_t row = 8 * m + (use.transposed ? 2 * (lane % 4) + e : lane / 4);
        const size_t column = use.transposed ? lane / 4 : 2 * (lane % 4) + e;
        const auto element = static_cast<uint16_t>(s[lane] >> 16 * e);
        std::memcpy(rows[row].data() + 2 * column, &element, 2);
      }
  }
  for (size_t r = 0; r < 8 * static_cast<size_t>(use.count); ++r)
    Port(context, static_cast<int>(r), use.order)
        .write(places[r].cta->shared, places[r].address, 16, rows[r].data());
  return Next::advance;
}

void matrix(Builder& b, const Match& m) {
  const bool loads = b.instruction().opcode == "ldmatrix";
  const size_t count = m.choice[0] == ".x1" ? 1 : m.choice[0] == ".x2" ? 2 : 4;
  if (b.operand_count() != 2) throw Invalid("'" + m.name + "' takes 2 operands");
  Op op = effect(loads ? load_matrix : store_matrix);
  auto& use = b.payload<MatrixUse>(op);
  use.count = static_cast<int>(count);
  use.transposed = has(b.instruction(), ".trans");
  set_address(b, op, use, b.operand(loads ? 1 : 0), space_of(b.instruction()));
  const ptx::Operand& registers = b.operand(loads ? 0 : 1);
  if (registers.kind != ptx::OperandKind::vector || registers.elements.size() != count)
    throw Invalid("'" + m.name + "' needs a vector of " + std::to_string(count) + " registers");
  std::vector<uint32_t>* list = b.new_list();
  for (const ptx::Operand& e : registers.elements)
    list->push_back(loads ? b.destination(e, b.type(".b32"), false, true).row
                          : b.source(e, b.type(".b32"), false, false).row);
  (loads ? op.results : op.sources) = list;
  b.emit(op);
}

constexpr Form kMatrix[] = {
    {"ldmatrix.sync.aligned.m8n8{.x1,.x2,.x4}[.trans][.shared,.shared::cta].b16", "*", matrix, 65, 75},
    {"stmatrix.sync.aligned.m8n8{.x1,.x2,.x4}[.trans][.shared,.shared::cta].b16", "*", matrix, 78, 90},
};

}  // namespace

std::span<const Form> matrix_forms() { return kMatrix; }

}  // namespace bitwell::isa
