// What pages of global memory held before clusters that run side by side wrote there: each is copied when the
// first of them comes, and put back where they turn out to depend on each other.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "model/machine/memory/memory.h"

namespace bitwell::machine {

// Bytes of a region, from its start on, that are one page; not the host's.
inline constexpr uint64_t kClaimPage = 4096;
inline uint64_t claim_pages(const Region& region) { return (region.size() + kClaimPage - 1) / kClaimPage; }

class Before {
 public:
  // Gives every region of the memory its number, as long as this lives: none may come or go meanwhile.
  explicit Before(Memory& memory);
  ~Before();
  Before(const Before&) = delete;
  Before& operator=(const Before&) = delete;

  size_t regions() const { return regions_.size(); }
  const Region& region(size_t number) const { return *regions_[number].region; }
  // To be called by each host thread before it first writes to the page.
  void keep(size_t number, uint64_t page);
  // While no other thread keeps anything: of what is kept the bytes come back that `changed` says of a page,
  // a bit for each; others stand as they are, as a host program may have changed them meanwhile. Or it is
  // what nobody needs any more.
  using Bytes = std::array<uint64_t, kClaimPage / 64>;
  void put_back(const std::function<Bytes(size_t number, uint64_t page)>& changed);
  void forget();
  size_t pages() const { return copies_.size(); }  // that are kept

  // Of a region that nobody has written so far it is enough to know that it is read.
  bool only_read(size_t number) const { return regions_[number].only_read; }
  void set_only_read(size_t number, bool value) { regions_[number].only_read = value; }

 private:
  enum State : uint8_t { untouched, under_way, kept };
  struct OfRegion {
    Region* region;
    bool only_read = false;
    std::unique_ptr<std::atomic<uint8_t>[]> states;  // by page; once one is kept
    std::atomic<std::atomic<uint8_t>*> ready = nullptr;
    explicit OfRegion(Region* r) : region(r) {}
    OfRegion(OfRegion&& o) noexcept : region(o.region) {}
  };
  struct Copy {
    size_t number;
    uint64_t page;
    std::unique_ptr<std::byte[]> bytes;  // and behind them what is defined of them; none: zeros
    bool defined;                        // where that is followed
  };
  std::atomic<uint8_t>& state(OfRegion& of, uint64_t page);
  void copy(size_t number, uint64_t page);
  std::vector<OfRegion> regions_;
  std::vector<Copy> copies_;
  // Of copies that nobody needs any more: of bytes alone, and with what is defined of them.
  std::array<std::vector<std::unique_ptr<std::byte[]>>, 2> spare_;
  std::mutex mutex_;
};

}  // namespace bitwell::machine
