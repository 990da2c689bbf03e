// Matrices in shared memory as codes: what wgmma and tcgen05 read through a matrix descriptor.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/tensor/matrix_descriptor.h"
#include "model/run/port.h"

namespace bitwell::isa {

// How elements below a byte lie in 16 bytes (PTX ISA 9.0, 9.7.16.10.5).
enum class Packing : uint8_t {
  dense,  // one after the other, low bits first
  padded  // 16 elements, one after the other, and padding behind them: kinds f8f6f4 and mxf8f6f4
};

// Shared memory, 16 bytes at each of some places: their bits and which of them were written (as
// machine::kWritten); `filling` says what is still to write some of the 16 at one; `follow`: who is told
// where some of them hold nothing, or nullptr: a Fault.
struct SharedBytes {
  uint64_t size;
  std::function<void(std::span<const uint32_t> at, std::byte* bytes, uint8_t* defined)> read;
  std::function<std::string(uint64_t at)> filling;
  run::Follow* follow = nullptr;
  uint64_t base = 0;                                   // the first's shared::cluster address
  std::function<std::string(uint64_t at)> variable{};  // "; that is 'tile' + 16", or nothing
};
// A CTA's, through a port.
SharedBytes shared_bytes(const run::Port& port, run::Cta& cta);
// The 16 bytes at each `at`, one after the other. Throws Fault where some lie outside, or the first `filled`
// of 16 hold nothing.
std::vector<std::byte> fetch(const SharedBytes& shared, std::span<const uint32_t> at, uint32_t filled,
                             const char* instruction, const char* what);

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

// The matrix as it lies in shared memory, 16 bytes after 16: along k, then along the rows (MN-major: along
// the rows, then along k), without what is skipped. Throws Fault where the descriptor leads out of shared
// memory or to bytes that hold nothing (padding may).
std::vector<std::byte> read_chunks(const SharedBytes& shared, const SharedMatrix& matrix);
// Its codes, `rows` by `k`, [row][k], from what read_chunks gave.
std::vector<uint32_t> codes_of(const SharedMatrix& matrix, std::span<const std::byte> chunks);
// Both in one.
std::vector<uint32_t> read_matrix(const SharedBytes& shared, const SharedMatrix& matrix);

}  // namespace bitwell::isa
