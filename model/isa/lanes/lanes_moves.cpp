#include <cstring>

#include "model/isa/lanes/lanes.h"
#include "model/isa/lanes/row_moves.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

__extension__ typedef unsigned __int128 u128;

// row[i] == row[0] + i * size in every lane. (The compiler's own test of a whole vector takes eight steps.)
template <class T, T size>
bool apart_by(const T* row) {
  struct Steps {
    alignas(64) T step[kLanes];
    constexpr Steps() : step() {
      for (int i = 0; i < kLanes; ++i) step[i] = static_cast<T>(i) * size;
    }
  };
  static constexpr Steps steps;
#if defined(__AVX512BW__)
  const __m512i first = sizeof(T) == 8 ? _mm512_set1_epi64(static_cast<long long>(row[0]))
                                       : _mm512_set1_epi32(static_cast<int>(row[0]));
  __m512i other = _mm512_setzero_si512();
  for (size_t i = 0; i < kLanes; i += 64 / sizeof(T)) {
    const __m512i at = _mm512_load_si512(row + i);
    const __m512i from_first = sizeof(T) == 8 ? _mm512_sub_epi64(at, first) : _mm512_sub_epi32(at, first);
    other = _mm512_or_si512(other, _mm512_xor_si512(from_first, _mm512_load_si512(steps.step + i)));
  }
  return _mm512_test_epi64_mask(other, other) == 0;
#else
  T other = 0;
  for (int i = 0; i < kLanes; ++i) other |= (row[i] - row[0]) ^ steps.step[i];
  return other == 0;
#endif
}

template <class T>
Apart apart(const T* row, size_t size) {
  const T step = row[1] - row[0];
  if (step == 0) return apart_by<T, 0>(row) ? Apart::nothing : Apart::otherwise;
  if (step != size) return Apart::otherwise;
  bool whole = false;
  switch (size) {
    case 1: whole = apart_by<T, 1>(row); break;
    case 2: whole = apart_by<T, 2>(row); break;
    case 4: whole = apart_by<T, 4>(row); break;
    case 8: whole = apart_by<T, 8>(row); break;
    case 16: whole = apart_by<T, 16>(row); break;
    case 32: whole = apart_by<T, 32>(row); break;
    default: break;
  }
  return whole ? Apart::whole : Apart::otherwise;
}

// Whether every bit of the bytes was written.
template <size_t length>
bool written(const uint8_t* defined) {
  if constexpr (length % 8 == 0) {
    uint64_t all = ~uint64_t{0};
    for (size_t i = 0; i < length; i += 8) {
      uint64_t eight = 0;
      std::memcpy(&eight, defined + i, 8);
      all &= eight;
    }
    return all == ~uint64_t{0};
  } else {
    uint8_t all = 0xFF;
    for (size_t i = 0; i < length; ++i) all &= defined[i];
    return all == 0xFF;
  }
}

// S as stored, D as a register holds it.
template <class S, class D, size_t count>
bool load(const std::byte* from, const uint8_t* defined, std::byte* rows, const uint32_t* to) {
  if (defined != nullptr && !written<kLanes * count * sizeof(S)>(defined)) return false;
  for (size_t j = 0; j < count; ++j) {
    D* d = row<D>(rows, to[j]);
#pragma GCC ivdep
    for (size_t i = 0; i < kLanes; ++i) {
      S v;
      std::memcpy(&v, from + (i * count + j) * sizeof v, sizeof v);
      d[i] = static_cast<D>(v);
    }
  }
  return true;
}

template <class S, class D, size_t count>
bool load_same(const std::byte* from, const uint8_t* defined, std::byte* rows, const uint32_t* to) {
  if (defined != nullptr && !written<count * sizeof(S)>(defined)) return false;
  for (size_t j = 0; j < count; ++j) {
    D* d = row<D>(rows, to[j]);
    S v;
    std::memcpy(&v, from + j * sizeof v, sizeof v);
    for (size_t i = 0; i < kLanes; ++i) d[i] = static_cast<D>(v);
  }
  return true;
}

template <class S, class D, size_t count>
void store(const std::byte* rows, const uint32_t* from, std::byte* to, uint8_t* defined) {
  for (size_t j = 0; j < count; ++j) {
    const D* s = row<const D>(const_cast<std::byte*>(rows), from[j]);
#pragma GCC ivdep
    for (size_t i = 0; i < kLanes; ++i) {
      const S v = static_cast<S>(s[i]);
      std::memcpy(to + (i * count + j) * sizeof v, &v, sizeof v);
    }
  }
  if (defined != nullptr) std::memset(defined, 0xFF, kLanes * count * sizeof(S));
}

// choose(S(), D()) for elements and registers of these sizes, or nothing.
template <class Choose>
auto choose(size_t size, size_t register_bytes, bool is_signed, Choose choose) -> decltype(choose(0u, 0u)) {
  const auto from = [&](auto s) -> decltype(choose(0u, 0u)) {
    constexpr size_t kSize = sizeof s;
    if constexpr (kSize <= 2)
      if (register_bytes == 2) return choose(s, uint16_t());
    if constexpr (kSize <= 4)
      if (register_bytes == 4) return choose(s, uint32_t());
    if constexpr (kSize <= 8)
      if (register_bytes == 8) return choose(s, uint64_t());
    if constexpr (kSize == 16)
      if (register_bytes == 16) return choose(s, u128());
    return nullptr;
  };
  switch (size) {
    case 1: return is_signed ? from(int8_t()) : from(uint8_t());
    case 2: return is_signed ? from(int16_t()) : from(uint16_t());
    case 4: return is_signed ? from(int32_t()) : from(uint32_t());
    case 8: return from(uint64_t());
    case 16: return from(u128());
    default: return nullptr;
  }
}

LoadRows choose_load(size_t size, size_t register_bytes, bool is_signed, size_t count) {
  return choose(size, register_bytes, is_signed, [&](auto s, auto d) -> LoadRows {
    using S = decltype(s);
    using D = decltype(d);
    return count == 1   ? load<S, D, 1>
           : count == 2 ? load<S, D, 2>
           : count == 4 ? load<S, D, 4>
           : count == 8 ? load<S, D, 8>
                        : nullptr;
  });
}

LoadRows choose_same(size_t size, size_t register_bytes, bool is_signed, size_t count) {
  return choose(size, register_bytes, is_signed, [&](auto s, auto d) -> LoadRows {
    using S = decltype(s);
    using D = decltype(d);
    return count == 1   ? load_same<S, D, 1>
           : count == 2 ? load_same<S, D, 2>
           : count == 4 ? load_same<S, D, 4>
           : count == 8 ? load_same<S, D, 8>
                        : nullptr;
  });
}

StoreRows choose_store(size_t size, size_t register_bytes, size_t count) {
  return choose(size, register_bytes, false, [&](auto s, auto d) -> StoreRows {
    using S = decltype(s);
    using D = decltype(d);
    return count == 1   ? store<S, D, 1>
           : count == 2 ? store<S, D, 2>
           : count == 4 ? store<S, D, 4>
           : count == 8 ? store<S, D, 8>
                        : nullptr;
  });
}

}  // namespace

RowMoves make_row_moves();
RowMoves make_row_moves() {
  return {apart<uint64_t>, apart<uint32_t>, choose_load, choose_same, choose_store};
}

}  // namespace bitwell::isa::BITWELL_LEVEL
