#include "verify/problem/contest.h"

#include <string>

#include "model/machine/failure.h"

namespace bitwell::problem {
namespace {

constexpr uint64_t kBlockRows = 128;
constexpr uint64_t up(uint64_t v, uint64_t to) { return (v + to - 1) / to; }

}  // namespace

const Contest& contest(std::string_view name) {
  std::string known;
  for (const Contest* c : kContests) {
    if (c->name == name) return *c;
    known += (known.empty() ? "" : ", ") + std::string(c->name);
  }
  throw machine::InputError("no problem '" + std::string(name) + "'; there are " + known);
}

uint8_t Operand::codes(uint64_t batch, uint64_t row, uint64_t i) const {
  const uint32_t word = codes_[(batch * rows + row) * (k / 2) + i];
  return static_cast<uint8_t>(contest_->vector ? word % 4 : word % 256 - 128);
}

uint8_t Operand::scale_of(uint32_t word) const {
  constexpr uint8_t kE4m3[] = {0x00, 0x38, 0x40, 0x44};  // 0, 1, 2, 3
  return kE4m3[word % contest_->scales];
}

uint8_t Operand::scale(uint64_t batch, uint64_t row, uint64_t group) const {
  return scale_of(scales_[(batch * rows + row) * (k / 16) + group]);
}

std::vector<std::byte> Operand::all_codes() const {
  std::vector<std::byte> out;
  out.reserve(l * rows * k / 2);
  for (uint64_t batch = 0; batch < l; ++batch)
    for (uint64_t row = 0; row < rows; ++row)
      for (uint64_t i = 0; i < k / 2; ++i) out.push_back(static_cast<std::byte>(codes(batch, row, i)));
  return out;
}

std::vector<std::byte> Operand::blocked_scales() const {
  std::vector<std::byte> out;
  out.reserve(l * up(rows, kBlockRows) * (k / 64) * 512);
  for (uint64_t batch = 0; batch < l; ++batch)
    for (uint64_t block = 0; block < up(rows, kBlockRows); ++block)
      for (uint64_t of_k = 0; of_k < k / 64; ++of_k)
        for (uint64_t i = 0; i < 512; ++i) {
          const uint64_t row = block * kBlockRows + i / 4 % 4 * 32 + i / 16;
          out.push_back(static_cast<std::byte>(row < rows ? scale(batch, row, of_k * 4 + i % 4)
                                                          : scale_of(padding_[out.size()])));
        }
  return out;
}

Inputs::Inputs(const Contest& c, uint64_t m, uint64_t n, uint64_t k, uint64_t l, uint64_t seed)
    : a(m, k, l), b(c.vector ? kBlockRows : n, k, l) {
  if (k == 0 || k % 64 != 0)
    throw machine::InputError(std::string(c.name) + " takes k a multiple of 64, not " + std::to_string(k));
  TorchGenerator generator(seed);
  // In the order in which the reference makes them; C, which nothing reads, is between.
  a.contest_ = b.contest_ = &c;
  a.codes_ = generator.next({l, a.rows, k / 2}, "a");
  b.codes_ = generator.next({l, b.rows, k / 2}, "b");
  generator.next({l, m, c.vector ? 1 : n}, "c");
  for (Operand* o : {&a, &b}) {
    o->scales_ = generator.next({l, o->rows, k / 16}, "scales");
    o->padding_ = generator.next({l, up(o->rows, kBlockRows), k / 64, 512}, "scales");
  }
}

}  // namespace bitwell::problem
