// tcgen05.cp: from shared memory into tensor memory (PTX ISA 9.0, 9.7.16.9).
#include <algorithm>
#include <cstring>

#include "model/isa/family/mma/shared_matrix.h"
#include "model/isa/family/tensor/tensor_forms.h"
#include "model/isa/family/tensor/tensor_unit.h"
#include "model/machine/tensor/matrix_descriptor.h"

namespace bitwell::isa {

using machine::Fault;

namespace {

enum class Unpack : uint8_t { none, from_4_bits, from_6_bits };

struct CellCopyUse : Payload {
  uint32_t rows = 0, atoms = 0, copies = 0;  // of the source; an atom has 16 bytes, 4 columns
  bool scattered = false;                    // a row in each quarter of the lanes, from any lane on
  std::vector<machine::TensorPlace> cells;   // [row][atom][copy]: where it starts
  Unpack unpack{};
  int cta_group = 1;
  uint64_t offset = 0;  // of the address
};

// 16 elements in containers of 8 bits: E2M1 in bits 5 to 2, six bits in bits 5 to 0.
void unpack(Unpack how, std::byte* bytes) {
  if (how == Unpack::none) return;
  std::byte out[16];
  for (size_t i = 0; i < 16; ++i) {
    if (how == Unpack::from_4_bits) {
      out[i] = (bytes[i / 2] >> 4 * (i % 2) & std::byte{0xF}) << 2;
      continue;
    }
    const size_t at = 6 * i;
    uint16_t two = 0;
    std::memcpy(&two, bytes + at / 8, 2);
    out[i] = static_cast<std::byte>(two >> at % 8 & 0x3F);
  }
  std::memcpy(bytes, out, 16);
}

void copy_into(const run::Port& port, run::Cta& cta, const CellCopyUse& use, machine::TensorPlace to,
               const machine::MatrixDescriptor& from) {
  TensorUnit& unit = tensor_unit(cta);
  const SharedBytes shared = shared_bytes(port, cta);
  const uint32_t filled = use.unpack == Unpack::from_4_bits ? 8 : use.unpack == Unpack::from_6_bits ? 12 : 16;
  for (uint32_t i = 0; i < (use.scattered ? use.rows : 1); ++i)
    unit.reach(port, machine::AccessKind::write,
               {to.lane + 32 * i, use.scattered ? 1 : machine::kTensorLanes, to.column, 4 * use.atoms}, -1,
               "tcgen05.cp");
  std::vector<uint32_t> atoms;
  for (uint32_t row = 0; row < use.rows; ++row)
    for (uint32_t atom = 0; atom < use.atoms; ++atom)
      atoms.push_back(machine::chunk_of(from, false, 16, row, 16 * atom));
  std::vector<std::byte> bytes = fetch(shared, atoms, filled, "tcgen05.cp", "its source");
  auto cell = use.cells.begin();
  for (size_t first = 0; first < bytes.size(); first += 16) {
    unpack(use.unpack, &bytes[first]);
    for (uint32_t copy = 0; copy < use.copies; ++copy, ++cell) {
      const auto cells = unit.memory.cells(to.lane + cell->lane, to.column + cell->column, 4, "tcgen05.cp");
      std::memcpy(cells.words, &bytes[first], 16);
      std::memset(cells.written, 1, 4);
    }
  }
}

Next copy_cells(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<CellCopyUse>();
  context.require_defined(op.a, mask, "a tensor memory address");
  context.require_defined(op.b, mask, "a matrix descriptor");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const auto to =
        machine::tensor_place(static_cast<uint32_t>(context.row<uint32_t>(op.a)[lane] + use.offset));
    const auto from = machine::decode_matrix_descriptor(machine::DescriptorForm::tcgen05,
                                                        context.row<uint64_t>(op.b)[lane]);
    if (to.lane != 0 && !use.scattered)
      throw Fault("tcgen05.cp at lane " + std::to_string(to.lane) + " of tensor memory, it must be 0", lane);
    if (to.column % 4 != 0)
      throw Fault("tcgen05.cp at column " + std::to_string(to.column) +
                      " of tensor memory, it must be a multiple of 4",
                  lane);
    run::Cta& cta = context.cta;
    run::Cta* const other = use.cta_group == 2 ? &peer(cta) : nullptr;
    const auto kind = use.scattered ? TensorOrder::Kind::copy_4x256b : TensorOrder::Kind::copy;
    tensor_unit(cta).issue(
        context, lane, "tcgen05.cp", TensorOrder{kind},
        {.bytes = uint64_t{use.rows} * use.atoms * 16 * static_cast<uint64_t>(use.cta_group)},
        {.kind = machine::Task::Kind::tensor_copy,
         .bytes = uint64_t{use.rows} * use.atoms * 16,
         .ctas = static_cast<uint32_t>(use.cta_group)},
        [&cta, other, &use, to, from](const run::Port& port) {
          copy_into(port, cta, use, to, from);
          if (other != nullptr) copy_into(port, *other, use, to, from);
        });
  }
  return Next::advance;
}

// Fills in where the rows go.
void place_rows(CellCopyUse& use, const ptx::Instruction& i, const std::string& shape) {
  std::string name = shape.substr(1);
  for (const char* multicast : {".warpx2::02_13", ".warpx2::01_23", ".warpx4"})
    if (ptx::has(i, multicast)) name += multicast;
  const layout::Hardware copied = layout::copied(name);
  use.rows = static_cast<uint32_t>(copied.axes[0].extent);
  use.atoms = static_cast<uint32_t>(copied.axes[1].extent / 16);
  use.copies = static_cast<uint32_t>(copied.axes[2].extent);
  use.scattered = shape == ".4x256b";
  const std::vector<machine::TensorPlace> cells = layout::tensor_cells(copied);
  for (size_t atom = 0; atom < size_t{use.rows} * use.atoms; ++atom)
    for (size_t copy = 0; copy < use.copies; ++copy)
      use.cells.push_back(cells[atom * 16 * use.copies + copy]);
}

// cp [taddr], descriptor
void copy_form(Builder& b, const Match& m) {
  operands_left(b, m, 2);
  Op op = effect(copy_cells);
  auto& use = b.payload<CellCopyUse>(op);
  use.cta_group = cta_group(b.instruction());
  place_rows(use, b.instruction(), m.choice[1]);
  use.unpack = ptx::has(b.instruction(), ".b4x16_p64")   ? Unpack::from_4_bits
               : ptx::has(b.instruction(), ".b6x16_p32") ? Unpack::from_6_bits
                                                         : Unpack::none;
  const Address address = b.address(b.operand(0), Space::shared);
  if (!address.narrow) throw Invalid("a tensor memory address has 32 bits");
  op.a = address.row;
  use.offset = address.offset;
  b.uses().touch_there({.space = Space::tensor, .writes = true, .operation = true});
  b.uses().touch({.space = Space::shared, .reads = true, .operation = true});
  op.b = b.source(b.operand(1), b.type(".b64")).row;
  b.emit(op);
}

#define COPY(shape) "tcgen05.cp|" CTA_GROUP shape
#define UNPACK ".b8x16{.b4x16_p64,.b6x16_p32}"
#define WHOLE "{.128x256b,.128x128b,.4x256b}"
#define HALVES "{.64x128b}{.warpx2::02_13,.warpx2::01_23}"
#define QUARTERS "{.32x128b}.warpx4"
constexpr Form kCopy[] = {
    {COPY(WHOLE), "*", copy_form, 86, &Features::tcgen05},
    {COPY(WHOLE) UNPACK, "*", copy_form, 86, &Features::tcgen05},
    {COPY(HALVES), "*", copy_form, 86, &Features::tcgen05},
    {COPY(HALVES) UNPACK, "*", copy_form, 86, &Features::tcgen05},
    {COPY(QUARTERS), "*", copy_form, 86, &Features::tcgen05},
    {COPY(QUARTERS) UNPACK, "*", copy_form, 86, &Features::tcgen05},
};
#undef COPY
#undef UNPACK
#undef WHOLE
#undef HALVES
#undef QUARTERS

}  // namespace

std::span<const Form> tensor_cell_copy_forms() { return kCopy; }

}  // namespace bitwell::isa
