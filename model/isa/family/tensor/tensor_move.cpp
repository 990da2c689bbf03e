// tcgen05.ld, st and wait: between a warp's registers and its quarter of tensor memory
// (PTX ISA 9.0, 9.7.16.2 and 9.7.16.8). Which register holds which cell is the layout `tmem-ld`.
#include <algorithm>
#include <charconv>
#include <optional>

#include "model/isa/family/scalar/extreme.h"
#include "model/isa/family/tensor/tensor_forms.h"
#include "model/isa/family/tensor/tensor_unit.h"
#include "model/run/turns/synchronised.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

constexpr uint32_t kWindow = 32;  // lanes of tensor memory that a warp reaches

struct MoveUse : Payload {
  bool store = false;
  bool packed = false;             // two columns a register, 16 bits of each
  uint64_t offset = 0;             // of the address
  uint32_t lanes = 32;             // of the block that is moved
  uint32_t columns = 0;            // from its first to its last
  uint64_t split = 0;              // 16x32bx2
  uint32_t gap = 0;                // columns between its halves
  std::optional<Extreme> extreme;  // .red: of a thread's registers, to op.d
  size_t registers = 0;            // of a thread
  // By thread and register: how far its cell, or the first of two, stands from the block's first.
  std::vector<uint32_t> places;
};

// Calls visit(register, thread, place) for all: so few registers at a time that their rows and a line of each
// lane's cells stay at hand.
template <class Visit>
void each_cell(const MoveUse& use, Visit visit) {
  constexpr size_t kTogether = 16;
  for (size_t first = 0; first < use.registers; first += kTogether) {
    const size_t end = std::min(first + kTogether, use.registers);
    for (size_t t = 0; t < kLanes; ++t)
      for (size_t r = first; r < end; ++r) visit(r, t, use.places[t * use.registers + r]);
  }
}

// The same address in all threads. Of another quarter's lanes it takes those of its own: DeepGEMM's epilogues
// load at the address that alloc gave, by all four warps.
machine::TensorPlace address_of(const Op& op, run::Context& context, const MoveUse& use) {
  machine::TensorPlace at = machine::tensor_place(
      static_cast<uint32_t>(context.uniform<uint32_t>(op.a, "a tensor memory address") + use.offset));
  const uint32_t first = static_cast<uint32_t>(context.warp.index) % 4 * kWindow;
  const char* name = use.store ? "tcgen05.st" : "tcgen05.ld";
  const uint32_t within = at.lane % kWindow;
  const bool aligned = within == 0 || (within == 16 && use.lanes != kWindow);
  if (!aligned || at.lane >= machine::kTensorLanes)
    throw Fault(std::string(name) + " at lane " + std::to_string(at.lane) + " of tensor memory by warp " +
                std::to_string(context.warp.index) + ", which reaches lanes " + std::to_string(first) +
                " to " + std::to_string(first + kWindow - 1) + " and starts at " + std::to_string(first) +
                (use.lanes == kWindow ? "" : " or " + std::to_string(first + 16)));
  if (at.lane - within != first)
    context.note(-1,
                 std::string(name) +
                     " at the lanes of another warp's quarter of tensor memory: it takes those of its own");
  at.lane = first + within;
  return at;
}

// The cells that the instruction may move now, all of them reached.
TensorBlock begin(const Op& op, run::Context& context, const MoveUse& use) {
  const machine::TensorPlace at = address_of(op, context, use);
  const TensorBlock block{at.lane, use.lanes, at.column, use.columns, use.gap};
  tensor_unit(context.cta)
      .reach(run::Port(context, 0, {}), use.store ? machine::AccessKind::write : machine::AccessKind::read,
             block, context.warp.index, use.store ? "tcgen05.st" : "tcgen05.ld");
  return block;
}

