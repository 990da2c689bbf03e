// What 16-bit arithmetic loses while a kernel runs: results that overflow, sums that lose an operand.
#pragma once
#include <memory>
#include <vector>

#include "model/isa/form/program.h"
#include "model/run/watch/losses.h"

namespace bitwell::run {

class MatrixLosses;

// Changes a program so that add, sub, mul, fma and cvt from fp32 with results in fp16 or bf16, and matrix
// products (mma.sync, wmma.mma, wgmma.mma_async, tcgen05.mma) with results in fp16, are watched: their
// results stay what they are. The program and this one live as long as each other; it counts over all runs.
class NumericWatch {
 public:
  // `bound`: of lost bits, as Losses::shortened counts them.
  explicit NumericWatch(isa::Program& program, Bound bound = std::nullopt);
  ~NumericWatch();
  NumericWatch(const NumericWatch&) = delete;
  NumericWatch& operator=(const NumericWatch&) = delete;

  // Of the instructions that lost something, by line.
  std::vector<Losses> losses() const;

  struct Watched;

 private:
  void watch_product(isa::Function& function, isa::Op& op);
  void watch_lanes(isa::Function& function, isa::Op& op);

  Bound bound_;
  std::vector<const Watched*> watched_;  // payloads of the program's
  std::vector<std::unique_ptr<MatrixLosses>> products_;
};

}  // namespace bitwell::run
