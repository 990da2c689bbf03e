// mov between a register and the vector of registers that make it up (PTX ISA 9.0, 9.7.9.3). Elements of 8
// bits live in 16-bit lanes. Element j is bits [j * width, (j + 1) * width) of the whole.
#include "model/isa/lanes/lanes.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

template <class Whole, class Element, int N>
void unpack(const Op& op, std::byte* rows, uint32_t mask) {
  const Whole* a = row<Whole>(rows, op.a);
  for (int j = 0; j < N; ++j) {
    Element* d = row<Element>(rows, (*op.results)[static_cast<size_t>(j)]);
    const int shift = j * static_cast<int>(8 * sizeof(Whole)) / N;
    constexpr Whole keep = static_cast<Whole>(~Whole(0)) >> (8 * sizeof(Whole) - 8 * sizeof(Whole) / N);
    if (mask == ~0u) {
#pragma GCC ivdep
      for (int i = 0; i < kLanes; ++i) d[i] = static_cast<Element>(a[i] >> shift & keep);
    } else {
      for (int i = 0; i < kLanes; ++i)
        if ((mask >> i & 1) != 0) d[i] = static_cast<Element>(a[i] >> shift & keep);
    }
  }
}

template <class Whole, class Element, int N>
void pack(const Op& op, std::byte* rows, uint32_t mask) {
  constexpr int width = static_cast<int>(8 * sizeof(Whole)) / N;
  constexpr Whole keep = static_cast<Whole>(~Whole(0)) >> (8 * sizeof(Whole) - width);
  Whole whole[kLanes] = {};
  for (int j = 0; j < N; ++j) {
    const Element* s = row<Element>(rows, (*op.sources)[static_cast<size_t>(j)]);
    for (int i = 0; i < kLanes; ++i)
      whole[i] = static_cast<Whole>(whole[i] | (static_cast<Whole>(s[i]) & keep) << (j * width));
  }
  Whole* d = row<Whole>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? whole[i] : d[i];
}

// 128 bits are two 64-bit halves, which no lane loop need split further.
template <class Element, int N>
void unpack128(const Op& op, std::byte* rows, uint32_t mask) {
  for (size_t j = 0; j < N; ++j)
    for (size_t i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0)
        __builtin_memcpy(rows + (*op.results)[j] + sizeof(Element) * i,
                         rows + op.a + 16 * i + sizeof(Element) * j, sizeof(Element));
}
template <class Element, int N>
void pack128(const Op& op, std::byte* rows, uint32_t mask) {
  for (size_t j = 0; j < N; ++j)
    for (size_t i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0)
        __builtin_memcpy(rows + op.d + 16 * i + sizeof(Element) * j,
                         rows + (*op.sources)[j] + sizeof(Element) * i, sizeof(Element));
}

void move128(const Op& op, std::byte* rows, uint32_t mask) {
  for (size_t i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) __builtin_memmove(rows + op.d + 16 * i, rows + op.a + 16 * i, 16);
}

template <class Whole, class Element, int N>
void both(Catalog& c, const std::string& name) {
  c["unpack." + name] = unpack<Whole, Element, N>;
  c["pack." + name] = pack<Whole, Element, N>;
}

}  // namespace

void add_pack(Catalog& c) {
  both<uint16_t, uint16_t, 2>(c, "16.2");
  both<uint32_t, uint16_t, 2>(c, "32.2");
  both<uint32_t, uint16_t, 4>(c, "32.4");
  both<uint64_t, uint32_t, 2>(c, "64.2");
  both<uint64_t, uint16_t, 4>(c, "64.4");
  c["unpack.128.2"] = unpack128<uint64_t, 2>;
  c["unpack.128.4"] = unpack128<uint32_t, 4>;
  c["pack.128.2"] = pack128<uint64_t, 2>;
  c["mov.b128"] = move128;
  c["pack.128.4"] = pack128<uint32_t, 4>;
}

}  // namespace bitwell::isa::BITWELL_LEVEL
