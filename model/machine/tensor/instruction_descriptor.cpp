#include "model/machine/tensor/instruction_descriptor.h"

#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

class Fields {
 public:
  Fields(MmaKind kind, uint32_t bits) : kind_(kind), bits_(bits) {}

  uint32_t get(int first, int last) const { return bits_ >> first & ((2u << (last - first)) - 1); }
  [[noreturn]] void refuse(int first, int last, const char* field, const std::string& why) const {
    throw Fault("the instruction descriptor of kind::" + std::string(kMmaKinds[static_cast<size_t>(kind_)]) +
                " has " + std::to_string(get(first, last)) + " in bit" +
                (first == last ? " " + std::to_string(first)
                               : "s " + std::to_string(first) + " to " + std::to_string(last)) +
                " (" + field + "): " + why);
  }
  void zero(int first, int last, const char* field) const {
    if (get(first, last) != 0) refuse(first, last, field, "it must be 0");
  }

 private:
  MmaKind kind_;
  uint32_t bits_;
};

const number::Format& input(const Fields& f, MmaKind kind, int first, const char* field) {
  using namespace number;
  const uint32_t code = f.get(first, first + 2);
  const auto row = [&](std::initializer_list<const Format*> formats) -> const Format& {
    if (code >= formats.size() || formats.begin()[code] == nullptr)
      f.refuse(first, first + 2, field, "no type of this kind");
    return *formats.begin()[code];
  };
  switch (kind) {
    case MmaKind::f16: return row({&f16, &bf16});
    case MmaKind::tf32: return row({nullptr, nullptr, &tf32});
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4: return row({&e4m3, &e5m2, nullptr, &e2m3, &e3m2, &e2m1});
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return row({nullptr, &e2m1});
    case MmaKind::i8: break;
  }
  throw ModelBug("a floating-point type of kind::i8");
}

// What stands in the type's field, 0 or 1: whether it is signed.
bool is_signed(const Fields& f, int first, const char* field) {
  if (f.get(first, first + 2) > 1) f.refuse(first, first + 2, field, "no type of this kind");
  return f.get(first, first + 2) == 1;
}

// PTX ISA 9.0, table of tcgen05.mma's shapes.
void check_shape(const Fields& f, MmaKind kind, int cta_group, bool stationary,
                 const InstructionDescriptor& d) {
  const std::string where = stationary ? " with .ws" : " with cta_group::" + std::to_string(cta_group);
  const auto m_must = [&](bool fits, const char* be) {
    if (!fits) f.refuse(24, 28, "M >> 4", std::string("M must be ") + be + where);
  };
  const auto n_must = [&](bool fits, const std::string& be) {
    if (!fits || d.n == 0 || d.n > 256) f.refuse(17, 22, "N >> 3", "N must be " + be + where);
  };
  if (stationary) {
    m_must(d.m == 32 || d.m == 64 || d.m == 128, "32, 64 or 128");
    n_must(d.n == 64 || d.n == 128 || d.n == 256, "64, 128 or 256");
  } else if (cta_group == 2) {
    m_must(d.m == 128 || d.m == 256, "128 or 256");
    const uint32_t step = kind == MmaKind::i8 ? 32 : 16;
    n_must(d.n % step == 0, "a multiple of " + std::to_string(step) + " up to 256");
  } else {
    m_must(d.m == 128 || (d.m == 64 && !block_scaled(kind)), block_scaled(kind) ? "128" : "64 or 128");
    if (kind == MmaKind::i8)
      n_must(d.n % 16 == 0 || d.n == 8 || d.n == 24, "8, 24 or a multiple of 16 up to 256");
    else
      n_must(d.n % 8 == 0, "a multiple of 8 up to 256");
  }
  const uint32_t step = 16 * static_cast<uint32_t>(cta_group);
  if (d.transpose_b && d.b_bits() == 8 && d.n % step != 0)
    f.refuse(17, 22, "N >> 3",
             "N must be a multiple of " + std::to_string(step) + " where B of 8 bits is transposed" + where);
}

}  // namespace

InstructionDescriptor decode_instruction_descriptor(MmaKind kind, int cta_group, uint32_t bits,
                                                    bool stationary) {
  const Fields f(kind, bits);
  const bool scaled = block_scaled(kind);
  const bool integers = kind == MmaKind::i8;
  if (f.get(2, 2) != 0)
    throw Unsupported("tcgen05.mma with a sparse A (bit 2 of the instruction descriptor)");
  f.zero(0, 1, "sparsity selector");
  InstructionDescriptor d;
  if (integers) {
    d.integers = {is_signed(f, 7, "type of A"), is_signed(f, 10, "type of B"), f.get(3, 3) != 0};
    f.zero(13, 14, "negated, which integers cannot be");
  } else {
    d.a = &input(f, kind, 7, "type of A");
    d.b = &input(f, kind, 10, "type of B");
    d.d = &number::f32;
    f.zero(3, 3, scaled ? "reserved" : "saturate");
  }
  d.negate_a = f.get(13, 13) != 0;
  d.negate_b = f.get(14, 14) != 0;
  d.transpose_a = f.get(15, 15) != 0;
  d.transpose_b = f.get(16, 16) != 0;
  d.n = f.get(17, 22) << 3;
  d.m = f.get(24, 28) << 4;
  f.zero(6, 6, "reserved");
  d.k = kind == MmaKind::tf32 ? 8 : kind == MmaKind::f16 ? 16 : kind >= MmaKind::mxf4 ? 64 : 32;
  if (scaled) {
    d.b_scale_id = f.get(4, 5);
    d.a_scale_id = f.get(29, 30);
    d.scale = f.get(23, 23) != 0 ? &number::ue8m0 : &number::ue4m3;
    if (kind != MmaKind::mxf4nvf4 && d.scale != &number::ue8m0)
      f.refuse(23, 23, "type of the scales", "this kind has scales of UE8M0, 1");
    if (kind == MmaKind::mxf8f6f4) f.zero(31, 31, "reserved");
    for (const int first : {4, 29})
      if (kind != MmaKind::mxf8f6f4 && f.get(first, first) != 0)
        f.refuse(first, first + 1, first == 4 ? "scale-factor id of B" : "scale-factor id of A",
                 "this kind has 0 or 2");
    if (f.get(31, 31) != 0)
      throw Unsupported(
          "tcgen05.mma with K = 96 (bit 31 of the instruction descriptor): how its 96 products are summed "
          "and "
          "rounded is not known");
  } else {
    const uint32_t out = f.get(4, 5);
    if (integers ? out != 2 : out > 1 || (out == 0 && kind == MmaKind::tf32))
      f.refuse(4, 5, "type of D", "no type of this kind");
    if (out == 0) d.d = &number::f16;
    if (d.d == &number::f16 && d.a == &number::bf16) f.refuse(4, 5, "type of D", "bf16 has D of fp32, 1");
    if (kind == MmaKind::f16 && d.a != d.b)
      f.refuse(10, 12, "type of B", "A and B of this kind have one type");
    f.zero(23, 23, "reserved");
    f.zero(29, 29, "reserved");
    if (!stationary) f.zero(30, 31, "shift of .ws");
    if (const uint32_t code = f.get(30, 31); code != 0) d.max_shift = 4u << code;
  }
  if ((d.transpose_a && d.a_bits() < 8) || (d.transpose_b && d.b_bits() < 8))
    f.refuse(15, 16, "transposed", "types below 8 bits are K-major");
  check_shape(f, kind, cta_group, stationary, d);
  return d;
}

}  // namespace bitwell::machine
