// What the sums of matrix products with results in fp16 lose.
#pragma once
#include "model/isa/form/matrix_watch.h"
#include "model/isa/form/program.h"
#include "model/run/watch/losses.h"

namespace bitwell::run {

// Counts for one instruction. Of its results those count whose row of A, column of B and accumulator are
// finite.
class MatrixLosses final : public isa::MatrixWatch {
 public:
  MatrixLosses(const isa::Line& line, Bound bound);
  void look(const isa::MatrixSums& sums) override;
  const Losses& seen() const { return seen_; }

 private:
  void judge(const isa::MatrixSums& sums, size_t row, size_t column, uint32_t alone);

  Losses seen_;
  Bound bound_;
};

}  // namespace bitwell::run
