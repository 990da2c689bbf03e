// mma.sync: D = A B + C by one warp, at once (PTX ISA 9.0, 9.7.14).
#include <array>
#include <vector>

#include "model/isa/family/emit.h"
#include "model/isa/family/mma/fragments.h"
#include "model/isa/family/mma/tensor_operands.h"
#include "model/isa/family/mma/unknown_product.h"
#include "model/machine/failure.h"
#include "model/run/context.h"

namespace bitwell::isa {
namespace {

using machine::Fault;
using machine::kLanes;

// A selector that a register may hold.
uint32_t selector(run::Context& context, uint32_t row, uint32_t last, uint32_t step, const char* what) {
  const uint32_t value = context.uniform<uint16_t>(row, what);
  if (value > last || value % step != 0)
    throw Fault(std::string(what) + " is " + std::to_string(value) + ", not " +
                    (last == 0   ? "0"
                     : step == 2 ? "0 or 2"
                     : last == 1 ? "0 or 1"
                                 : "0 to " + std::to_string(last)),
                0);
  return value;
}

// Behind A, B and C the sources are, for A and for B: a word of scales in each thread, and what all threads
// have as byte-id and thread-id.
constexpr size_t kScaleOperands = 3;

// The scales of a row of A or a column of B follow each other from byte-id on in one thread's word. Of the
// four threads that hold row g, two hold A's scales, for rows g and g + 8: threads 0 and 1, or with thread-id
// 1 threads 2 and 3. B's are in thread thread-id (PTX ISA 9.0, 9.7.14.3; the manual's figures say nothing of
// the two rows, CUTLASS's SFALayout and MMA-Sim's kernels do).
struct ScaleRoom {
  size_t count;  // of A's rows or B's columns
  uint32_t last_thread;
  const char *byte, *thread;
};
constexpr ScaleRoom kScalesOfA{kFragmentRows, 1, "byte-id-a", "thread-id-a"};
constexpr ScaleRoom kScalesOfB{8, 3, "byte-id-b", "thread-id-b"};

// Where the scales of each row or column stand.
struct ScalePlaces {
  size_t count = 0, each = 0;
  uint32_t register_row = 0;
  uint32_t first_bit = 0;  // of a lane's word
  std::array<size_t, kFragmentRows> lanes{};

