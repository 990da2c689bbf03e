#include "model/isa/family/tensor_mma.h"

#include "model/isa/family/tensor_forms.h"
#include "model/machine/matrix_descriptor.h"

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
  const bool half = use.cta_group == 1 && mma.shape.m == 64;
  if (at == 0 || (half && at == 16)) return;
  throw Fault("tcgen05.mma with M = " + std::to_string(mma.shape.m) + " and " + what + " at lane " +
                  std::to_string(at) + " of tensor memory, it must be 0" + (half ? " or 16" : ""),
              lane);
}

Next mma(const Op& op, Context& context, uint32_t mask) {
  const auto& use = op.as<TensorMmaUse>();
  for (const uint32_t r : *op.sources) context.require_defined(r, mask, "an operand of tcgen05.mma");
  context.require_defined(op.c, mask, "whether tcgen05.mma adds to D");
  // d, a, b, instruction descriptor[, scales of A, scales of B][, lanes to leave ...]
  const auto word = [&](size_t n, int lane) { return context.row<uint32_t>((*op.sources)[n])[lane]; };
  const auto wide = [&](size_t n, int lane) { return context.row<uint64_t>((*op.sources)[n])[lane]; };
  const auto place = [&](size_t n, size_t offset, int lane) {
    return machine::tensor_place(static_cast<uint32_t>(word(n, lane) + use.offsets[offset]));
  };
  const uint32_t adds = *context.row<uint32_t>(op.c) ^ (use.negated ? ~0u : 0);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    TensorMma m;
    m.shape = machine::decode_instruction_descriptor(use.kind, use.cta_group, word(3, lane));
    m.rule = &rule_of(use, m.shape);
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
      machine::decode_matrix_descriptor(machine::DescriptorForm::tcgen05, m.a_bits);  // for what it refuses
    }
    m.b_bits = wide(2, lane);
    machine::decode_matrix_descriptor(machine::DescriptorForm::tcgen05, m.b_bits);
    size_t next = 4;
    if (use.scale_vector != 0) {
      m.a_scales = place(4, 2, lane);
      m.b_scales = place(5, 3, lane);
      if (m.b_scales.column % 2 != 0)
        throw Fault("tcgen05.mma takes the scales of B at column " + std::to_string(m.b_scales.column) +
                        " of tensor memory, it must be a multiple of 2",
                    lane);
      next = 6;
    }
    for (size_t i = 0; next + i < op.sources->size(); ++i) m.keep[i] = word(next + i, lane);
    m.accumulate = (adds >> lane & 1) != 0;
    Cta& cta = context.cta;
    if (use.cta_group == 2) peer(cta);
    tensor_unit(cta).issue(context, lane, "tcgen05.mma",
                           [&cta, &use, m](const Port& port) { multiply(port, cta, use, m); });
  }
  return Next::advance;
}

int scale_vector(const ptx::Instruction& i, MmaKind kind) {
  if (has(i, ".scale_vec::4X") || has(i, ".block16")) return 16;
  if (has(i, ".scale_vec::2X") || has(i, ".block32") || has(i, ".scale_vec::1X")) return 32;
  if (kind == MmaKind::mxf4nvf4)
    throw Invalid("kind::mxf4nvf4 needs .scale_vec::2X, .scale_vec::4X, .block16 or .block32");
  return 32;
}

// mma [d], a | [a], b, idesc[, [sfa], [sfb]][, {lanes}], p[, scale]
void mma_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(mma);
  auto& use = b.payload<TensorMmaUse>(op);
  use.cta_group = cta_group(i);
  for (size_t k = 0; k < std::size(machine::kMmaKinds); ++k)
    if (has(i, ".kind::" + std::string(machine::kMmaKinds[k]))) use.kind = static_cast<MmaKind>(k);
  const bool scaled = machine::block_scaled(use.kind);
  if (scaled) use.scale_vector = scale_vector(i, use.kind);
  if (use.kind == MmaKind::i8) throw machine::Unsupported("'" + m.name + "'");
  op.sources = b.new_list();
  const auto address = [&](const ptx::Operand& o, size_t n) {
    const Address a = b.address(o, Space::shared);
    if (!a.narrow) throw Invalid("a tensor memory address has 32 bits");
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
  value(b.operand(2), ".b64");
  value(b.operand(3), ".b32");
  size_t next = 4;
  if (scaled) {
    address(b.operand(4), 2);
    address(b.operand(5), 3);
    next = 6;
  }
  if (!scaled && b.operand(next).kind == ptx::OperandKind::vector) {
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
  if (next < b.operand_count()) throw machine::Unsupported("'" + m.name + "' with scale-input-d");
  operands_left(b, m, next);
  b.emit(op);
}

#define COLLECTOR "[.collector::a::fill,.collector::a::use,.collector::a::lastuse,.collector::a::discard]"
constexpr Form kMma[] = {
    {"tcgen05.mma" CTA_GROUP "{.kind::f16,.kind::tf32,.kind::f8f6f4,.kind::i8}" COLLECTOR, "*", mma_form, 86,
     100, "af", 110, true},
    {"tcgen05.mma" CTA_GROUP
     "{.kind::mxf8f6f4,.kind::mxf4,.kind::mxf4nvf4}.block_scale[.scale_vec::1X,.scale_vec::2X,.scale_vec::4X,"
     ".block16,.block32]" COLLECTOR,
     "*", mma_form, 86, 100, "af", 110, true},
};

}  // namespace

std::span<const Form> tensor_mma_forms() { return kMma; }

}  // namespace bitwell::isa
