// Ordinary C++ that both compilers take: nvcc for the simulator and the GPU, g++ for the expected values.
#pragma once
#include <cstdint>
#ifdef __CUDACC__
#define HD __host__ __device__
#define NOINLINE __noinline__
#else
#define HD
#define NOINLINE __attribute__((noinline))
#endif

namespace ordinary {

HD inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ x >> 16;
}

// Loops, divergence, break and continue.
HD inline uint64_t control(uint32_t i) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < 40; ++k) {
    const uint32_t v = mix(i * 41 + k);
    if (v % 7 == 0) continue;
    if (v % 97 == 1) break;
    uint32_t steps = 0;
    for (uint32_t n = v % 1000 + 1; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    sum = sum * 31 + steps;
  }
  return sum;
}

HD inline uint64_t choose(uint32_t i) {
  switch (mix(i) % 9) {
    case 0: return i;
    case 1: return i * 3ull;
    case 2: return ~static_cast<uint64_t>(i);
    case 3: return static_cast<uint64_t>(i) << 33;
    case 4: return i / 7;
    case 5: return i % 13;
    case 6: return static_cast<uint64_t>(static_cast<int64_t>(-static_cast<int32_t>(i)));
    case 7: return (i & 0xF0F0) | 0x1000000000ull;
    default: return 77;
  }
}

// Calls: recursion, structs by value, a table of functions.
struct Pair {
  uint64_t a;
  uint32_t b;
  uint8_t c;
};
NOINLINE HD inline Pair step(Pair p, uint32_t k) {
  return {p.a * 6364136223846793005ull + k, p.b ^ static_cast<uint32_t>(p.a >> 32),
          static_cast<uint8_t>(p.c + k)};
}
NOINLINE HD inline uint64_t recurse(uint32_t depth, uint64_t v) {
  return depth == 0 ? v : recurse(depth - 1, v * 3 + depth) + depth % 3;
}
HD inline uint64_t calls(uint32_t i) {
  Pair p{i, ~i, static_cast<uint8_t>(i)};
  for (uint32_t k = 0; k < 5; ++k) p = step(p, k);
  return p.a + p.b + p.c + recurse(i % 11, i);
}

NOINLINE HD inline uint64_t twice(uint64_t v) { return 2 * v; }
NOINLINE HD inline uint64_t square(uint64_t v) { return v * v; }
NOINLINE HD inline uint64_t negate(uint64_t v) { return 0 - v; }

// Local memory: an array indexed at run time, sorted in place.
HD inline uint64_t local(uint32_t i) {
  uint32_t a[16];
  for (uint32_t k = 0; k < 16; ++k) a[k] = mix(i * 16 + k);
  for (uint32_t n = 15; n > 0; --n)
    for (uint32_t k = 0; k < n; ++k)
      if (a[k] > a[k + 1]) {
        const uint32_t t = a[k];
        a[k] = a[k + 1];
        a[k + 1] = t;
      }
  return static_cast<uint64_t>(a[i % 16]) << 32 | a[(i + 5) % 16];
}

// Integers of every width, signed division, shifts by variables.
HD inline uint64_t integers(uint32_t i) {
  const auto a = static_cast<int64_t>(static_cast<uint64_t>(mix(i)) << 32 | mix(i + 1));
  const auto b = static_cast<int32_t>(mix(i + 2));
  const auto c = static_cast<int16_t>(mix(i + 3));
  const auto d = static_cast<int8_t>(mix(i + 4));
  uint64_t r = static_cast<uint64_t>(a / (b == 0 ? 1 : b)) ^ static_cast<uint64_t>(a % (c == 0 ? 3 : c));
  r += static_cast<uint64_t>(b >> (i & 31)) + static_cast<uint64_t>(c / (d == 0 ? 5 : d));
  r ^= static_cast<uint64_t>(a >> (i & 63)) * static_cast<uint64_t>(static_cast<uint8_t>(d));
  r += a < b ? 1 : 0;
  return r + static_cast<uint64_t>(static_cast<int64_t>(c) * d);
}

// fp32 and fp64 where C++ and PTX agree on every bit: single operations and conversions.
HD inline uint64_t floats(uint32_t i) {
  const float x = static_cast<float>(mix(i)) * 0.001f;
  const double y = static_cast<double>(mix(i + 1)) / 3.0;
  const float q = x / static_cast<float>(i + 1);
  const double p = y + static_cast<double>(q);
  const auto whole = static_cast<int64_t>(p);
  return static_cast<uint64_t>(whole) ^ static_cast<uint64_t>(static_cast<uint32_t>(x)) ^
         (q > 1.5f ? 0x100000000ull : 0) ^ (p < 1e6 ? 1 : 0);
}

}  // namespace ordinary
