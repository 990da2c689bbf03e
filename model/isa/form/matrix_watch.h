// How a run's matrix products are looked at: what an instruction of a tensor core added to what.
#pragma once
#include <memory>

#include "model/isa/form/op.h"
#include "model/machine/failure.h"
#include "model/number/tile/dot_tile.h"

namespace bitwell::isa {

// D = A B + C of whole rows of D, as codes.
struct MatrixSums {
  const number::DotRule& rule;       // of one whose output is fp16
  number::DotOperand a;              // [row][k], without scales
  const number::DotColumns& b;       // without scales
  std::span<const uint32_t> before;  // C, [row][column]
  std::span<const uint32_t> after;   // D, likewise
  size_t first_row, first_column;    // where these rows and columns stand in the instruction's D
  const machine::Place& place;       // of the instruction, by a thread that issued it
};

class MatrixWatch {
 public:
  MatrixWatch() = default;
  MatrixWatch(const MatrixWatch&) = delete;
  MatrixWatch& operator=(const MatrixWatch&) = delete;
  virtual ~MatrixWatch() = default;
  // Is told when they have been computed.
  virtual void look(const MatrixSums& sums) = 0;
};

// The payload of an instruction that multiplies matrices. `watch` is told of its sums where they are fp16;
// nullptr: nobody is, at no cost.
struct MatrixProduct : Payload {
  MatrixWatch* watch = nullptr;

  // Whether the results are fp16, as far as the PTX says: the rest is in a descriptor.
  virtual bool may_leave_halves() const = 0;
  virtual std::unique_ptr<MatrixProduct> copy() const = 0;
};

}  // namespace bitwell::isa
