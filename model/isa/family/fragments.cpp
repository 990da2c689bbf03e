#include "model/isa/family/fragments.h"

#include <string>

#include "model/machine/arch.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

// Code `i` of the 32-bit word.
uint32_t code_in(uint32_t word, size_t i, int bits) {
  return bits == 32 ? word : word >> (i * static_cast<size_t>(bits)) & ((1u << bits) - 1);
}

size_t codes_a_word(const Mma& mma) { return 32 / static_cast<size_t>(mma.a->container); }

}  // namespace

const number::DotRule& dot_rule(int sm, const std::string& instruction, const number::Format& a,
                                const number::Format& b, const number::Format& output) {
  const number::DotRule* rule = number::find_dot_rule(machine::arch(sm).tensor, instruction, a, b, output);
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
  const size_t each = codes_a_word(mma);
  for (size_t r = 0; r < registers.size(); ++r)
    for (size_t lane = 0; lane < machine::kLanes; ++lane) {
      const size_t row = lane / 4 + 8 * (r % 2);
      const size_t word = lane % 4 + 4 * (r / 2);
      for (size_t i = 0; i < each; ++i)
        codes[row * mma.k + word * each + i] = code_in(registers[r][lane], i, mma.a->container);
    }
}

// Thread 4 g + t holds, in register r, word t + 4 r of column g.
void unpack_b(const Mma& mma, std::span<const uint32_t* const> registers, std::span<uint32_t> codes) {
  const size_t each = codes_a_word(mma);
  for (size_t r = 0; r < registers.size(); ++r)
    for (size_t lane = 0; lane < machine::kLanes; ++lane)
      for (size_t i = 0; i < each; ++i)
        codes[lane / 4 * mma.k + (lane % 4 + 4 * r) * each + i] =
            code_in(registers[r][lane], i, mma.b->container);
}

namespace {

// Calls visit(register, lane, half, place): thread 4 g + t holds columns 8 j + 2 t and the next of rows g and
// g + 8; 32-bit results one a register, fp16 ones two.
template <class Visit>
void each_of_d(const Mma& mma, Visit visit) {
  const bool half = mma.half_result();
  for (size_t j = 0; j < mma.n / 8; ++j)
    for (size_t h = 0; h < 2; ++h)
      for (size_t e = 0; e < 2; ++e)
        for (size_t lane = 0; lane < machine::kLanes; ++lane)
          visit(half ? 2 * j + h : 4 * j + 2 * h + e, lane, e,
                (lane / 4 + 8 * h) * mma.n + 8 * j + 2 * (lane % 4) + e);
}

}  // namespace

void unpack_d(const Mma& mma, std::span<uint32_t* const> registers, std::span<uint32_t> codes) {
  if (mma.half_result())
    each_of_d(mma, [&](size_t r, size_t lane, size_t e, size_t at) {
      codes[at] = code_in(registers[r][lane], e, 16);
    });
  else
    each_of_d(mma, [&](size_t r, size_t lane, size_t, size_t at) { codes[at] = registers[r][lane]; });
}

void pack_d(const Mma& mma, std::span<const uint32_t> codes, std::span<uint32_t* const> registers) {
  if (mma.half_result())
    each_of_d(mma, [&](size_t r, size_t lane, size_t e, size_t at) {
      uint32_t& word = registers[r][lane];
      word = e == 0 ? (word & 0xFFFF0000u) | codes[at] : (word & 0xFFFFu) | codes[at] << 16;
    });
  else
    each_of_d(mma, [&](size_t r, size_t lane, size_t, size_t at) { registers[r][lane] = codes[at]; });
}

}  // namespace bitwell::isa
