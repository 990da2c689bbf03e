#include "model/isa/family/shared_matrix.h"

#include <cstring>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

constexpr uint64_t kReserved = ~(uint64_t{0x3FFF} | uint64_t{0x3FFF} << 16 | uint64_t{0x3FFF} << 32 |
                                 uint64_t{7} << 49 | uint64_t{3} << 62);
constexpr uint32_t kAddressMask = (1u << 18) - 1;

}  // namespace

MatrixDescriptor decode_matrix_descriptor(uint64_t bits) {
  if (const uint64_t set = bits & kReserved; set != 0)
    throw machine::Unsupported("bit " + std::to_string(__builtin_ctzll(set)) +
                               " of a matrix descriptor, which is reserved");
  const auto field = [&](int at) { return static_cast<uint32_t>(bits >> at & 0x3FFF) << 4; };
  constexpr uint32_t spans[4] = {16, 128, 64, 32};
  return {field(0), field(16), field(32), spans[bits >> 62], static_cast<uint32_t>(bits >> 49 & 7)};
}

uint32_t chunk_of(const MatrixDescriptor& d, bool mn_major, uint32_t bytes, uint32_t row, uint32_t k) {
  const uint32_t chunks = d.span / 16;  // of 16 bytes in a row of the swizzle's atom
  uint32_t at = d.start;
  if (mn_major) {
    const uint32_t group = row / (16 / bytes);
    if (chunks == 1)
      at += k % 8 * 16 + group * d.stride + k / 8 * d.leading;
    else
      at += group % chunks * 16 + group / chunks * d.leading + k % 8 * d.span + k / 8 * d.stride;
  } else {
    const uint32_t chunk = k * bytes / 16;
    at += row % 8 * d.span + row / 8 * d.stride + (chunks == 1 ? chunk * d.leading : chunk * 16);
  }
  at &= kAddressMask;
  // Address bits 7 and up, counted from the base offset (H200), choose which 16 bytes of the row the pattern
  // exchanges.
  return at ^ ((((at >> 7) - d.base_offset) & (chunks - 1)) << 4);
}

std::vector<uint32_t> read_matrix(const machine::Region& shared, const MatrixDescriptor& d, bool mn_major,
                                  const number::Format& format, size_t rows, size_t k, const char* what,
                                  const std::function<std::string(uint64_t at)>& filling) {
  const auto bytes = static_cast<uint32_t>(format.container / 8);
  const uint32_t each = 16 / bytes;
  std::vector<uint32_t> codes(rows * k);
  const auto fetch = [&](uint32_t at, std::byte* to) {
    if (at + 16 > shared.size())
      throw machine::Fault(std::string("the matrix descriptor of ") + what + " leads to byte " +
                           std::to_string(at) + " of shared memory, which has " +
                           std::to_string(shared.size()) + " bytes");
    if (!shared.is_defined(at, 16))
      throw machine::Fault(std::string("wgmma reads ") + what + " at byte " + std::to_string(at) +
                           " of shared memory, which was never written" + filling(at));
    std::memcpy(to, shared.data() + at, 16);
  };
  std::byte chunk[16];
  const auto code = [&](uint32_t i) {
    uint32_t c = 0;
    std::memcpy(&c, chunk + i * bytes, bytes);
    return c;
  };
  if (mn_major) {
    for (uint32_t n = 0; n < k; ++n)
      for (uint32_t row = 0; row < rows; row += each) {
        fetch(chunk_of(d, true, bytes, row, n), chunk);
        for (uint32_t i = 0; i < each && row + i < rows; ++i) codes[(row + i) * k + n] = code(i);
      }
  } else {
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t n = 0; n < k; n += each) {
        fetch(chunk_of(d, false, bytes, row, n), chunk);
        for (uint32_t i = 0; i < each; ++i) codes[row * k + n + i] = code(i);
      }
  }
  return codes;
}

}  // namespace bitwell::isa
