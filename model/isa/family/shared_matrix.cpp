#include "model/isa/family/shared_matrix.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "model/machine/failure.h"
#include "model/run/definedness.h"

namespace bitwell::isa {

SharedBytes shared_bytes(const Port& port, Cta& cta) {
  const machine::Region& shared = cta.shared;
  return {shared.size(),
          [&port, &shared](uint32_t at, std::byte* bytes, uint8_t* defined) {
            port.read(shared, shared.base() + at, 16, bytes, defined);
          },
          [&cta](uint64_t at) {
            const uint64_t address = cta.shared.base() + at;
            const machine::Agent* copy = cta.cluster.filling(address, 16);
            return copy == nullptr
                       ? std::string()
                       : under_way(cta.cluster, copy->place.ptx_line, copy->completes_on(address));
          }};
}

void fetch(const SharedBytes& shared, uint32_t at, uint32_t filled, const char* instruction, const char* what,
           std::byte* bytes) {
  if (uint64_t{at} + 16 > shared.size)
    throw machine::Fault(std::string("the matrix descriptor of ") + what + " leads to byte " +
                         std::to_string(at) + " of shared memory, which has " + std::to_string(shared.size) +
                         " bytes");
  uint8_t defined[16];
  shared.read(at, bytes, defined);
  if (!machine::all_written(defined, filled))
    throw machine::Fault(std::string(instruction) + " reads " + what + " at byte " + std::to_string(at) +
                         " of shared memory, which was never written" + shared.filling(at));
}

std::vector<uint32_t> read_matrix(const SharedBytes& shared, const SharedMatrix& m) {
  const auto bits = static_cast<uint32_t>(m.bits);
  const uint32_t each = m.packing == Packing::padded ? 16 : 128 / bits;  // elements in 16 bytes
  const uint32_t filled = each * bits / 8;                               // bytes of them
  if (each * bits % 8 != 0 || filled > 16 || (m.packing == Packing::dense && each * bits != 128))
    throw machine::ModelBug("a matrix of elements of " + std::to_string(bits) +
                            " bits packed as it cannot be");
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  std::array<uint32_t, 32> chunk;
  const auto take = [&](uint32_t at) {
    std::byte bytes[24] = {};  // room for the last element's eight
    fetch(shared, at, filled, m.instruction, m.what, bytes);
    for (uint32_t i = 0; i < each; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + i * bits / 8, 8);
      chunk[i] = static_cast<uint32_t>(word >> (i * bits % 8) & mask);
    }
  };
  std::vector<uint32_t> codes(m.rows * m.k);
  const auto place = [&](uint32_t row, uint32_t k) {
    return machine::chunk_of(m.descriptor, m.mn_major, each, row, k);
  };
  const auto skipped = [&](size_t row, size_t count) {
    const auto end = m.skipped.begin() + static_cast<std::ptrdiff_t>(std::min(row + count, m.skipped.size()));
    return !m.skipped.empty() &&
           std::all_of(m.skipped.begin() + static_cast<std::ptrdiff_t>(row), end, [](bool s) { return s; });
  };
  if (m.mn_major) {
    for (uint32_t k = 0; k < m.k; ++k)
      for (uint32_t row = 0; row < m.rows; row += each) {
        if (skipped(row, each)) continue;
        take(place(row, k));
        for (uint32_t i = 0; i < each && row + i < m.rows; ++i) codes[(row + i) * m.k + k] = chunk[i];
      }
  } else {
    for (uint32_t row = 0; row < m.rows; ++row)
      for (uint32_t k = 0; k < m.k && !skipped(row, 1); k += each) {
        take(place(row, k));
        std::copy_n(chunk.begin(), std::min<size_t>(each, m.k - k), &codes[row * m.k + k]);
      }
  }
  return codes;
}

}  // namespace bitwell::isa
