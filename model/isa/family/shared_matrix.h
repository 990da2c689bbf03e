// Matrices in shared memory as codes: what wgmma and tcgen05 read through a matrix descriptor.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/machine/matrix_descriptor.h"
#include "model/machine/memory.h"
#include "model/number/format.h"

namespace bitwell::isa {

// How elements below a byte lie in 16 bytes (PTX ISA 9.0, 9.7.16.10.5).
enum class Packing : uint8_t {
  dense,  // one after the other, low bits first
  padded  // 16 elements, one after the other, and padding behind them: kinds f8f6f4 and mxf8f6f4
};

struct SharedMatrix {
  machine::MatrixDescriptor descriptor;
  bool mn_major = false;
  const number::Format* format = nullptr;
  size_t rows = 0, k = 0;
  Packing packing = Packing::dense;
  const char* instruction = "";  // for messages: what reads it
  const char* what = "";         // and as which operand
};

// `rows` by `k` codes, [row][k]. Throws Fault where the descriptor leads out of shared memory or to bytes
// that hold nothing (padding may); `filling` says what is still to write 16 bytes of shared memory.
std::vector<uint32_t> read_matrix(const machine::Region& shared, const SharedMatrix& matrix,
                                  const std::function<std::string(uint64_t at)>& filling);

}  // namespace bitwell::isa
