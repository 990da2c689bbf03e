// What orders the operations of tcgen05 that one thread has issued.
#pragma once
#include <array>
#include <cstdint>

namespace bitwell::machine {

// What orders an operation behind others that the same warp has issued before.
struct TensorOrder {
  enum class Kind : uint8_t { mma, copy, copy_4x256b, shift } kind{};
  // Of an MMA: D's address, M, N, and the kind with .ws; empty for others.
  std::array<uint32_t, 4> sum{};

  bool operator==(const TensorOrder&) const = default;

  // Whether this one, issued earlier, is done before `later` starts. The manual promises it of mma and mma
  // with the same accumulator, shape and kind, cp and mma, shift and mma, mma and shift, shift and cp.4x256b
  // of one thread (9.7.16.6.2). Two more rest on what runs on B200s: the threads of a warp count as one (a
  // kernel in which all issue), and mma and cp keep their order, for block-scaled kernels replace scales
  // behind the MMAs that read them, without a wait.
  bool before(const TensorOrder& later) const {
    if (kind == Kind::mma) return later.kind != Kind::mma || sum == later.sum;
    return later.kind == Kind::mma || (kind == Kind::shift && later.kind == Kind::copy_4x256b);
  }
};

}  // namespace bitwell::machine