  bool lacks(run::Context& context) const {
    uint32_t used = 0;
    for (size_t i = 0; i < count; ++i) used |= 1u << lanes[i];
    return context.checked && (used & ~context.known_at(register_row, ~0u)) != 0;
  }
};

ScalePlaces scale_places(const Mma& mma, const uint32_t* sources, const ScaleRoom& room,
                         run::Context& context) {
  ScalePlaces out;
  out.count = room.count;
  out.each = mma.rule->scales(mma.k);
  out.register_row = sources[0];
  const auto each = static_cast<uint32_t>(out.each);
  out.first_bit = 8 * selector(context, sources[1], 4 - each, each, room.byte);
  const uint32_t thread = selector(context, sources[2], room.last_thread, 1, room.thread);
  for (size_t i = 0; i < room.count; ++i)
    out.lanes[i] = room.count == 8 ? 4 * i + thread : 4 * (i % 8) + 2 * thread + i / 8;
  return out;
}

void read_scales(const ScalePlaces& places, run::Context& context, std::vector<uint8_t>& out) {
  const uint32_t* const words = context.row<uint32_t>(places.register_row);
  for (size_t i = 0; i < places.count; ++i)
    for (size_t s = 0; s < places.each; ++s)
      out.push_back(static_cast<uint8_t>(words[places.lanes[i]] >> (places.first_bit + 8 * s)));
}

// The scales of a line that a lane's word holds.
void look_at_scales(const ScalePlaces& places, run::Context& context, LackingLines& lines) {
  const uint64_t bits = ((uint64_t{1} << 8 * places.each) - 1) << places.first_bit;
  lines.look(context, {&places.register_row, 1}, 4, [&](size_t, size_t lane, const auto& visit) {
    for (size_t i = 0; i < places.count; ++i)
      if (places.lanes[i] == lane) visit(bits, i);
  });
}

// [rows][columns] as [columns][rows].
void turn_over(std::span<const uint32_t> from, size_t rows, size_t columns, std::span<uint32_t> to) {
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}

// What an instruction works with, in memory that the next one takes again.
struct Working {
  std::vector<uint32_t*> rows;
  std::vector<uint32_t> a, b, d, across;
  std::vector<uint8_t> scale_a, scale_b;
  number::DotColumns columns;
};

// Bits of a register that are of its elements: those of 4 and 6 bits may stand in a byte each.
uint64_t used_bits(const Mma& mma, const number::Format& format) {
  if (!mma.in_bytes || format.container == 8) return 0xFFFFFFFF;
  return format.container == 4 ? 0x3C3C3C3C : 0x3F3F3F3F;
}

// Which elements a lane has of A, B, C and D: model/isa/family/mma/fragments.cpp.
UnknownProduct unknown_product(const Mma& mma, run::Context& context, std::span<const uint32_t> sources,
                               const ScalePlaces& of_a, const ScalePlaces& of_b) {
  UnknownProduct out;
  const size_t a = mma.a_registers(), b = mma.b_registers();
  out.rows.look(context, sources.first(a), 4, [&](size_t r, size_t lane, const auto& visit) {
    visit(used_bits(mma, *mma.a), lane / 4 + 8 * (r % 2));
  });
  out.columns.look(context, sources.subspan(a, b), 4,
                   [&](size_t, size_t lane, const auto& visit) { visit(used_bits(mma, *mma.b), lane / 4); });
  look_at_scales(of_a, context, out.rows);
  look_at_scales(of_b, context, out.columns);
  const size_t each = mma.half_result() ? 1 : 2;
  out.take(context, sources.subspan(a + b, mma.d_registers()), 4,
           [&](size_t r, size_t lane, const auto& visit) {
             const size_t row = lane / 4 + 8 * (r / each % 2), column = 8 * (r / each / 2) + 2 * (lane % 4);
             if (mma.half_result()) {
               visit(0x0000FFFF, row, column);
               visit(0xFFFF0000, row, column + 1);
             } else {
               visit(0xFFFFFFFF, row, column + r % 2);
             }
           });
  return out;
}

// D into its registers.
void give(const Op& op, run::Context& context, const Mma& mma, std::span<const uint32_t> d,
          std::vector<uint32_t*>& rows) {
  rows.clear();
  for (const uint32_t r : *op.results) {
    context.set_defined(r, ~0u);
    rows.push_back(context.row<uint32_t>(r));
  }
  pack_d(mma, d, rows);
}

void multiply(const Op& op, run::Context& context, const Mma& mma, const ScalePlaces& of_a,
              const ScalePlaces& of_b) {
  const size_t a_count = mma.a_registers();
  const size_t b_count = mma.b_registers();
  const size_t count = a_count + b_count + mma.d_registers();
  static thread_local Working working;
  auto& [rows, a, b, d, across, scale_a, scale_b, columns] = working;
  rows.clear();
  for (size_t i = 0; i < count; ++i) rows.push_back(context.row<uint32_t>((*op.sources)[i]));
  const std::span<uint32_t* const> all = rows;
  a.resize(kFragmentRows * mma.k);
  b.resize(mma.n * mma.k);
  d.resize(kFragmentRows * mma.n);
  unpack_a(mma, {rows.data(), a_count}, a);
  unpack_b(mma, {rows.data() + a_count, b_count}, b);
  unpack_d(mma, all.subspan(a_count + b_count), d);
  scale_a.clear();
  scale_b.clear();
  read_scales(of_a, context, scale_a);
  read_scales(of_b, context, scale_b);
  if (mma.watch == nullptr && mma.n < kFragmentRows) {
    // A tile's loops take 32 columns at once: A's rows fill more of them than B's columns do.
    number::prepare_columns(*mma.rule, {mma.a, a, scale_a}, kFragmentRows, mma.k, columns);
    across.resize(d.size());
    turn_over(d, kFragmentRows, mma.n, across);
    number::dot_tile(*mma.rule, {mma.b, b, scale_b}, mma.n, columns, across);
    turn_over(across, mma.n, kFragmentRows, d);
    give(op, context, mma, d, rows);
    return;
  }
  number::prepare_columns(*mma.rule, {mma.b, b, scale_b}, mma.n, mma.k, columns);
  const std::vector<uint32_t> before = mma.watch != nullptr ? d : std::vector<uint32_t>();
  number::dot_tile(*mma.rule, {mma.a, a, scale_a}, kFragmentRows, columns, d);
  if (mma.watch != nullptr)
    mma.watch->look({*mma.rule,
                     {mma.a, a},
                     columns,
                     before,
                     d,
                     0,
                     0,
                     context.cta.place(context.warp, context.split(), -1)});
  give(op, context, mma, d, rows);
}

Next mma_sync(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& mma = op.as<Mma>();
  const std::span<const uint32_t> sources = *op.sources;
  const size_t count = mma.a_registers() + mma.b_registers() + mma.d_registers();
  ScalePlaces of_a, of_b;
  if (mma.rule->scale != nullptr) {
    of_a = scale_places(mma, &sources[count], kScalesOfA, context);
    of_b = scale_places(mma, &sources[count + kScaleOperands], kScalesOfB, context);
  }
  if (lacks(context, sources.first(count)) || of_a.lacks(context) || of_b.lacks(context)) [[unlikely]] {
    const UnknownProduct unknown = unknown_product(mma, context, sources, of_a, of_b);
    multiply(op, context, mma, of_a, of_b);
    unknown.give(context, *op.results);
  } else {
    multiply(op, context, mma, of_a, of_b);
  }
  return Next::advance;
}

// A word of scales and {byte-id, thread-id}: constants, which ptxas judges, or registers.
void scale_operand(Builder& b, size_t at, const Mma& mma, const ScaleRoom& room, std::vector<uint32_t>& out) {
  const auto each = static_cast<uint32_t>(mma.rule->scales(mma.k));
  const ptx::Operand& data = b.operand(at);
  const bool vector = data.kind == ptx::OperandKind::vector && data.elements.size() == 1;
  out.push_back(b.source(vector ? data.elements[0] : data, b.type(".b32"), false, false).row);
  const ptx::Operand& ids = b.operand(at + 1);
  if (ids.kind != ptx::OperandKind::vector || ids.elements.size() != 2)
    throw Invalid("byte-id and thread-id must be a vector of 2");
  for (const ptx::Operand& id : ids.elements)
    if (id.kind == ptx::OperandKind::floating)
      throw Invalid("a floating-point constant where .u16 is needed");
  need_range(ids.elements[0], 0, 4 - each, each, room.byte);
  need_range(ids.elements[1], 0, room.last_thread, 1, room.thread);
  for (const ptx::Operand& id : ids.elements) out.push_back(b.source(id, b.type(".u16")).row);
}

// What is built alike: D, A, B, C, of the types that the last modifiers name.
void build(Builder& b, const Match& m, size_t types, const std::string& instruction,
           const number::Format* scale, int scale_vector) {
  const auto& modifiers = b.instruction().modifiers;
  operands_left(b, m, scale == nullptr ? 4 : 8);
  Op op = effect_without_memory(b, mma_sync);
  auto& mma = b.payload<Mma>(op);
  const std::string& shape = modifiers[2];  // behind .sync .aligned
  mma.n = extent(shape, 'n');
  mma.k = extent(shape, 'k');
  mma.a = &tensor_format(modifiers[types + 1]);
  mma.b = &tensor_format(modifiers[types + 2]);
  mma.in_bytes = mma.a->container <= 8 && mma.k <= 32;
  mma.rule =
      &dot_rule(b.sm(), instruction, *mma.a, *mma.b, tensor_format(modifiers[types]), scale, scale_vector);
  if (mma.rule->emulated && mma.k != 32)
    throw machine::Unsupported("the arithmetic of " + m.name + " on sm_" + std::to_string(b.sm()));
  op.results = b.new_list();
  op.sources = b.new_list();  // A, B, C, scales
  const number::Format& d = *mma.rule->output;
  tensor_registers(b, b.operand(0), mma.d_registers(), d, "D", *op.results);
  tensor_registers(b, b.operand(1), mma.a_registers(), *mma.a, "A", *op.sources);
  tensor_registers(b, b.operand(2), mma.b_registers(), *mma.b, "B", *op.sources);
  tensor_registers(b, b.operand(3), mma.d_registers(), d, "C", *op.sources);
  if (scale != nullptr) {
    scale_operand(b, 4, mma, kScalesOfA, *op.sources);
    scale_operand(b, 6, mma, kScalesOfB, *op.sources);
  }
  b.emit(op);
}

// mma.sync d, a, b, c
void mma_form(Builder& b, const Match& m) {
  build(b, m, b.instruction().modifiers.size() - 4, "mma.sync", nullptr, 0);
}

// mma.sync d, a, b, c, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b}
void scaled_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool bytes = ptx::has(i, ".kind::mxf8f6f4");
  const std::string kind = bytes ? "mxf8f6f4" : ptx::has(i, ".kind::mxf4") ? "mxf4" : "mxf4nvf4";
  build(b, m, i.modifiers.size() - 5, kind, &tensor_format(i.modifiers.back()),
        ptx::has(i, ".scale_vec::4X") ? 16 : 32);
}

#define ROW_COL ".row.col"
#define FP8 "{.e4m3,.e5m2}{.e4m3,.e5m2}"
#define NARROW "{.e4m3,.e5m2,.e2m3,.e3m2,.e2m1}{.e4m3,.e5m2,.e2m3,.e3m2,.e2m1}"
#define K16 "mma.sync.aligned.m16n8k16" ROW_COL
#define K32 "mma.sync.aligned.m16n8k32" ROW_COL
#define K64 "mma.sync.aligned.m16n8k64" ROW_COL
#define SCALED_BYTES ".kind::mxf8f6f4.block_scale"
#define SCALED_FP4 ".kind::mxf4nvf4.block_scale"
#define E2M1 ".f32.e2m1.e2m1.f32"
constexpr Form kMma[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "*", mma_form, 65, 75},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "*", mma_form, 65, 75},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "*", mma_form, 70, 80},
    {"mma.sync.aligned{.m16n8k8,.m16n8k16}.row.col.f32.bf16.bf16.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned{.m16n8k4,.m16n8k8}.row.col.f32.tf32.tf32.f32", "*", mma_form, 70, 80},
    {K32 ".f32" FP8 ".f32", "*", mma_form, 84, 89},
    {K32 ".f16" FP8 ".f16", "*", mma_form, 87, 89},
    {K16 ".f32" FP8 ".f32", "*", mma_form, 87, 89},
    {K16 ".f16" FP8 ".f16", "*", mma_form, 87, 89},
    {K32 ".kind::f8f6f4.f32" FP8 ".f32", "*", mma_form, 86, 100, "af"},
    {K32 ".kind::f8f6f4.f16" FP8 ".f16", "*", mma_form, 87, 100, "af"},
    {K16 ".kind::f8f6f4.f32" FP8 ".f32", "*", mma_form, 87, 100, "af"},
    {K16 ".kind::f8f6f4.f16" FP8 ".f16", "*", mma_form, 87, 100, "af"},
    {K32 ".kind::f8f6f4.f32" NARROW ".f32", "*", mma_form, 87, 120, "af"},
    {K32 ".kind::f8f6f4.f16" NARROW ".f16", "*", mma_form, 87, 120, "af"},
    {K32 SCALED_BYTES "[.scale_vec::1X].f32" NARROW ".f32.ue8m0", "*", scaled_form, 87, 120, "af"},
    {K64 ".kind::mxf4.block_scale[.scale_vec::2X]" E2M1 ".ue8m0", "*", scaled_form, 87, 120, "af"},
    {K64 SCALED_FP4 ".scale_vec::2X" E2M1 ".ue8m0", "*", scaled_form, 87, 120, "af"},
    {K64 SCALED_FP4 ".scale_vec::4X" E2M1 ".ue4m3", "*", scaled_form, 87, 120, "af"},
    {K64 SCALED_FP4 ".scale_vec::4X" E2M1 ".ue8m0", "*", scaled_form, 91, 120, "af"},
};
#undef ROW_COL
#undef FP8
#undef NARROW
#undef K16
#undef K32
#undef K64
#undef SCALED_BYTES
#undef SCALED_FP4
#undef E2M1

}  // namespace

std::span<const Form> mma_forms() { return kMma; }

}  // namespace bitwell::isa
