// A matrix B that several MMAs read is converted once.
#pragma once
#include "model/isa/family/mma/shared_matrix.h"
#include "model/number/tile/dot_tile.h"

namespace bitwell::isa {

// What the codes of B are for; `negated`: with their signs exchanged.
struct MatrixUse {
  const number::DotRule* rule;
  const number::Format* format;
  bool negated;

  bool operator==(const MatrixUse&) const = default;
};

// B, without scales, for number::dot_tile. It is read, with all checks and all that observers are told; if
// the bytes are those of one of the last few matrices that this host thread has prepared for the same use, so
// is the result. It holds until the thread's next call. Throws what read_chunks does.
const number::DotColumns& prepared_columns(const MatrixUse& use, const SharedMatrix& matrix,
                                           const SharedBytes& shared);

}  // namespace bitwell::isa
