// Loops over 32 lanes. Included by the lanes_*.cpp files, which are compiled once for every instruction set:
// everything here is in an unnamed namespace inside BITWELL_LEVEL, so that no code of one set is linked into
// another.
#pragma once
#include "model/isa/lanes/catalog.h"

namespace bitwell::isa {

// mul.rn.ftz.f32 or fma.rn.ftz.f32 by model/number (soft.cpp).
uint32_t soft_ftz_f32(bool fused, uint32_t a, uint32_t b, uint32_t c, bool sat);

}  // namespace bitwell::isa

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

constexpr int kLanes = 32;

template <class T>
inline T* row(std::byte* rows, uint32_t offset) {
  return static_cast<T*>(__builtin_assume_aligned(rows + offset, 64));
}

// d = f(a), f(a, b), f(a, b, c) in every lane of mask. `ivdep`: a row may be its own source, but lane by
// lane.
template <class D, class A, class F>
void lanes1(const Op& op, std::byte* rows, uint32_t mask) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  if (mask == ~0u) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = F{}(a[i]);
  } else {
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0) d[i] = F{}(a[i]);
  }
}

template <class D, class A, class B, class F>
void lanes2(const Op& op, std::byte* rows, uint32_t mask) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  const B* b = row<B>(rows, op.b);
  if (mask == ~0u) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = F{}(a[i], b[i]);
  } else {
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0) d[i] = F{}(a[i], b[i]);
  }
}

template <class D, class A, class B, class C, class F>
void lanes3(const Op& op, std::byte* rows, uint32_t mask) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  const B* b = row<B>(rows, op.b);
  const C* c = row<C>(rows, op.c);
  if (mask == ~0u) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = F{}(a[i], b[i], c[i]);
  } else {
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0) d[i] = F{}(a[i], b[i], c[i]);
  }
}

// As above with op.imm as a further argument (a mode, a look-up table).
template <class D, class A, class B, class C, class F>
void lanes3_imm(const Op& op, std::byte* rows, uint32_t mask) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  const B* b = row<B>(rows, op.b);
  const C* c = row<C>(rows, op.c);
  if (mask == ~0u) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = F{}(a[i], b[i], c[i], op.imm);
  } else {
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0) d[i] = F{}(a[i], b[i], c[i], op.imm);
  }
}

template <class D, class A = D, class F>
Lanes unary(F) {
  return lanes1<D, A, F>;
}
template <class D, class A = D, class B = A, class F>
Lanes binary(F) {
  return lanes2<D, A, B, F>;
}
template <class D, class A = D, class B = A, class C = A, class F>
Lanes ternary(F) {
  return lanes3<D, A, B, C, F>;
}
template <class D, class A = D, class B = A, class C = A, class F>
Lanes ternary_imm(F) {
  return lanes3_imm<D, A, B, C, F>;
}

}  // namespace
}  // namespace bitwell::isa::BITWELL_LEVEL
