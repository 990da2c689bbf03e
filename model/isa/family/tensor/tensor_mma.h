// tcgen05.mma: what its check leaves to its effect, and its arithmetic (PTX ISA 9.0, 9.7.16.10).
#pragma once
#include <array>
#include <optional>

#include "model/isa/family/tensor/tensor_unit.h"
#include "model/isa/form/matrix_watch.h"
#include "model/machine/tensor/column_mask.h"
#include "model/machine/tensor/instruction_descriptor.h"
#include "model/number/tile/dot_tile.h"

namespace bitwell::isa {

struct TensorMmaUse : MatrixProduct {
  machine::MmaKind kind{};
  int cta_group = 1;
  int scale_vector = 0;      // elements a scale; 0: not block-scaled
  bool a_in_tensor = false;  // A's address in tensor memory, else a matrix descriptor
  bool negated = false;      // of the predicate that says whether D is added to
  bool stationary = false;   // .ws
  bool masked = false;       // .ws: the last source is a zero-column mask descriptor
  int scale_d = 0;           // D counts as D * 2^-scale_d
  Collector collector{};
  std::array<uint64_t, 4> offsets{};  // of the addresses of D, A, SFA and SFB

  // The instruction descriptor says.
  bool may_leave_halves() const override {
    return kind == machine::MmaKind::f16 || kind == machine::MmaKind::f8f6f4;
  }
  std::unique_ptr<MatrixProduct> copy() const override { return std::make_unique<TensorMmaUse>(*this); }
};

// One MMA as a thread issued it.
struct TensorMma {
  machine::InstructionDescriptor shape;
  const number::DotRule* rule = nullptr;  // of all kinds but i8
  machine::TensorPlace d{};
  std::optional<machine::TensorPlace> a;  // else `a_bits`
  uint64_t a_bits = 0, b_bits = 0;        // matrix descriptors
  machine::TensorPlace a_scales{}, b_scales{};
  machine::ColumnMask columns;
  Collectors::Share collected;
  bool accumulate = false;
  std::array<uint32_t, 8> keep{};  // lanes of D that are left as they are, by words of 32
  machine::Place place{};          // where the instruction is watched
};

// Multiplies: in `cta`, or in it and its pair, whose even rank holds the first rows of A and D and the first
// columns of B. Operands are read as the port's operation goes on, those that a collector may hold too: Fault
// where they are not what it was filled with.
void multiply(const run::Port& port, run::Cta& cta, const TensorMmaUse& use, const TensorMma& mma);

}  // namespace bitwell::isa
