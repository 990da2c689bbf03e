#include "model/isa/family/mma/fragments.h"

#include <cstring>
#include <string>

#include "model/machine/arch.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

// Where codes of a format stand in 32-bit words: `each` in a word, `stride` bits apart.
struct Packed {
  size_t each, stride, first;
  uint32_t mask;

  Packed(const Mma& mma, const number::Format& f)
      : each(32 / mma.element_bits()),
        stride(mma.element_bits()),
        first(mma.in_bytes && f.container == 4 ? 2 : 0),
        mask(static_cast<uint32_t>((uint64_t{1} << f.container) - 1)) {}
  uint32_t code(uint32_t word, size_t i) const { return word >> (i * stride + first) & mask; }
};

}  // namespace

const number::DotRule& dot_rule(int sm, const std::string& instruction, const number::Format& a,
                                const number::Format& b, const number::Format& output,
                                const number::Format* scale, int scale_vector) {
  const number::DotRule* rule =
      number::find_dot_rule(machine::arch(sm).tensor, instruction, a, b, output, scale, scale_vector);
  if (rule == nullptr)
    throw machine::Unsupported("the arithmetic of " + instruction + " with " + std::string(a.name) +
                               (&a == &b ? "" : " and " + std::string(b.name)) + " inputs and " +
                               std::string(output.name) + " results on sm_" + std::to_string(sm));
  return *rule;
}

void negate(const number::Format& format, std::span<uint32_t> codes) {
  for (uint32_t& c : codes) c ^= static_cast<uint32_t>(format.sign_mask() << format.ignored_low);
}

// Thread 4 g + t holds, in register r, word t + 4 (r / 2) of row g + 8 (r % 2).
void unpack_a(const Mma& mma, std::span<const uint32_t* const> registers, std::span<uint32_t> codes) {
  const Packed packed(mma, *mma.a);
  for (size_t r = 0; r < registers.size(); ++r)
    for (size_t row = 0; row < 8; ++row) {
      const uint32_t* const words = registers[r] + 4 * row;
      uint32_t* to = &codes[(row + 8 * (r % 2)) * mma.k + r / 2 * 4 * packed.each];
      if (packed.each == 2) {
        for (size_t t = 0; t < 4; ++t) {
          to[2 * t] = words[t] & 0xFFFF;
          to[2 * t + 1] = words[t] >> 16;
        }
        continue;
      }
      for (size_t t = 0; t < 4; ++t)
        for (size_t i = 0; i < packed.each; ++i) *to++ = packed.code(words[t], i);
    }
}

// Thread 4 g + t holds, in register r, word t + 4 r of column g.
void unpack_b(const Mma& mma, std::span<const uint32_t* const> registers, std::span<uint32_t> codes) {
  const Packed packed(mma, *mma.b);
  for (size_t r = 0; r < registers.size(); ++r)
    for (size_t lane = 0; lane < machine::kLanes; ++lane)
      for (size_t i = 0; i < packed.each; ++i)
        codes[lane / 4 * mma.k + (lane % 4 + 4 * r) * packed.each + i] = packed.code(registers[r][lane], i);
}

namespace {

// Thread 4 g + t holds columns 8 j + 2 t and the next of rows g and g + 8. Calls visit(its registers' rows of
// lanes from that of t = 0 on, place of the 8 elements in a row) for each j, half of the rows and g. fp16
// results are two a register, others have a second one.
template <bool kHalf, class Visit>
void each_eight_of_d(const Mma& mma, std::span<uint32_t* const> registers, Visit visit) {
  constexpr size_t each = kHalf ? 1 : 2;
  for (size_t j = 0; j < mma.n / 8; ++j)
    for (size_t h = 0; h < 2; ++h) {
      uint32_t* const first = registers[(2 * j + h) * each];
      uint32_t* const second = registers[(2 * j + h) * each + each - 1];
      for (size_t g = 0; g < 8; ++g) visit(first + 4 * g, second + 4 * g, (g + 8 * h) * mma.n + 8 * j);
    }
}

}  // namespace

void unpack_d(const Mma& mma, std::span<uint32_t* const> registers, std::span<uint32_t> codes) {
  if (mma.half_result())
    each_eight_of_d<true>(mma, registers, [&](const uint32_t* two, const uint32_t*, size_t at) {
      for (size_t t = 0; t < 4; ++t) {
        codes[at + 2 * t] = two[t] & 0xFFFF;
        codes[at + 2 * t + 1] = two[t] >> 16;
      }
    });
  else
    each_eight_of_d<false>(mma, registers, [&](const uint32_t* first, const uint32_t* second, size_t at) {
      uint32_t eight[8];
      for (size_t t = 0; t < 4; ++t) {
        eight[2 * t] = first[t];
        eight[2 * t + 1] = second[t];
      }
      std::memcpy(&codes[at], eight, sizeof eight);
    });
}

void pack_d(const Mma& mma, std::span<const uint32_t> codes, std::span<uint32_t* const> registers) {
  if (mma.half_result())
    each_eight_of_d<true>(mma, registers, [&](uint32_t* two, const uint32_t*, size_t at) {
      for (size_t t = 0; t < 4; ++t) two[t] = codes[at + 2 * t] | codes[at + 2 * t + 1] << 16;
    });
  else
    each_eight_of_d<false>(mma, registers, [&](uint32_t* first, uint32_t* second, size_t at) {
      uint32_t even[4], odd[4];
      for (size_t t = 0; t < 4; ++t) {
        even[t] = codes[at + 2 * t];
        odd[t] = codes[at + 2 * t + 1];
      }
      std::memcpy(first, even, sizeof even);
      std::memcpy(second, odd, sizeof odd);
    });
}

}  // namespace bitwell::isa
