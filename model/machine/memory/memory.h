// Bytes that know whether they were written, and the address windows they are seen through.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/machine/memory/zero_bytes.h"
#include "model/machine/texture.h"

namespace bitwell::machine {

class Heap;
class Snapshot;

// Generic 64-bit address windows. Our own choice (PTX leaves them open); disjoint, and 0 is in none of them.
// A shared address is rank << kRankShift | offset, as shared::cluster addresses are on hardware.
inline constexpr int kRankShift = 24;
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 40;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << 40;
inline constexpr uint64_t kConstWindow = uint64_t{3} << 40;
inline constexpr uint64_t kParamWindow = uint64_t{4} << 40;
// Of events alone, as tensor memory has no generic addresses: rank << 32 | lane << 16 | column.
inline constexpr uint64_t kTensorWindow = uint64_t{5} << 40;
inline constexpr uint64_t kTextureHandles = uint64_t{6} << 40;  // of textures and surfaces: no addresses
inline constexpr uint64_t kWindowSize = uint64_t{1} << 32;
inline constexpr uint64_t kModuleGlobals = uint64_t{8} << 40;  // .global variables of a module
inline constexpr uint64_t kBuffers = uint64_t{16} << 40;       // buffers of a launch
// Below the windows there is nothing but what is adopted from a host program that stands low; no host has
// anything nearer to 0 than this.
inline constexpr uint64_t kLowestHost = uint64_t{1} << 16;
inline bool is_shared(uint64_t generic) { return generic >= kSharedWindow && generic < kLocalWindow; }
inline bool is_global(uint64_t generic) {
  return generic >= kModuleGlobals || (generic >= kLowestHost && generic < kSharedWindow);
}

// Definedness of a byte of memory: a mask of its bits that were written.
inline constexpr uint8_t kWritten = 0xFF;
// Whether every bit of `length` bytes was.
inline bool all_written(const uint8_t* defined, uint64_t length) {
  uint64_t all = ~uint64_t{0};
  uint64_t i = 0;
  for (; i + 8 <= length; i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, defined + i, 8);
    all &= eight;
  }
  for (; i < length; ++i) all &= ~uint64_t{0xFF} | defined[i];
  return all == ~uint64_t{0};
}

// No object starts nearer than this behind the end of another, so that an overrun of one reaches no other.
inline constexpr uint64_t kGuard = uint64_t{1} << 20;

// A run of bytes at an address, with one definedness byte for each byte unless all are known written.
class Region {
 public:
  Region(std::string name, uint64_t base, uint64_t size, bool defined);
  // Of bytes that are the host's and outlive it: they are read and written where they stand, and their
  // address is the host's. Nothing is padded.
  Region(std::string name, std::span<std::byte> host, bool defined);

  // All of a region, as it was; of the host's bytes a copy.
  struct Saved {
    std::string name;
    uint64_t base, size;
    bool read_only, scratch;
    ZeroBytes::Saved bytes, defined, emptied;
  };
  Saved save();
  // One that begins as it, with bytes of its own.
  explicit Region(const Saved& saved);
  // Makes this one what it was, the host's bytes too. ModelBug where it is another's.
  void restore(const Saved& saved);

  const std::string& name() const { return name_; }
  uint64_t base() const { return base_; }
  uint64_t size() const { return size_; }
  bool contains(uint64_t address, uint64_t length) const {
    return address >= base_ && address - base_ <= size_ && length <= size_ - (address - base_);
  }
  // The bytes themselves, and which of their bits were written (nullptr: all). Kernels reach them by a port
  // alone (run/port.h); who else may stands in verify/test/tree/one_port_test.sh.
  std::byte* raw_bytes() { return host_ != nullptr ? host_ : bytes_.data(); }
  const std::byte* raw_bytes() const { return host_ != nullptr ? host_ : bytes_.data(); }
  uint8_t* raw_defined() { return reinterpret_cast<uint8_t*>(defined_.data()); }
  const uint8_t* raw_defined() const { return reinterpret_cast<const uint8_t*>(defined_.data()); }
  // Of one of them, or of the byte behind the last.
  uint64_t address_of(const std::byte* byte) const {
    return base_ + static_cast<uint64_t>(byte - raw_bytes());
  }
  bool is_defined(uint64_t offset, uint64_t length) const;
  void mark_defined(uint64_t offset, uint64_t length);
  void mark_undefined(uint64_t offset, uint64_t length);
  void mark_all_defined() { defined_ = ZeroBytes(); }
  // Of the host's, inside it; what is put there is defined.
  void put(uint64_t address, std::span<const std::byte> bytes);
  void get(uint64_t address, std::span<std::byte> bytes) const;
  // From now on what is written there is followed; all of it counts as written where it was not so far.
  void follow_written();
  // Whether its bytes are the host's.
  bool adopted() const { return host_ != nullptr; }
  // Nothing lies in it from now on; its bytes stay for those who hold them.
  void close() { size_ = 0; }
  // From now on bytes that mark_undefined takes from are remembered as touched.
  void remember_touched() { emptied_ = ZeroBytes(size_); }
  // Adds to `all`, a byte for each of the region's, 1 where it was written or marked undefined. For a region
  // that follows what was written and remembers.
  void add_touched(std::span<uint8_t> all) const;

  bool read_only = false;
  bool scratch = false;  // what is stored there need not be whole: only a read that matters is reported
  // Among those of the memory while clusters run side by side (claim/before.h); else none.
  static constexpr uint32_t kNoNumber = UINT32_MAX;
  uint32_t number = kNoNumber;

