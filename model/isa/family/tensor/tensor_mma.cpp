#include "model/isa/family/tensor/tensor_mma.h"

#include "model/isa/family/tensor/tensor_forms.h"
#include "model/machine/tensor/matrix_descriptor.h"

namespace bitwell::isa {

using machine::Fault;
using machine::MmaKind;

namespace {

// The row of the table of dot products for what a descriptor says.
const number::DotRule& rule_of(const TensorMmaUse& use, const machine::InstructionDescriptor& d) {
  const number::DotRule* rule =
      d.scale == nullptr
          ? number::find_dot_rule("blackwell", "tcgen05", *d.a, *d.b, *d.d)
          : number::find_dot_rule("blackwell", machine::kMmaKinds[static_cast<size_t>(use.kind)], *d.a, *d.b,
                                  *d.d, d.scale, use.scale_vector);
  if (rule == nullptr)
    throw machine::Unsupported(
        "tcgen05.mma of kind::" + std::string(machine::kMmaKinds[static_cast<size_t>(use.kind)]) +
        " with A of " + std::string(d.a->name) + ", B of " + std::string(d.b->name) + ", D of " +
        std::string(d.d->name));
  return *rule;
}

// A tile that uses all lanes starts at the first; one of 64 rows, which uses half of them, there or 16 lanes
// on (9.7.16.10.5, lane alignment).
void check_lane(const TensorMmaUse& use, const TensorMma& mma, uint32_t at, const char* what, int lane) {
  const bool half = use.cta_group == 1 && mma.shape.m == 64 && !use.stationary;
  if (at == 0 || (half && at == 16)) return;
  throw Fault("tcgen05.mma with M = " + std::to_string(mma.shape.m) + " and " + what + " at lane " +
                  std::to_string(at) + " of tensor memory, it must be 0" + (half ? " or 16" : ""),
              lane);
}

// What a matrix descriptor itself refuses; and transposed matrices of 32-bit elements have the 128-byte
// swizzle of 32-byte atoms, no others have it (9.7.16.10.1).
void check_matrix(MmaKind kind, uint64_t bits, bool transposed, const char* what, int lane) {
  const auto d = machine::decode_matrix_descriptor(machine::DescriptorForm::tcgen05, bits);
  const bool atoms = d.swizzle == layout::SharedSwizzle::b128_atom_32b;
  if (!transposed || atoms == (kind == MmaKind::tf32)) return;
  throw Fault("tcgen05.mma of kind::" + std::string(machine::kMmaKinds[static_cast<size_t>(kind)]) +
                  " with " + what + " transposed (bit " + (what[0] == 'A' ? "15" : "16") +
                  " of the instruction descriptor) and " + std::to_string(bits >> 61) +
                  " in bits 61 to 63 of its matrix descriptor (swizzle): it must " + (atoms ? "not " : "") +
                  "be 1, 128 bytes in atoms of 32",
              lane);
}

// The address of scales. Which scales of a word an MMA takes its instruction descriptor says; CUTLASS keeps
// that in bits 30 and 31 of the address, too, and hands over both.
machine::TensorPlace place_of_scales(run::Context& context, uint32_t address, int lane) {
  constexpr uint32_t kId = 0xC0000000;
  if ((address & kId) != 0)
    context.note(lane,
                 "tcgen05.mma with bits 30 and 31 of the address of scales not 0: they are ignored, the "
                 "instruction descriptor says which scales of a word it takes");
  return machine::tensor_place(address & ~kId);
}

Next mma(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<TensorMmaUse>();
  for (const uint32_t r : *op.sources) context.require_defined(r, mask, "an operand of tcgen05.mma");
  context.require_defined(op.c, mask, "whether tcgen05.mma adds to D");
  // d, a, b, instruction descriptor[, scales of A, scales of B][, lanes to leave ...]
  const auto word = [&](size_t n, int lane) { return context.row<uint32_t>((*op.sources)[n])[lane]; };
  const auto wide = [&](size_t n, int lane) { return context.row<uint64_t>((*op.sources)[n])[lane]; };
  const auto address = [&](size_t n, size_t offset, int lane) {
    return static_cast<uint32_t>(word(n, lane) + use.offsets[offset]);
  };
  const auto place = [&](size_t n, size_t offset, int lane) {
    return machine::tensor_place(address(n, offset, lane));
  };
  if ((mask & (mask - 1)) != 0)
    context.note(__builtin_ctz(mask), "tcgen05.mma by several threads of a warp at once: each issues one");
  const uint32_t adds = *context.row<uint32_t>(op.c) ^ (use.negated ? ~0u : 0);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    TensorMma m;
    m.shape = machine::decode_instruction_descriptor(use.kind, use.cta_group, word(3, lane), use.stationary);
    if (!m.shape.integers) m.rule = &rule_of(use, m.shape);
    m.d = place(0, 0, lane);
    check_lane(use, m, m.d.lane, "D", lane);
    if (use.a_in_tensor) {
      m.a = place(1, 1, lane);
      check_lane(use, m, m.a->lane, "A", lane);
      if (m.a->lane != m.d.lane)
        throw Fault("tcgen05.mma with D at lane " + std::to_string(m.d.lane) + " of tensor memory and A at " +
                        std::to_string(m.a->lane) + ", they must be the same",
                    lane);
      if (m.shape.transpose_a)
        throw Fault("tcgen05.mma with A in tensor memory and transposed (bit 15)", lane);
    } else {
      m.a_bits = wide(1, lane);
      check_matrix(use.kind, m.a_bits, m.shape.transpose_a, "A", lane);
    }
    m.b_bits = wide(2, lane);
    check_matrix(use.kind, m.b_bits, m.shape.transpose_b, "B", lane);
    size_t next = 4;
    if (use.scale_vector != 0) {
      m.a_scales = place_of_scales(context, address(4, 2, lane), lane);
      m.b_scales = place_of_scales(context, address(5, 3, lane), lane);
      if (m.b_scales.column % 2 != 0)
        throw Fault("tcgen05.mma takes the scales of B at column " + std::to_string(m.b_scales.column) +
                        " of tensor memory, it must be a multiple of 2",
                    lane);
      next = 6;
    }
    if (use.masked)
      m.columns = machine::decode_column_mask(wide(next, lane), m.shape.m, m.shape.n, m.shape.max_shift);
    for (size_t i = 0; !use.masked && next + i < op.sources->size(); ++i) m.keep[i] = word(next + i, lane);
    m.accumulate = (adds >> lane & 1) != 0;
    run::Cta& cta = context.cta;
    if (use.watch != nullptr) m.place = cta.place(context.warp, context.split(), lane);
    if (use.cta_group == 2) peer(cta);
    const uint64_t kept = use.stationary ? m.b_bits
                          : m.a          ? uint64_t{m.a->lane} << 16 | m.a->column
                                         : m.a_bits;
    if (use.collector.what == Collecting::fill) cta.cluster.note_writers();
    m.collected = tensor_unit(cta).collectors.issue(use.collector, kept, cta.line(context.split()).ptx, lane);
    const TensorOrder order{TensorOrder::Kind::mma,
                            {m.d.lane << 16 | m.d.column, m.shape.m, m.shape.n,
                             static_cast<uint32_t>(use.kind) * 2 + (use.stationary ? 1 : 0)}};
    tensor_unit(cta).issue(context, lane, "tcgen05.mma", order,
                           {.products = uint64_t{m.shape.m} * m.shape.n * m.shape.k},
                           {.kind = machine::Task::Kind::tensor_multiply,
                            .m = m.shape.m,
                            .n = m.shape.n,
                            .ctas = static_cast<uint32_t>(use.cta_group),
                            .a_elsewhere = m.a.has_value()},
                           [&cta, &use, m](const run::Port& port) { multiply(port, cta, use, m); });
  }
  return Next::advance;
}

int scale_vector(const ptx::Instruction& i, MmaKind kind) {
  const bool of16 = ptx::has(i, ".scale_vec::4X") || ptx::has(i, ".block16");
  const bool x1 = ptx::has(i, ".scale_vec::1X");
  const bool x2 = ptx::has(i, ".scale_vec::2X");
  if (kind == MmaKind::mxf4nvf4 ? x1 || !(of16 || x2 || ptx::has(i, ".block32"))
                                : of16 || (kind == MmaKind::mxf4 ? x1 : x2))
    throw Invalid("kind::" + std::string(machine::kMmaKinds[static_cast<size_t>(kind)]) + " needs " +
                  (kind == MmaKind::mxf4nvf4 ? ".scale_vec::2X, .scale_vec::4X, .block16 or .block32"
                   : kind == MmaKind::mxf4   ? ".scale_vec::2X, .block32 or neither"
                                             : ".scale_vec::1X, .block32 or neither"));
  return of16 ? 16 : 32;
}

// The collector that the modifiers name, and what for; else A's, or with .ws b0, which is discarded.
Collector collector(const ptx::Instruction& i, bool stationary) {
  constexpr std::string_view names[] = {"::discard", "::fill", "::use", "::lastuse"};
  Collector out{stationary ? size_t{1} : 0, Collecting::discard};
  for (const std::string& m : i.modifiers) {
    if (!m.starts_with(".collector::")) continue;
    const std::string_view rest = std::string_view(m).substr(std::string_view(".collector::").size());
    if (rest[0] == 'b') out.buffer = 1 + static_cast<size_t>(rest[1] - '0');
    for (size_t n = 0; n < std::size(names); ++n)
      if (rest.substr(rest.find(':')) == names[n]) out.what = static_cast<Collecting>(n);
  }
  return out;
}

// mma [d], a | [a], b, idesc[, [sfa], [sfb]][, {lanes}], p[, scale]
// mma.ws [d], a | [a], b, idesc, p[, mask]
void mma_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(mma);
  auto& use = b.payload<TensorMmaUse>(op);
  use.cta_group = cta_group(i);
  for (size_t k = 0; k < std::size(machine::kMmaKinds); ++k)
    if (ptx::has(i, ".kind::" + std::string(machine::kMmaKinds[k]))) use.kind = static_cast<MmaKind>(k);
  const bool scaled = machine::block_scaled(use.kind);
  if (scaled) use.scale_vector = scale_vector(i, use.kind);
  use.stationary = ptx::has(i, ".ws");
  use.collector = collector(i, use.stationary);
  op.sources = b.new_list();
  const auto address = [&](const ptx::Operand& o, size_t n) {
    const Address a = b.address(o, Space::shared);
    if (!a.narrow) throw Invalid("a tensor memory address has 32 bits");
    b.uses().touch_there({.space = Space::tensor, .reads = true, .writes = n == 0, .operation = true});
    use.offsets[n] = a.offset;
    op.sources->push_back(a.row);
  };
  const auto value = [&](const ptx::Operand& o, const char* type) {
    op.sources->push_back(b.source(o, b.type(type)).row);
  };
  address(b.operand(0), 0);
  use.a_in_tensor = b.operand(1).kind == ptx::OperandKind::memory;
  if (use.a_in_tensor)
    address(b.operand(1), 1);
  else
    value(b.operand(1), ".b64");
  b.uses().touch({.space = Space::shared, .reads = true, .operation = true});  // where descriptors say
  value(b.operand(2), ".b64");
  value(b.operand(3), ".b32");
  size_t next = 4;
  if (scaled) {
    address(b.operand(4), 2);
    address(b.operand(5), 3);
    next = 6;
  }
  if (!scaled && !use.stationary && b.operand(next).kind == ptx::OperandKind::vector) {
    const auto& lanes = b.operand(next++).elements;
    const size_t count = use.cta_group == 1 ? 4 : 8;
    if (lanes.size() != count)
      throw Invalid("the lanes to leave are a vector of " + std::to_string(count) + " registers");
    for (const ptx::Operand& o : lanes) value(o, ".b32");
  }
  const ptx::Operand& adds = b.operand(next++);
  if (adds.kind == ptx::OperandKind::integer)
    op.c = b.constant_row(32, adds.integer != 0 ? ~0u : 0);
  else
    op.c = b.predicate(adds, false, use.negated).row;
  if (next < b.operand_count() && use.stationary) {
    value(b.operand(next++), ".b64");
    use.masked = true;
  } else if (next < b.operand_count() && !scaled) {
    const uint64_t scale = b.constant(b.operand(next++));
    if (scale > 15) throw Invalid("scale-input-d is " + std::to_string(scale) + ", it must be 0 to 15");
    if (use.kind == MmaKind::f8f6f4) throw Invalid("scale-input-d with kind::f8f6f4, it needs f16 or tf32");
    if (use.kind == MmaKind::i8)  // ptxas takes it, the manual has no meaning for it
      throw machine::Unsupported("'" + m.name + "' with scale-input-d");
    use.scale_d = static_cast<int>(scale);
  }
  operands_left(b, m, next);
  b.emit(op);
}

