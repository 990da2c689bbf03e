// ldmatrix, stmatrix and movmatrix (PTX ISA 9.0, 9.7.14.5.15 to 9.7.14.5.17).
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "model/isa/family/emit.h"
#include "model/isa/family/mma/unknown_product.h"
#include "model/machine/where.h"
#include "model/run/context.h"
#include "model/run/port.h"
#include "model/run/watch/definedness.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

struct MatrixUse : AddressUse {
  int count = 1;  // matrices of 8 x 8 16-bit elements
  bool transposed = false;
};

using Row = std::array<std::byte, 16>;  // of a matrix

// Where the first `rows` threads say that rows are.
std::array<run::SharedPlace, kLanes> row_places(const AddressUse& use, const Op& op, run::Context& context,
                                                int rows) {
  context.require_defined(op.a, ~0u >> (kLanes - rows), "an address");
  std::array<run::SharedPlace, kLanes> out{};
  for (int lane = 0; lane < rows; ++lane)
    out[static_cast<size_t>(lane)] = run::shared_place(use, op.a, context, lane, 16, 16, true);
  return out;
}

// Of a lane that gets something never written of those bytes of a row: where it comes from.
void without(run::Context& context, uint32_t row, size_t lane, const run::SharedPlace& place, size_t first,
             std::span<const uint8_t> defined) {
  machine::Origin from{machine::Origin::Kind::memory, context.cta.line(context.split()).ptx};
  from.size = static_cast<uint32_t>(defined.size());
  for (size_t i = 0; i < defined.size(); ++i)
    from.missing |= static_cast<uint32_t>(defined[i] != machine::kWritten) << i;
  from.address = place.address + first;
  from.region = &place.cta->shared;
  context.overwritten(row, 1u << lane);
  context.activation().forget(row, 1u << lane, from);
}

Next load_matrix(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<MatrixUse>();
  const auto places = row_places(op.as<MatrixUse>(), op, context, 8 * op.as<MatrixUse>().count);
  std::array<Row, kLanes> rows;
  std::array<std::array<uint8_t, 16>, kLanes> defined;
  for (size_t r = 0; r < 8 * static_cast<size_t>(use.count); ++r) {
    const auto lane = static_cast<int>(r);
    run::Port(context, lane, use.order)
        .read(places[r].cta->shared, places[r].address, 16, rows[r].data(), defined[r].data());
    if (!machine::all_written(defined[r].data(), 16))
      run::keep_reads_off_copies(context, places[r].address, 16, lane);
  }
  for (size_t m = 0; m < static_cast<size_t>(use.count); ++m) {
    const uint32_t to = (*op.results)[m];
    auto* d = context.row<uint32_t>(to);
    context.set_known(to, ~0u, ~0u);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      uint32_t word = 0;
      bool whole = true;
      for (size_t e = 0; e < 2; ++e) {
        const size_t row = 8 * m + (use.transposed ? 2 * (lane % 4) + e : lane / 4);
        const size_t column = use.transposed ? lane / 4 : 2 * (lane % 4) + e;
        uint16_t element = 0;
        std::memcpy(&element, rows[row].data() + 2 * column, 2);
        word |= static_cast<uint32_t>(element) << 16 * e;
        if (const std::span<const uint8_t> two(defined[row].data() + 2 * column, 2);
            whole && !machine::all_written(two.data(), 2)) {
          whole = false;
          without(context, to, lane, places[row], 2 * column, two);
        }
      }
      d[lane] = word;
    }
  }
  return Next::advance;
}

// Rows of 16 elements that become bytes: of 8 bits, or of 4 or 6 with padding behind the 16.
struct NarrowUse : AddressUse {
  int rows = 0;       // of all matrices, each at the address of a thread
  bool tall = false;  // 16 rows a matrix, transposed; else 8
  uint32_t bits = 8;
};

