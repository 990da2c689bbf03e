// What orders the operations of tcgen05 that one thread has issued.
#pragma once
#include <array>
#include <cstdint>

#include "model/machine/promise.h"

namespace bitwell::machine {

// What orders an operation behind others that were issued before.
struct TensorOrder {
  enum class Kind : uint8_t { mma, copy, copy_4x256b, shift } kind{};
  // Of an MMA: D's address, M, N, and the kind with .ws; empty for others.
  std::array<uint32_t, 4> sum{};

  bool operator==(const TensorOrder&) const = default;

  // Whether this one, issued earlier by the same thread, is done before `later` starts. The manual promises
  // it of mma and mma with the same accumulator, shape and kind, cp and mma, shift and mma, mma and shift,
  // shift and cp.4x256b (9.7.16.6.2). Two more rest on what runs on B200s: an MMA comes before any that
  // follows it, for every attention kernel lets one write where the one before still reads; and before any
  // copy, for block-scaled kernels replace scales behind the MMAs that read them. Neither waits.
  bool before(const TensorOrder& later, Promise kept) const {
    if (kind != Kind::mma)
      return later.kind == Kind::mma || (kind == Kind::shift && later.kind == Kind::copy_4x256b);
    return kept == Promise::devices || later.kind == Kind::shift ||
           (later.kind == Kind::mma && sum == later.sum);
  }
};

}  // namespace bitwell::machine
