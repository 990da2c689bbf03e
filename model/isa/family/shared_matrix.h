// Matrices in shared memory as codes: what wgmma and tcgen05 read through a matrix descriptor.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/machine/matrix_descriptor.h"
#include "model/run/port.h"

namespace bitwell::isa {

// How elements below a byte lie in 16 bytes (PTX ISA 9.0, 9.7.16.10.5).
enum class Packing : uint8_t {
  dense,  // one after the other, low bits first
  padded  // 16 elements, one after the other, and padding behind them: kinds f8f6f4 and mxf8f6f4
};

// Shared memory, 16 bytes at a time: their bits and which of them were written (as machine::kWritten);
// `filling` says what is still to write some of them.
struct SharedBytes {
  uint64_t size;
  std::function<void(uint32_t at, std::byte* bytes, uint8_t* defined)> read;
  std::function<std::string(uint64_t at)> filling;
};
// A CTA's, through a port.
SharedBytes shared_bytes(const Port& port, Cta& cta);
// The 16 bytes at `at` into `bytes`. Throws Fault where they lie outside, or the first `filled` hold nothing.
void fetch(const SharedBytes& shared, uint32_t at, uint32_t filled, const char* instruction, const char* what,
           std::byte* bytes);

struct SharedMatrix {
  machine::MatrixDescriptor descriptor;
  bool mn_major = false;
  int bits = 0;  // of an element: 4, 6, 8, 16 or 32
  size_t rows = 0, k = 0;
  Packing packing = Packing::dense;
  const char* instruction = "";  // for messages: what reads it
  const char* what = "";         // and as which operand
  std::vector<bool> skipped{};   // by row: those that are not read, their codes are 0; none given: all are
};

// `rows` by `k` codes, [row][k]. Throws Fault where the descriptor leads out of shared memory or to bytes
// that hold nothing (padding may).
std::vector<uint32_t> read_matrix(const SharedBytes& shared, const SharedMatrix& matrix);

}  // namespace bitwell::isa
