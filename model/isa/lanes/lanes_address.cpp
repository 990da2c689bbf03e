#include "model/isa/lanes/address_scan.h"
#include "model/isa/lanes/lanes.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

template <class T>
AddressScan scan(const T* row, uint64_t offset, uint32_t mask, uint64_t size, uint64_t* address) {
  // Signed comparison, which every instruction set has: addresses stay below 2^63, and one beyond is out of
  // bounds whichever way it sorts.
  for (int i = 0; i < kLanes; ++i) address[i] = static_cast<T>(row[i] + static_cast<T>(offset));
  int64_t low = INT64_MAX;
  int64_t high = INT64_MIN;
  uint64_t bits = 0;
  if (mask == ~0u) {
    uint64_t apart = 0;
    for (int i = 0; i < kLanes; ++i) apart |= address[i] ^ (address[0] + static_cast<uint64_t>(i) * size);
    if (apart == 0) return {address[0], address[0] + 31 * size, address[0], true};
    for (int i = 0; i < kLanes; ++i) {
      const auto a = static_cast<int64_t>(address[i]);
      low = a < low ? a : low;
      high = a > high ? a : high;
      bits |= address[i];
    }
  } else {
    for (int i = 0; i < kLanes; ++i) {
      if ((mask >> i & 1) == 0) continue;
      const auto a = static_cast<int64_t>(address[i]);
      low = a < low ? a : low;
      high = a > high ? a : high;
      bits |= address[i];
    }
  }
  return {static_cast<uint64_t>(low), static_cast<uint64_t>(high), bits, false};
}

}  // namespace

AddressScans make_address_scans();
AddressScans make_address_scans() { return {scan<uint64_t>, scan<uint32_t>}; }

}  // namespace bitwell::isa::BITWELL_LEVEL