 private:
  std::string name_;
  uint64_t base_;
  uint64_t size_;
  std::byte* host_ = nullptr;
  ZeroBytes bytes_;  // padded, so that a wide load of the last byte stays inside
  ZeroBytes defined_;
  ZeroBytes emptied_;  // 1 where mark_undefined was, as far as that is remembered
};

// Where the variables of a module start.
struct ModulePlace {
  uint64_t globals = kModuleGlobals;  // of .global ones, as global addresses
  uint64_t constants = kConstWindow;  // of .const ones, as generic addresses
};

// Global memory, which outlives launches: regions at addresses that never change, far enough apart that an
// overrun of one never reaches another, nor what is freed anything that comes later; but for what is adopted,
// which stands where the host has it.
class Memory {
 public:
  Memory() = default;
  // One that begins as another was; they share the pages that neither writes.
  explicit Memory(const Snapshot& snapshot);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  // All that is in it, to come back to: it costs what was touched so far, and what is touched from then on
  // its pages a second time. Neither may be called while a launch runs. As ZeroBytes::save.
  Snapshot snapshot();
  // Regions that were there then stay where they are in the host's memory.
  void restore(const Snapshot& snapshot);

  // A buffer of `size` bytes on a 256-byte boundary, like cudaMalloc, and `behind` bytes behind it. Undefined
  // until written.
  Region& allocate(const std::string& name, uint64_t size, uint64_t behind = 0);
  // The host's bytes as a buffer, at any boundary, where they stand: kernels read and write them in place,
  // and nothing else is near by as kGuard has it. They stay until the buffer is freed; a snapshot copies
  // them. InputError for bytes of which another buffer has some, for none, and for addresses that are our
  // own.
  Region& adopt(const std::string& name, std::byte* host, uint64_t size, bool written = true);
  // Bytes of one buffer count as written from now on, or as not.
  void mark(uint64_t address, uint64_t size, bool written);
  // Ends what allocate or adopt gave. InputError for an address that starts no such buffer.
  void free(uint64_t address);
  // Ends what allocate gave within a launch, which may still refer to the region: nothing is in it from now
  // on. `by`: who freed it, for reports.
  void retire(uint64_t address, const std::string& by);
  // When the launch is over: nobody holds such regions any more.
  void drop_retired() { retired_.clear(); }
  // What device code's malloc takes from; it outlives launches too.
  Heap& heap();
  // Between the host and a run of bytes in one buffer; InputError for an address that is in none.
  void write(uint64_t address, std::span<const std::byte> bytes);
  void read(uint64_t address, std::span<std::byte> bytes) const;

  // Where the variables of the next module go; each has room for kMaxConstant bytes of constants. InputError
  // where there is no room left.
  ModulePlace next_module() const;
  // The same of one that has constants elsewhere, or none.
  ModulePlace next_globals() const { return {next_global_, kConstWindow}; }
  // A variable of a module at an address that next_module gave, now or when the module was there before.
  // Zeroed and defined. ModelBug where something is.
  Region& place(const std::string& name, uint64_t base, uint64_t size);
  // Ends what place gave.
  void remove(uint64_t base);
  // To be called when a module's variables are placed: the next one gets others' addresses. `constants`:
  // whether it has any.
  void end_module(bool constants = true);

  // The region holding [address, address + length), or nullptr.
  Region* find(uint64_t address, uint64_t length);
  template <class Visit>
  void each_region(Visit visit) {
    for (const auto& region : regions_) visit(*region);
  }
  // All of them, by address.
  std::vector<const Region*> regions() const;
  // The region that holds a byte of the host's, or nullptr.
  const Region* owner(const std::byte* byte) const;
  // A handle for the object, as tex or suld take it, and the object of a handle, or nullptr.
  uint64_t add_texture(const Texture& texture);
  // From now on the handle has no object. InputError where it had none.
  void remove_texture(uint64_t handle);
  const Texture* texture(uint64_t handle) const;

  // Where `address` lies, for a message: "64 bytes into 'x' of 64 bytes", "4 bytes before 'y' of 128 bytes",
  // both where both are near, or how far the nearest is.
  std::string describe(uint64_t address) const;
  // The name of the region there, or of the nearest one; empty where none is near.
  std::string nearest(uint64_t address) const;

  // What was there and is no more.
  struct Freed {
    std::string name;
    uint64_t base, size;
    std::string by{};  // " at PTX line 20", where that is known
  };

 private:
  Region* below(uint64_t address) const;  // the one that starts nearest at or below, or nullptr
  // The region that starts there, which is none of the memory's from now on; nullptr where none does.
  std::unique_ptr<Region> take(uint64_t base);
  Region& insert(std::unique_ptr<Region> region);
  void remember(Freed freed);
  std::map<uint64_t, Freed>::iterator forget_freed(std::map<uint64_t, Freed>::iterator at);
  std::vector<std::unique_ptr<Region>> regions_;  // by base
  std::map<uint64_t, Freed> freed_;               // by base: the last ones
  std::deque<uint64_t> freed_order_;              // their bases, each once
  std::vector<std::unique_ptr<Region>> retired_;
  std::shared_ptr<Heap> heap_;                      // once it is asked for
  std::unordered_map<uint64_t, Texture> textures_;  // by handle
  uint64_t last_texture_ = kTextureHandles;
  uint64_t next_ = kBuffers;
  uint64_t next_global_ = kModuleGlobals;     // of a module
  uint64_t behind_globals_ = kModuleGlobals;  // what the one behind may have
  uint64_t modules_ = 0;                      // that have constants
};

}  // namespace bitwell::machine