Next load_cells(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<MoveUse>();
  const TensorBlock at = begin(op, context, use);
  TensorUnit& unit = tensor_unit(context.cta);
  uint32_t all_known = ~0u;
  auto load = std::make_shared<machine::TensorLoad>();
  load->activation = context.split().activation;
  load->registers.reserve(use.registers + 1);
  // Whoever reads the register waits for the load. Unchecked runs do not follow who does.
  const auto bring = [&](uint32_t row, uint32_t known) {
    if (row == kSink || !context.checked) return;
    context.overwritten(row, ~0u);
    context.activation().forget(row, ~0u);
    load->registers.push_back({row, ~0u, known});
  };
  const auto cells = unit.memory.cells(at.lane, at.column, at.columns, "tcgen05.ld");
  std::vector<uint32_t*> rows(use.registers);
  for (size_t r = 0; r < rows.size(); ++r) rows[r] = context.row<uint32_t>((*op.results)[r]);
  std::vector<uint32_t> known(use.registers);
  if (use.packed)
    each_cell(use, [&](size_t r, size_t t, uint32_t from) {
      rows[r][t] = (cells.words[from] & 0xFFFF) | cells.words[from + 1] << 16;
      known[r] |= static_cast<uint32_t>(cells.written[from] & cells.written[from + 1]) << t;
    });
  else
    each_cell(use, [&](size_t r, size_t t, uint32_t from) {
      rows[r][t] = cells.words[from];
      known[r] |= static_cast<uint32_t>(cells.written[from]) << t;
    });
  for (size_t r = 0; r < known.size(); ++r) {
    bring((*op.results)[r], known[r]);
    all_known &= known[r];
  }
  if (use.extreme) {
    std::vector<uint32_t> words(use.registers);
    for (size_t t = 0; t < kLanes; ++t) {
      for (size_t r = 0; r < words.size(); ++r) words[r] = context.row<uint32_t>((*op.results)[r])[t];
      context.row<uint32_t>(op.d)[t] = use.extreme->of(words);
    }
    bring(op.d, all_known);
  }
  if (context.checked) context.warp.tensor_loads.all.push_back(load);
  unit.started(false, at, context.warp.index, context.cta.issue_place(context.warp, context.split(), 0),
               load);
  return Next::advance;
}

Next store_cells(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<MoveUse>();
  if (context.checked)  // what it stores it has read: a tcgen05.ld of it is done
    for (const uint32_t row : *op.sources) context.known_at(row, ~0u);
  const TensorBlock at = begin(op, context, use);
  TensorUnit& unit = tensor_unit(context.cta);
  const auto cells = unit.memory.cells(at.lane, at.column, at.columns, "tcgen05.st");
  std::vector<const uint32_t*> rows(use.registers);
  std::vector<uint32_t> known(use.registers, ~0u);
  for (size_t r = 0; r < rows.size(); ++r) {
    rows[r] = context.row<uint32_t>((*op.sources)[r]);
    if (context.checked) known[r] = context.defined_at((*op.sources)[r]);
  }
  if (use.packed)
    each_cell(use, [&](size_t r, size_t t, uint32_t to) {
      cells.words[to] = rows[r][t] & 0xFFFF;
      cells.words[to + 1] = rows[r][t] >> 16;
      cells.written[to] = cells.written[to + 1] = static_cast<uint8_t>(known[r] >> t & 1);
    });
  else
    each_cell(use, [&](size_t r, size_t t, uint32_t to) {
      cells.words[to] = rows[r][t];
      cells.written[to] = static_cast<uint8_t>(known[r] >> t & 1);
    });
  context.cta.cluster.change();
  unit.started(true, at, context.warp.index, context.cta.issue_place(context.warp, context.split(), 0),
               nullptr);
  return Next::advance;
}

struct WaitUse : Payload {
  bool store = false;
};

Next wait_moves(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const bool store = op.as<WaitUse>().store;
  tensor_unit(context.cta).waited(store, context.warp.index);
  if (!store) context.loads_waited();
  run::tell_synchronised(store ? machine::Synchronisation::Kind::tensor_stores_waited
                               : machine::Synchronisation::Kind::tensor_loads_waited,
                         context.cta, context.warp, context.split(), mask, 0);
  context.cta.cluster.yield();
  return Next::advance;
}

// Fills in which cells the instruction moves.
void place_cells(MoveUse& use, const std::string& shape, int64_t repeat, int64_t split) {
  const layout::Hardware fragment = layout::fragment(shape, repeat, split, use.packed);
  const std::vector<machine::TensorPlace> cells = layout::tensor_cells(fragment);
  const size_t each = use.packed ? 2 : 1;  // of a register: the first is where it starts
  use.lanes = shape == "32x32b" ? 32 : 16;
  use.columns = static_cast<uint32_t>(fragment.region);
  use.registers = static_cast<size_t>(fragment.axes[1].extent);
  // Its halves have the same columns, the second `split` behind the first.
  if (shape == "16x32bx2" && 2 * static_cast<uint32_t>(split) > use.columns)
    use.gap = 2 * static_cast<uint32_t>(split) - use.columns;
  for (size_t i = 0; i < kLanes * use.registers; ++i) {
    const machine::TensorPlace& cell = cells[i * each];
    use.places.push_back(cell.lane * static_cast<uint32_t>(layout::kTensorColumns) + cell.column);
  }
}

