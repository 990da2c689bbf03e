#include "model/isa/family/shared_matrix.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::isa {

std::vector<uint32_t> read_matrix(const machine::Region& shared, const SharedMatrix& m,
                                  const std::function<std::string(uint64_t at)>& filling) {
  const auto bits = static_cast<uint32_t>(m.format->container);
  const uint32_t each = m.packing == Packing::padded ? 16 : 128 / bits;  // elements in 16 bytes
  const uint32_t filled = each * bits / 8;                               // bytes of them
  if (each * bits % 8 != 0 || filled > 16 || (m.packing == Packing::dense && each * bits != 128))
    throw machine::ModelBug("a matrix of " + std::string(m.format->name) + " packed as it cannot be");
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  std::array<uint32_t, 32> chunk;
  const auto fetch = [&](uint32_t at) {
    if (at + 16 > shared.size())
      throw machine::Fault(std::string("the matrix descriptor of ") + m.what + " leads to byte " +
                           std::to_string(at) + " of shared memory, which has " +
                           std::to_string(shared.size()) + " bytes");
    if (!shared.is_defined(at, filled))
      throw machine::Fault(std::string(m.instruction) + " reads " + m.what + " at byte " +
                           std::to_string(at) + " of shared memory, which was never written" + filling(at));
    std::byte bytes[24] = {};  // room for the last element's eight
    std::memcpy(bytes, shared.data() + at, 16);
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
  if (m.mn_major) {
    for (uint32_t k = 0; k < m.k; ++k)
      for (uint32_t row = 0; row < m.rows; row += each) {
        fetch(place(row, k));
        for (uint32_t i = 0; i < each && row + i < m.rows; ++i) codes[(row + i) * m.k + k] = chunk[i];
      }
  } else {
    for (uint32_t row = 0; row < m.rows; ++row)
      for (uint32_t k = 0; k < m.k; k += each) {
        fetch(place(row, k));
        std::copy_n(chunk.begin(), std::min<size_t>(each, m.k - k), &codes[row * m.k + k]);
      }
  }
  return codes;
}

}  // namespace bitwell::isa
