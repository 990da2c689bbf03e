// A launch's buffers in a memory that outlives it.
#pragma once
#include <map>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::launch {

class Placed {
 public:
  // Allocates and fills the launch's buffers; those that `there` has, by number, are in memory already, at
  // that address, and keep what is written there.
  Placed(machine::Memory& memory, const Launch& launch, const std::map<size_t, uint64_t>& there = {});

  // Of a memory that has them all, at these addresses.
  Placed(machine::Memory& memory, std::vector<uint64_t> addresses)
      : memory_(memory), addresses_(std::move(addresses)) {}

  const std::vector<uint64_t>& addresses() const { return addresses_; }  // by buffer
  // The bytes of the entry's arguments. Throws InputError for a tensor map that no device takes.
  std::vector<std::vector<std::byte>> arguments(const std::vector<Argument>& arguments) const;
  // `bytes` with the addresses and maps that they hold. Throws as arguments does.
  std::vector<std::byte> resolved(std::vector<std::byte> bytes, const std::vector<Pointer>& pointers) const;
  // Throws Fault where an output of the launch has bytes that were never written.
  void require_written(const Launch& launch) const;
  // Makes the launch's buffers what memory has, outputs all of it (blank ones are blank no more).
  void read_back(Launch& launch) const;

 private:
  void place_at(const Launch& launch, size_t buffer);
  void write_pointer(size_t buffer, const Pointer& pointer);
  std::vector<std::byte> bytes_of(const Pointer& p) const;
  machine::Memory& memory_;
  std::vector<uint64_t> addresses_;
};

// Of bytes, arguments as a context takes them.
std::vector<bitwell::isa::Argument> as_given(std::vector<std::vector<std::byte>> bytes);

}  // namespace bitwell::launch
