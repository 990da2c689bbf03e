// What the addresses of a warp's lanes have in common: the part of a memory access worth vector instructions.
#pragma once
#include <cstdint>

namespace bitwell::isa {

struct AddressScan {
  uint64_t low;  // least and greatest over the lanes of the mask
  uint64_t high;
  uint64_t bits;     // all of them or-ed: alignment
  bool consecutive;  // all 32 lanes, lane i at low + i * size
};

// address[i] = row[i] + offset, for rows of 64-bit or (modulo 2^32) 32-bit lanes.
struct AddressScans {
  AddressScan (*wide)(const uint64_t* row, uint64_t offset, uint32_t mask, uint64_t size, uint64_t* address);
  AddressScan (*narrow)(const uint32_t* row, uint64_t offset, uint32_t mask, uint64_t size,
                        uint64_t* address);
};

// For the widest instruction set that this host has.
const AddressScans& address_scans();

}  // namespace bitwell::isa