// m16n16 and m8n16. Where the manual's figures are missing, CUTLASS's layouts say which byte goes where, and
// that ldmatrix, unlike tcgen05.cp, leaves 4 bits at the bottom of the byte.
Next load_narrow(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<NarrowUse>();
  const auto places = row_places(use, op, context, use.rows);
  std::array<std::array<uint8_t, 16>, kLanes> elements{}, known{}, written{};
  for (size_t r = 0; r < static_cast<size_t>(use.rows); ++r) {
    Row bytes;
    std::array<uint8_t, 16>& defined = written[r];
    const auto lane = static_cast<int>(r);
    run::Port(context, lane, use.order)
        .read(places[r].cta->shared, places[r].address, 2 * use.bits, bytes.data(), defined.data());
    if (!machine::all_written(defined.data(), 2 * use.bits))
      run::keep_reads_off_copies(context, places[r].address, 2 * use.bits, lane);
    for (size_t e = 0; e < 16; ++e) {
      const size_t first = e * use.bits;
      for (size_t bit = first; bit < first + use.bits; ++bit)
        elements[r][e] |=
            static_cast<uint8_t>((std::to_integer<unsigned>(bytes[bit / 8]) >> bit % 8 & 1) << (bit - first));
      known[r][e] =
          defined[first / 8] == machine::kWritten && defined[(first + use.bits - 1) / 8] == machine::kWritten;
    }
  }
  for (size_t n = 0; n < op.results->size(); ++n) {
    const uint32_t to = (*op.results)[n];
    auto* d = context.row<uint32_t>(to);
    context.set_known(to, ~0u, ~0u);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      d[lane] = 0;
      for (size_t k = 0; k < 4; ++k) {
        const size_t fours = 4 * (lane % 4) + k;
        const size_t row = use.tall ? n / 2 * 16 + fours : n * 8 + lane / 4;
        const size_t column = use.tall ? n % 2 * 8 + lane / 4 : fours;
        d[lane] |= static_cast<uint32_t>(elements[row][column]) << 8 * k;
        if (known[row][column] == 0)
          without(context, to, lane, places[row], 0, std::span(written[row]).first(2 * use.bits));
      }
    }
  }
  return Next::advance;
}

// Whether a copy is still to write some byte from the first row to the last: most often none is, of no row.
bool copies_fill_rows_between(const run::Cluster& cluster, std::span<const run::SharedPlace> rows) {
  const auto [low, high] = std::minmax_element(
      rows.begin(), rows.end(),
      [](const run::SharedPlace& a, const run::SharedPlace& b) { return a.address < b.address; });
  return cluster.filling(low->address, high->address - low->address + 16) != nullptr;
}

Next store_matrix(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const int count = 8 * op.as<MatrixUse>().count;
  const auto places = row_places(op.as<MatrixUse>(), op, context, count);
  run::Cluster& cluster = context.cta.cluster;
  cluster.change();
  if (context.checked && cluster.operations_under_way() &&
      copies_fill_rows_between(cluster, std::span(places).first(static_cast<size_t>(count))))
    for (int row = 0; row < count; ++row) {
      const uint64_t address = places[static_cast<size_t>(row)].address;
      if (const machine::Agent* copy = cluster.filling(address, 16))
        throw Fault("a write to " + cluster.shared_name(address) + ", which the copy of " +
                        machine::line_of(copy->place.kept()) + " is still to write",
                    row);
    }
  const auto& use = op.as<MatrixUse>();
  const bool unknown = lacks(context, *op.sources);
  std::array<Row, kLanes> rows;
  std::array<Row, kLanes> defined;  // where something was never written
  for (size_t m = 0; m < static_cast<size_t>(use.count); ++m) {
    const auto scatter = [&](const uint32_t* words, std::array<Row, kLanes>& to) {
      for (size_t lane = 0; lane < kLanes; ++lane)
        for (size_t e = 0; e < 2; ++e) {
          const size_t row = 8 * m + (use.transposed ? 2 * (lane % 4) + e : lane / 4);
          const size_t column = use.transposed ? lane / 4 : 2 * (lane % 4) + e;
          const auto element = static_cast<uint16_t>(words[lane] >> 16 * e);
          std::memcpy(to[row].data() + 2 * column, &element, 2);
        }
    };
    const uint32_t source = (*op.sources)[m];
    scatter(context.row<uint32_t>(source), rows);
    if (!unknown) continue;
    std::array<uint32_t, kLanes> known;
    for (int lane = 0; lane < kLanes; ++lane)
      known[static_cast<size_t>(lane)] =
          static_cast<uint32_t>(~run::unknown_of(context, source, lane, 4).low);
    scatter(known.data(), defined);
  }
  // Of equal rows at one place, as Triton stores what its lanes have twice, whoever watches is told once:
  // which of them remains is no matter.
  const auto stored = [&](size_t row) {
    for (size_t r = row; r-- > 0;)
      if (places[r].address == places[row].address) return rows[r] == rows[row];
    return false;
  };
  for (size_t r = 0; r < 8 * static_cast<size_t>(use.count); ++r)
    if ((!cluster.accesses_watched() && cluster.counted() == nullptr) || !stored(r))
      run::Port(context, static_cast<int>(r), use.order)
          .write(places[r].cta->shared, places[r].address, 16, rows[r].data(),
                 unknown ? reinterpret_cast<const uint8_t*>(defined[r].data()) : nullptr);
  return Next::advance;
}

