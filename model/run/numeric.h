// What 16-bit arithmetic loses while a kernel runs: results that overflow, sums that lose an operand.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/failure.h"

namespace bitwell::isa {

// One kind of loss, of the results of one instruction.
struct Loss {
  uint64_t count = 0;  // results
  machine::Place first{};
  // Of the first: its operands, as many as the instruction has (of a matrix product the one that it adds to;
  // of a conversion the one that is converted), and what came of them.
  std::vector<float> operands{};
  float result = 0;
};
struct Losses {
  enum class Form : uint8_t { sum, difference, product, product_and_sum, conversion, matrix };
  int ptx_line = 0;
  Form form{};
  uint64_t results = 0;  // that came of finite operands: of an x2 instruction two a thread
  Loss overflowed;       // an infinity came of them
  Loss absorbed;         // of a sum: both terms are not 0, and it is as if the smaller were
};

// Changes a program so that add, sub, mul, fma, cvt from fp32 and mma.sync with results in fp16 or bf16 are
// watched: their results stay what they are. wgmma and tcgen05 are not. The program and this one live as long
// as each other; it counts over all runs.
class NumericWatch {
 public:
  explicit NumericWatch(Program& program);
  NumericWatch(const NumericWatch&) = delete;
  NumericWatch& operator=(const NumericWatch&) = delete;

  // Of the instructions that lost something, by line.
  std::vector<Losses> losses() const;

  struct Watched;

 private:
  std::vector<const Watched*> watched_;  // payloads of the program's
};

}  // namespace bitwell::isa
