// What 16-bit results of one instruction lose.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/machine/failure.h"

namespace bitwell::run {

// How many bits of a sum's smaller term may be lost; none: such losses are not counted.
using Bound = std::optional<int>;

// One kind of loss, of the results of one instruction.
struct Loss {
  uint64_t count = 0;  // results
  // Of the first: where, its operands, as many as the instruction has (of a matrix product the exact sum of
  // the products, as fp32 has it, and the accumulator; of a conversion the one that is converted), and what
  // came of them.
  machine::Place first{};
  std::optional<std::array<size_t, 2>> cell{};  // of a matrix product: row and column of its D
  std::vector<float> operands{};
  float result = 0;
  int bits = 0;  // where bits are counted: the most of a result
};

struct Losses {
  enum class Form : uint8_t { sum, difference, product, product_and_sum, conversion, matrix };
  int ptx_line = 0;
  std::string instruction{};  // opcode and modifiers
  Form form{};
  uint64_t results = 0;  // that came of finite operands: of an x2 instruction two a thread
  Loss overflowed;       // an infinity came of them
  // Of a sum whose terms are both not 0: it is as if one were. A matrix product's terms are the exact sum of
  // its products and the accumulator: either the result is the accumulator, or it is what the instruction
  // gives for an accumulator of 0.
  Loss absorbed;
  Loss shortened;  // of a sum: the smaller term lost more bits than the bound
};

// What one cluster lost while it runs beside others: its launch's counts are made of its clusters', in the
// order of their start.
class LossesApart {
 public:
  // Adds what it has to the launch's.
  void add() const;
  bool empty() const { return all_.empty(); }

  // Until the end of its life what the host thread's cluster loses is kept apart.
  class Here {
   public:
    explicit Here(LossesApart& all);
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;
  };
  // Where the host thread counts what is lost of an instruction: there itself, or apart.
  static Losses& of(Losses& launch);

 private:
  std::unordered_map<Losses*, Losses> all_;
};

// A sum's terms as the result's format alone holds them, and their sum: how many bits of the smaller term,
// down to its last 1, stand below the last place of the sum. `result` is finite; an infinite term is the
// larger one. `brain`: bf16, else fp16.
int lost_bits(float one, float other, float result, bool brain);

}  // namespace bitwell::run