// Thread 4 g + t holds columns 2 t and 2 t + 1 of row g.
Next transpose_matrix(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto source = [](size_t lane, size_t e) { return 4 * (2 * (lane % 4) + e) + lane / 8; };
  const auto transposed = [&](const std::array<uint32_t, kLanes>& s, size_t lane) {
    uint32_t out = 0;
    for (size_t e = 0; e < 2; ++e) out |= (s[source(lane, e)] >> 16 * (lane / 4 % 2) & 0xFFFF) << 16 * e;
    return out;
  };
  std::array<uint32_t, kLanes> s, unknown{};
  std::array<machine::Origin, kLanes> origins;
  const bool lacking = lacks(context, {&op.a, 1});
  std::copy_n(context.row<uint32_t>(op.a), kLanes, s.data());
  for (size_t lane = 0; lacking && lane < kLanes; ++lane) {
    unknown[lane] = static_cast<uint32_t>(run::unknown_of(context, op.a, static_cast<int>(lane), 4).low);
    origins[lane] = run::origin_of(context, op.a, static_cast<int>(lane));
  }
  auto* d = context.row<uint32_t>(op.d);
  for (size_t lane = 0; lane < kLanes; ++lane) d[lane] = transposed(s, lane);
  context.set_defined(op.d, mask);
  for (size_t lane = 0; lacking && lane < kLanes; ++lane) {
    const uint32_t its = transposed(unknown, lane);
    run::set_unknown(context, op.d, static_cast<int>(lane), 4, {its, 0},
                     origins[source(lane, (its & 0xFFFF) != 0 ? 0 : 1)]);
  }
  return Next::advance;
}

void transpose(Builder& b, const Match&) {
  Op op = effect_without_memory(b, transpose_matrix);
  op.d = b.values()[0].row;
  op.a = b.values()[1].row;
  b.emit(op);
}

void matrix(Builder& b, const Match& m) {
  const bool loads = b.instruction().opcode == "ldmatrix";
  const size_t count = m.choice[0] == ".x1" ? 1 : m.choice[0] == ".x2" ? 2 : 4;
  if (b.operand_count() != 2) throw Invalid("'" + m.name + "' takes 2 operands");
  Op op = effect(loads ? load_matrix : store_matrix);
  auto& use = b.payload<MatrixUse>(op);
  use.count = static_cast<int>(count);
  use.transposed = ptx::has(b.instruction(), ".trans");
  set_address(b, op, use, b.operand(loads ? 1 : 0), space_of(b.instruction()));
  b.uses().touch_there({.space = Space::shared, .reads = loads, .writes = !loads, .bytes = 16});
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

void narrow_matrix(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  operands_left(b, m, 2);
  Op op = effect(load_narrow);
  auto& use = b.payload<NarrowUse>(op);
  const int count = ptx::has(i, ".x1") ? 1 : ptx::has(i, ".x2") ? 2 : 4;
  use.tall = ptx::has(i, ".m16n16");
  use.rows = count * (use.tall ? 16 : 8);
  use.bits = ptx::has(i, ".b4x16_p64") ? 4 : ptx::has(i, ".b6x16_p32") ? 6 : 8;
  set_address(b, op, use, b.operand(1), space_of(i));
  b.uses().touch_there({.space = Space::shared, .reads = true, .bytes = static_cast<uint32_t>(use.bits) * 2});
  const size_t registers = static_cast<size_t>(count) * (use.tall ? 2 : 1);
  const ptx::Operand& d = b.operand(0);
  if (d.kind != ptx::OperandKind::vector || d.elements.size() != registers)
    throw Invalid("'" + m.name + "' needs a vector of " + std::to_string(registers) + " registers");
  op.results = b.new_list();
  for (const ptx::Operand& e : d.elements)
    op.results->push_back(b.destination(e, b.type(".b32"), false, true).row);
  b.emit(op);
}

#define SHARED "[.shared,.shared::cta]"
#define PADDED ".b8x16{.b6x16_p32,.b4x16_p64}"
constexpr Form kMatrix[] = {
    {"ldmatrix.sync.aligned.m16n16{.x1,.x2}.trans" SHARED ".b8", "*", narrow_matrix, 86, 100, "af"},
    {"ldmatrix.sync.aligned.m16n16{.x1,.x2}.trans" SHARED PADDED, "*", narrow_matrix, 86, 100, "af"},
    {"ldmatrix.sync.aligned.m8n16{.x1,.x2,.x4}" SHARED PADDED, "*", narrow_matrix, 86, 100, "af"},
    {"ldmatrix.sync.aligned.m8n8{.x1,.x2,.x4}[.trans][.shared,.shared::cta].b16", "*", matrix, 65, 75},
    {"movmatrix.sync.aligned.m8n8.trans.b16", "d:b32 r:b32", transpose, 78, 75},
    {"stmatrix.sync.aligned.m8n8{.x1,.x2,.x4}[.trans][.shared,.shared::cta].b16", "*", matrix, 78, 90},
};
#undef SHARED
#undef PADDED

}  // namespace

std::span<const Form> matrix_forms() { return kMatrix; }

}  // namespace bitwell::isa
