// min, max, abs and neg of fp16 (PTX ISA 9.0, 9.7.4).
#include "model/isa/lanes/lanes_half.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

inline u16 half_extreme(u16 a, u16 b, bool max, bool propagate, bool xor_sign) {
  const u16 sign = (a ^ b) & 0x8000;
  if (xor_sign) {
    a &= 0x7FFF;
    b &= 0x7FFF;
  }
  const bool a_nan = (a & 0x7FFF) > 0x7C00;
  const bool b_nan = (b & 0x7FFF) > 0x7C00;
  if ((a_nan && b_nan) || (propagate && (a_nan || b_nan))) return 0x7FFF;
  u16 r = a;
  if (a_nan) {
    r = b;
  } else if (!b_nan) {
    const int x = (a & 0x8000) != 0 ? -static_cast<int>(a & 0x7FFF) - 1 : a;  // totally ordered, -0 below +0
    const int y = (b & 0x8000) != 0 ? -static_cast<int>(b & 0x7FFF) - 1 : b;
    r = (x < y) != max ? a : b;
  }
  return xor_sign ? static_cast<u16>(r | sign) : r;
}

template <int N, bool Max, bool Nan, bool Xor, class M>
void extreme(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  const u16* b = row<u16>(rows, op.b);
  u16 r[N];
  for (int i = 0; i < N; ++i)
    r[i] = M::kFlush ? half_extreme(flush(a[i]), flush(b[i]), Max, Nan, Xor)
                     : half_extreme(a[i], b[i], Max, Nan, Xor);
  store<N>(rows, op.d, r, mask);
}

template <bool Max, bool Nan, bool Xor, class M>
void extremes(Catalog& c, const std::string& name) {
  c[name + ".f16"] = extreme<32, Max, Nan, Xor, M>;
  c[name + ".f16x2"] = extreme<64, Max, Nan, Xor, M>;
}

template <class M>
void all_extremes(Catalog& c, const std::string& ftz) {
  extremes<false, false, false, M>(c, "min" + ftz);
  extremes<true, false, false, M>(c, "max" + ftz);
  extremes<false, true, false, M>(c, "min" + ftz + ".NaN");
  extremes<true, true, false, M>(c, "max" + ftz + ".NaN");
  extremes<false, false, true, M>(c, "min" + ftz + ".xorsign.abs");
  extremes<true, false, true, M>(c, "max" + ftz + ".xorsign.abs");
  extremes<false, true, true, M>(c, "min" + ftz + ".NaN.xorsign.abs");
  extremes<true, true, true, M>(c, "max" + ftz + ".NaN.xorsign.abs");
}

template <int N, bool Neg, class M>
void sign_op(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  u16 r[N];
  for (int i = 0; i < N; ++i) {
    const u16 v = M::out(a[i]);
    r[i] = (v & 0x7FFF) > 0x7C00 ? u16{0x7FFF} : static_cast<u16>(Neg ? v ^ 0x8000 : v & 0x7FFF);
  }
  store<N>(rows, op.d, r, mask);
}

template <class M>
void signs(Catalog& c, const std::string& ftz) {
  c["abs" + ftz + ".f16"] = sign_op<32, false, M>;
  c["abs" + ftz + ".f16x2"] = sign_op<64, false, M>;
  c["neg" + ftz + ".f16"] = sign_op<32, true, M>;
  c["neg" + ftz + ".f16x2"] = sign_op<64, true, M>;
}

}  // namespace

void add_half_order(Catalog& c) {
  all_extremes<Keep>(c, "");
  all_extremes<Ftz>(c, ".ftz");
  signs<Keep>(c, "");
  signs<Ftz>(c, ".ftz");
}

}  // namespace bitwell::isa::BITWELL_LEVEL