// mma.ashift [d], [a], b, idesc[, {lanes}], p[, scale]: moves the rows of A in tensor memory, too.
void shifting_form(Builder& b, const Match& m) {
  if (b.operand(1).kind != ptx::OperandKind::memory)
    throw Invalid("'" + m.name + "' needs A in tensor memory");
  throw machine::Unsupported("'" + m.name +
                             "': whether A is multiplied before or after its rows move, and which rows "
                             "move, is not known");
}

#define COLLECTOR "[.collector::a::fill,.collector::a::use,.collector::a::lastuse,.collector::a::discard]"
#define COLLECTORS_OF(n) \
  ".collector::b" n "::fill,.collector::b" n "::use,.collector::b" n "::lastuse,.collector::b" n "::discard"
#define COLLECTOR_B \
  "[" COLLECTORS_OF("0") "," COLLECTORS_OF("1") "," COLLECTORS_OF("2") "," COLLECTORS_OF("3") "]"
#define SCALED "{.kind::mxf8f6f4,.kind::mxf4,.kind::mxf4nvf4}.block_scale"
#define DISCARDED "[.collector::a::lastuse,.collector::a::discard]"
constexpr Form kMma[] = {
    {"tcgen05.mma|" CTA_GROUP "{.kind::f16,.kind::tf32,.kind::f8f6f4}" COLLECTOR, "*", mma_form, 86,
     &Features::tcgen05},
    {"tcgen05.mma|" CTA_GROUP ".kind::i8" COLLECTOR, "*", mma_form, 86, &Features::tcgen05_integers},
    {"tcgen05.mma|" CTA_GROUP SCALED "[.block16,.block32]" COLLECTOR, "*", mma_form, 86, &Features::tcgen05},
    {"tcgen05.mma|" CTA_GROUP SCALED "{.scale_vec::1X,.scale_vec::2X,.scale_vec::4X}" COLLECTOR, "*",
     mma_form, 86, &Features::tcgen05_scale_vec},
    {"tcgen05.mma|" CTA_GROUP "{.kind::f16,.kind::tf32,.kind::f8f6f4}.ashift" DISCARDED, "*", shifting_form,
     86, &Features::tcgen05},
    {"tcgen05.mma|" CTA_GROUP ".kind::i8.ashift" DISCARDED, "*", shifting_form, 86,
     &Features::tcgen05_integers},
    {"tcgen05.mma.ws|.cta_group::1{.kind::f16,.kind::tf32,.kind::f8f6f4}" COLLECTOR_B, "*", mma_form, 86,
     &Features::tcgen05},
    {"tcgen05.mma.ws|.cta_group::1.kind::i8" COLLECTOR_B, "*", mma_form, 86, &Features::tcgen05_integers},
};
#undef COLLECTOR
#undef COLLECTORS_OF
#undef COLLECTOR_B
#undef SCALED
#undef DISCARDED

}  // namespace

std::span<const Form> tensor_mma_forms() { return kMma; }

}  // namespace bitwell::isa
