#include "verify/driver/core/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "model/machine/where.h"
#include "verify/driver/core/sizes.h"

namespace bitwell::driver {
namespace {

using machine::hex;

constexpr uint64_t kPage = 4096;
// Addresses that only the model gives: below every mapping of the host's, but for programs at fixed
// addresses.
constexpr uint64_t kOurs = machine::kSharedWindow, kOursEnd = uint64_t{64} << 40;

// Of the host's and of managed memory, with the guard behind it.
uint64_t mapped_bytes(uint64_t bytes) { return plus(padded(bytes, kPage), machine::kGuard); }

// What the program reads of it, nobody knows: what kernels store there need not be whole, as padding is not.
void need_not_be_whole(isa::Context& context, uint64_t address) {
  machine::Region& r = *context.memory().find(address, 0);
  r.follow_written();
  r.scratch = true;
}

}  // namespace

Block& DeviceMemory::allocate(uint64_t bytes, Kind kind, unsigned flags, uint64_t most, const void* owner) {
  if (bytes == 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
  if (bytes > most || (kind == Kind::device && device_bytes_ > most - bytes))
    throw Refused(CUDA_ERROR_OUT_OF_MEMORY, std::to_string(bytes) + " bytes are asked for, of " +
                                                std::to_string(most) + " the program has " +
                                                std::to_string(device_bytes_) + " already");
  Block b;
  b.bytes = bytes;
  b.kind = kind;
  b.flags = flags;
  b.owner = owner;
  b.id = ++count_;
  b.name = (kind == Kind::device ? "device" : kind == Kind::host ? "host" : "managed") + std::to_string(b.id);
  if (kind == Kind::device) {
    try {
      b.address = context_.allocate(b.name, bytes).address;
    } catch (const machine::InputError& e) {  // of this machine: the program may take less
      throw Refused(CUDA_ERROR_OUT_OF_MEMORY, e.what());
    }
  } else {
    // The host puts mappings side by side: nothing of ours stands in the guard behind this one.
    b.mapped =
        mmap(nullptr, mapped_bytes(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b.mapped == MAP_FAILED) throw Refused(CUDA_ERROR_OUT_OF_MEMORY);
    if (mprotect(b.mapped, padded(bytes, kPage), PROT_READ | PROT_WRITE) != 0) {
      munmap(b.mapped, mapped_bytes(bytes));
      throw Refused(CUDA_ERROR_OUT_OF_MEMORY);
    }
    b.address = context_.adopt(b.name, b.mapped, bytes).address;
  }
  need_not_be_whole(context_, b.address);
  bytes_ += bytes;
  if (kind == Kind::device) device_bytes_ += bytes;
  gone_.erase(b.address);
  return all_[b.address] = std::move(b);
}

Block& DeviceMemory::add_host(void* host, uint64_t bytes, unsigned flags, const void* owner) {
  const auto address = reinterpret_cast<uint64_t>(host);
  if (host == nullptr || bytes == 0 || bytes > kOursEnd) throw Refused(CUDA_ERROR_INVALID_VALUE);
  const auto next = all_.lower_bound(address);
  if (find(address) != nullptr || (next != all_.end() && next->first < address + bytes))
    throw Refused(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  Block b;
  b.id = ++count_;
  b.name = "registered" + std::to_string(b.id);
  b.address = address;
  b.bytes = bytes;
  b.kind = Kind::registered;
  b.flags = flags;
  b.owner = owner;
  context_.adopt(b.name, host, bytes);
  need_not_be_whole(context_, address);
  gone_.erase(address);
  return all_[address] = std::move(b);
}

void DeviceMemory::release(uint64_t address, bool host) {
  const auto at = all_.find(address);
  if (at == all_.end()) {
    if (const auto was = gone_.find(address); was != gone_.end()) {
      const std::string why = "'" + was->second.name + "' was freed before";
      // Objects of the program's that outlive the device free their memory once more.
      if (was->second.with_all) throw Refused(CUDA_ERROR_INVALID_VALUE, why);
      throw Mistake(CUDA_ERROR_INVALID_VALUE, why);
    }
    const Block* const inside = find(address);
    throw Mistake(CUDA_ERROR_INVALID_VALUE,
                  inside == nullptr ? "no memory was allocated at " + hex(address)
                                    : hex(address) + " is byte " + std::to_string(address - inside->address) +
                                          " of '" + inside->name + "', not its start");
  }
  Block& b = at->second;
  if (b.kind == Kind::registered || host != (b.kind == Kind::host))
    throw Mistake(CUDA_ERROR_INVALID_VALUE,
                  "'" + b.name + "' was not allocated by the function that belongs to this one");
  drop(at, false);
}

void DeviceMemory::drop(std::map<uint64_t, Block>::iterator at, bool with_all) {
  const Block& b = at->second;
  context_.free({b.address, b.bytes, 0});
  if (b.mapped != nullptr) munmap(b.mapped, mapped_bytes(b.bytes));
  if (b.kind != Kind::registered) bytes_ -= b.bytes;
  if (b.kind == Kind::device) device_bytes_ -= b.bytes;
  gone_[b.address] = {b.name, with_all};
  all_.erase(at);
}

void DeviceMemory::release_all(const void* owner) {
  for (auto at = all_.begin(); at != all_.end();) {
    const auto next = std::next(at);
    if (at->second.owner == owner) drop(at, true);
    at = next;
  }
}

void DeviceMemory::remove_host(const void* host) {
  const auto at = all_.find(reinterpret_cast<uint64_t>(host));
  if (at == all_.end() || at->second.kind != Kind::registered)
    throw Refused(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  drop(at, false);
}

Block* DeviceMemory::find(uint64_t address) {
  auto at = all_.upper_bound(address);
  if (at == all_.begin()) return nullptr;
  Block& b = (--at)->second;
  return address - b.address < b.bytes ? &b : nullptr;
}

std::optional<Block> DeviceMemory::seen(uint64_t address) {
  if (const Block* const b = find(address); b != nullptr) return *b;
  if (address < machine::kModuleGlobals || address >= machine::kBuffers) return std::nullopt;
  const machine::Region* const variable = context_.memory().find(address, 1);
  if (variable == nullptr) return std::nullopt;
  Block out;
  out.name = variable->name();
  out.address = variable->base();
  out.bytes = variable->size();
  return out;
}

const Block* DeviceMemory::nearest(uint64_t address) const {
  const auto above = all_.upper_bound(address);
  const Block* const next = above == all_.end() ? nullptr : &above->second;
  const Block* const before = above == all_.begin() ? nullptr : &std::prev(above)->second;
  if (next == nullptr || before == nullptr) return next == nullptr ? before : next;
  const uint64_t end = before->address + before->bytes;
  return address < end || address - end < next->address - address ? before : next;
}

bool DeviceMemory::on_device(uint64_t address, uint64_t bytes, const char* what) {
  if (address == 0) throw Mistake(CUDA_ERROR_INVALID_VALUE, std::string(what) + " is NULL");
  if (const Block* const b = find(address); b != nullptr) {
    if (bytes <= b->bytes - (address - b->address)) return true;
    throw Mistake(CUDA_ERROR_INVALID_VALUE, std::string(what) + " is " + std::to_string(bytes) +
                                                " bytes at byte " + std::to_string(address - b->address) +
                                                " of '" + b->name + "', which has " +
                                                std::to_string(b->bytes));
  }
  if (address < kOurs || address >= kOursEnd) return false;
  if (bytes > kOursEnd - address) throw Refused(CUDA_ERROR_INVALID_VALUE);
  // A variable of a module, which the context knows.
  std::byte one{};
  try {
    context_.read({address, 1, 0}, {&one, 1});
    context_.read({address + bytes - 1, 1, 0}, {&one, 1});
    return true;
  } catch (const machine::InputError&) {
  }
  const auto was = gone_.upper_bound(address);
  throw Mistake(CUDA_ERROR_INVALID_VALUE,
                std::string(what) + " is at " + hex(address) + ", where no memory is allocated" +
                    (was != gone_.begin() && address - std::prev(was)->first < (uint64_t{1} << 20)
                         ? " ('" + std::prev(was)->second.name + "' was freed)"
                         : ""));
}

void DeviceMemory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return;
  const bool to_device = on_device(to, bytes, "the destination"),
             from_device = on_device(from, bytes, "the source");
  auto* const host_to = reinterpret_cast<std::byte*>(to);
  auto* const host_from = reinterpret_cast<const std::byte*>(from);
  if (!to_device && !from_device) {
    std::memmove(host_to, host_from, bytes);
  } else if (!to_device) {
    context_.read({from, bytes, 0}, {host_to, bytes});
  } else if (!from_device) {
    context_.write({to, bytes, 0}, {host_from, bytes});
  } else {
    std::vector<std::byte> all(bytes);
    context_.read({from, bytes, 0}, all);
    const machine::Region* const source = context_.memory().find(from, bytes);
    const bool written = source == nullptr || source->is_defined(from - source->base(), bytes);
    std::vector<bool> undefined;
    if (!written) {
      undefined.resize(bytes);
      for (uint64_t i = 0; i < bytes; ++i) undefined[i] = !source->is_defined(from - source->base() + i, 1);
    }
    context_.write({to, bytes, 0}, all);
    for (uint64_t i = 0; i < undefined.size();) {
      uint64_t end = i;
      while (end < bytes && undefined[end] == undefined[i]) ++end;
      if (undefined[i]) context_.mark(to + i, end - i, false);
      i = end;
    }
  }
}

std::string DeviceMemory::unwritten(uint64_t to, uint64_t from, uint64_t bytes) {
  const Block *const block = find(from), *const read = find(to);
  // What the host reaches, pinned or managed, it may read.
  if (bytes == 0 || block == nullptr || (read != nullptr && read->kind == Kind::device)) return "";
  const machine::Region* const source = context_.memory().find(from, bytes);
  if (source == nullptr || source->is_defined(from - source->base(), bytes)) return "";
  uint64_t count = 0, first = 0;
  for (uint64_t i = bytes; i-- > 0;)
    if (!source->is_defined(from - source->base() + i, 1)) ++count, first = i;
  return std::to_string(count) + " of the " + std::to_string(bytes) + " bytes that it reads of '" +
         block->name + "' were never written, or hold what comes of such, the first at byte " +
         std::to_string(from - block->address + first);
}

void DeviceMemory::fill(uint64_t to, uint32_t value, unsigned size, uint64_t count) {
  const uint64_t bytes = times(count, size);
  if (bytes == 0) return;
  if (to % size != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
  if (!on_device(to, bytes, "the destination"))
    throw Mistake(CUDA_ERROR_INVALID_VALUE, "the destination is memory of the host that was not registered");
  std::vector<std::byte> piece(std::min<uint64_t>(bytes, uint64_t{1} << 20));
  for (uint64_t i = 0; i < piece.size(); i += size) std::memcpy(piece.data() + i, &value, size);
  for (uint64_t at = 0; at < bytes; at += piece.size()) {
    const uint64_t part = std::min<uint64_t>(piece.size(), bytes - at);
    context_.write({to + at, part, 0}, {piece.data(), part});
  }
}

}  // namespace bitwell::driver