// ld r, [taddr][, split]; ld.red r, extreme, [taddr]; st [taddr][, split], r
void move_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool store = i.modifiers[0] == ".st";
  Op op = effect(store ? store_cells : load_cells);
  auto& use = b.payload<MoveUse>(op);
  use.store = store;
  use.packed = ptx::has(i, ".pack::16b") || ptx::has(i, ".unpack::16b");
  const std::string shape = m.choice[0].substr(1);
  int64_t repeat = 0;
  const std::string& times = m.choice[1];
  std::from_chars(times.data() + 2, times.data() + times.size(), repeat);
  const bool split = shape == "16x32bx2";
  const bool reduces = ptx::has(i, ".red");
  if (reduces && split)
    throw machine::Unsupported("'" + m.name +
                               "': whether both halves of a lane are reduced together is not known");
  operands_left(b, m, split || reduces ? 3 : 2);
  if (reduces) {
    use.extreme = extreme_of(i);
    op.d = b.destination(b.operand(1), b.type(".b32")).row;
  }
  const ptx::Operand& gap = b.operand(split ? (store ? 1 : 2) : 0);
  if (split) use.split = b.constant(gap);
  try {
    place_cells(use, shape, repeat, static_cast<int64_t>(use.split));
  } catch (const layout::LayoutError& e) {
    throw Invalid("'" + m.name + "': " + e.what());
  }
  const Address address = b.address(b.operand(store ? 0 : reduces ? 2 : 1), Space::shared);
  if (!address.narrow) throw Invalid("a tensor memory address has 32 bits");
  b.uses().touch_there({.space = Space::tensor, .reads = !store, .writes = store, .operation = true});
  op.a = address.row;
  use.offset = address.offset;
  const ptx::Operand& registers = b.operand(store ? (split ? 2 : 1) : 0);
  if (registers.kind != ptx::OperandKind::vector || registers.elements.size() != use.registers)
    throw Invalid("'" + m.name + "' needs a vector of " + std::to_string(use.registers) + " registers");
  std::vector<uint32_t>* rows = b.new_list();
  for (const ptx::Operand& e : registers.elements)
    rows->push_back(store ? b.source(e, b.type(".b32"), false, false).row
                          : b.destination(e, b.type(".b32")).row);
  (store ? op.sources : op.results) = rows;
  b.emit(op);
}

void wait_form(Builder& b, const Match&) {
  Op op = effect_without_memory(b, wait_moves);
  b.payload<WaitUse>(op).store = b.instruction().modifiers[0] == ".wait::st";
  b.emit(op);
}

#define SHAPES "{.32x32b,.16x64b,.16x128b,.16x256b,.16x32bx2}"
#define TIMES_REDUCED "{.x2,.x4,.x8,.x16,.x32,.x64,.x128}"
#define TIMES "{.x1,.x2,.x4,.x8,.x16,.x32,.x64,.x128}"
constexpr Form kMove[] = {
    {"tcgen05.ld|.sync.aligned" SHAPES TIMES "[.pack::16b].b32", "*", move_form, 86, &Features::tcgen05},
    {"tcgen05.ld.red|.sync.aligned{.32x32b,.16x32bx2}" TIMES_REDUCED "{.min,.max}[.abs][.NaN].f32", "*",
     move_form, 88, &Features::tcgen05_ld_red},
    {"tcgen05.ld.red|.sync.aligned{.32x32b,.16x32bx2}" TIMES_REDUCED "{.min,.max}{.u32,.s32}", "*", move_form,
     88, &Features::tcgen05_ld_red},
    {"tcgen05.st|.sync.aligned" SHAPES TIMES "[.unpack::16b].b32", "*", move_form, 86, &Features::tcgen05},
    {"tcgen05.wait::ld|.sync.aligned", "", wait_form, 86, &Features::tcgen05},
    {"tcgen05.wait::st|.sync.aligned", "", wait_form, 86, &Features::tcgen05},
};
#undef SHAPES
#undef TIMES_REDUCED
#undef TIMES

}  // namespace

std::span<const Form> tensor_move_forms() { return kMove; }

}  // namespace bitwell::isa
