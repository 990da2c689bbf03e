#include "verify/launch/placed.h"

#include <utility>

namespace bitwell::verify {

Placed::Placed(machine::Memory& memory, const Launch& launch, const std::map<size_t, uint64_t>& there)
    : memory_(memory) {
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    const Buffer& b = launch.buffers[i];
    if (const auto at = there.find(i); at != there.end()) {
      machine::Region* region = memory.find(at->second, b.size());
      if (region == nullptr)
        throw machine::InputError("buffer '" + b.name + "' has " + std::to_string(b.size()) +
                                  " bytes, more than the one that it is to be");
    region->read_only = b.read_only;
      addresses_.push_back(at->second);
      continue;
    }
    machine::Region& r = memory.allocate(b.name, b.size());
    memory.write(r.base(), b.bytes);
    if (b.defined)
      r.mark_all_defined();
    else
      r.mark_undefined(0, b.bytes.size());
    r.read_only = b.read_only;
    r.scratch = !b.defined && !b.output;
    addresses_.push_back(r.base());
  }
}

std::vector<std::vector<std::byte>> Placed::arguments(const Launch& launch) const {
  std::vector<std::vector<std::byte>> out;
  for (const Argument& a : launch.arguments) {
    if (!a.scalar.empty()) {
      out.push_back(a.scalar);
      continue;
    }
    const uint64_t address = addresses_[a.buffer];
    if (a.tensor_map) {
      machine::TensorMap map = *a.tensor_map;
      map.address += address;
      machine::check(map);
      const machine::TensorMapBytes bytes = machine::encode(map);
      out.emplace_back(bytes.begin(), bytes.end());
      continue;
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&address);
    out.emplace_back(bytes, bytes + sizeof address);
  }
  return out;
}

void Placed::read_back(Launch& launch, bool all_written) const {
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    Buffer& b = launch.buffers[i];
    const machine::Region& r = *memory_.find(addresses_[i], b.size());
    if (all_written && b.output && !r.is_defined(0, b.size())) {
      size_t at = 0;
      while (r.is_defined(at, 1)) ++at;
      throw machine::Fault("byte " + std::to_string(at) + " of output '" + b.name + "' was never written");
    }
    if (b.output) b.bytes.resize(b.bytes.size() + std::exchange(b.blank, 0));
    if (!b.read_only) memory_.read(addresses_[i], b.bytes);
  }
}

}  // namespace bitwell::verify
