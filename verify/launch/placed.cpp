#include "verify/launch/placed.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::launch {

// Of a region with the buffer's contents: what else the buffer says of it. What is followed already is
// unwritten behind them.
static void begin(machine::Region& r, const Buffer& b) {
  const bool followed = r.raw_defined() != nullptr;
  r.read_only = b.read_only;
  r.scratch = b.partly_written || (!b.defined && !b.output);
  // What was written of an output that need not be whole is followed, as that of a buffer that starts
  // unwritten is.
  if (!b.defined || b.partly_written || !b.written.empty()) r.follow_written();
  if (!b.defined) r.mark_undefined(0, followed ? b.bytes.size() : r.size());
  if (!b.written.empty()) std::memcpy(r.raw_defined(), b.written.data(), b.written.size());
}

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
    if (b.address) {  // when the others are there
      addresses_.push_back(*b.address);
      continue;
    }
    machine::Region& r = memory.allocate(b.name, b.size());
    if (b.defined) r.mark_all_defined();  // first: what is written is not noted byte by byte
    memory.write(r.base(), b.bytes);
    begin(r, b);
    addresses_.push_back(r.base());
  }
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (launch.buffers[i].address) place_at(launch, i);
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    for (const Pointer& p : launch.buffers[i].pointers) write_pointer(i, p);
}

void Placed::place_at(const Launch& launch, size_t which) {
  const Buffer& b = launch.buffers[which];
  const auto refuse = [&](const std::string& why) {
    throw machine::InputError("buffer '" + b.name + "' at address " + std::to_string(*b.address) + ": " +
                              why);
  };
  const uint64_t end = *b.address + b.size();
  const bool low = *b.address >= machine::kLowestHost && end <= machine::kSharedWindow;
  if (end < *b.address || (*b.address < machine::kBuffers && !low))
    refuse("buffers stand at " + std::to_string(machine::kBuffers) + " and above, or between " +
           std::to_string(machine::kLowestHost) + " and " + std::to_string(machine::kSharedWindow));
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    const uint64_t other = addresses_[i];
    if (i != which && other < *b.address + b.size() && *b.address < other + launch.buffers[i].size())
      refuse("'" + launch.buffers[i].name + "' is there");
  }
  machine::Region& r = memory_.place(b.name, *b.address, b.size());
  memory_.write(r.base(), b.bytes);
  begin(r, b);
}

// The bytes of a pointer, handle or map.
std::vector<std::byte> Placed::bytes_of(const Pointer& p) const {
  const uint64_t address = addresses_[p.buffer];
  if (!p.tensor_map) {
    uint64_t to = address + p.offset;
    if (p.texture) {
      machine::Texture texture = *p.texture;
      texture.address = address;
      to = memory_.add_texture(texture);
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&to);
    return {bytes, bytes + sizeof to};
  }
  machine::TensorMap map = *p.tensor_map;
  map.address += address;
  machine::check(map);
  const machine::TensorMapBytes bytes = machine::encode(map);
  return {bytes.begin(), bytes.end()};
}

void Placed::write_pointer(size_t buffer, const Pointer& pointer) {
  memory_.write(addresses_[buffer] + pointer.at, bytes_of(pointer));
}

std::vector<std::byte> Placed::resolved(std::vector<std::byte> bytes,
                                        const std::vector<Pointer>& pointers) const {
  for (const Pointer& p : pointers) {
    const std::vector<std::byte> value = bytes_of(p);
    std::copy(value.begin(), value.end(), bytes.begin() + static_cast<std::ptrdiff_t>(p.at));
  }
  return bytes;
}

std::vector<std::vector<std::byte>> Placed::arguments(const std::vector<Argument>& arguments) const {
  std::vector<std::vector<std::byte>> out;
  for (const Argument& a : arguments) {
    if (!a.scalar.empty()) {
      out.push_back(resolved(a.scalar, a.pointers));
      continue;
    }
    out.push_back(bytes_of({0, a.buffer, 0, a.tensor_map}));
  }
  return out;
}

void Placed::require_written(const Launch& launch) const {
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    const Buffer& b = launch.buffers[i];
    const machine::Region& r = *memory_.find(addresses_[i], b.size());
    if (!b.output || !b.all_written || b.partly_written || r.is_defined(0, b.size())) continue;
    size_t at = 0;
    while (r.is_defined(at, 1)) ++at;
    throw machine::Fault("byte " + std::to_string(at) + " of output '" + b.name + "' was never written");
  }
}

void Placed::read_back(Launch& launch) const {
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    Buffer& b = launch.buffers[i];
    if (b.output) b.bytes.resize(b.bytes.size() + std::exchange(b.blank, 0));
    if (!b.read_only) memory_.read(addresses_[i], b.bytes);
  }
}

std::vector<bitwell::isa::Argument> as_given(std::vector<std::vector<std::byte>> bytes) {
  std::vector<bitwell::isa::Argument> out;
  for (std::vector<std::byte>& b : bytes) out.push_back({std::move(b), 0});
  return out;
}

}  // namespace bitwell::launch
