// Which bytes of global memory the clusters of one host thread read, write and add to. Clusters on several
// threads give what they would give one after the other if what one thread writes, no other reads or writes.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/machine/claim/before.h"

namespace bitwell::machine {

// Of one page: a bit for each 4 bytes; of what is written, one for each byte.
struct ClaimedPage {
  std::array<uint64_t, kClaimPage / 4 / 64> read{}, added{};
  std::array<uint64_t, kClaimPage / 64> written{};
  bool kept = false;  // what it was before it changed
};

class Claims {
 public:
  explicit Claims(Before& before) : before_(before), regions_(before.regions()) {}
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  // `size` bytes at an address that lie in the region; where it has no number, nobody else reaches it.
  // Before they are written or added to.
  void read(const Region& at, uint64_t address, uint64_t size) {
    if (at.number != Region::kNoNumber && !at.read_only) note_read(at, address - at.base(), size);
  }
  // The same of many pieces: whether it is enough to say once that the region is read.
  bool read_at_once(const Region& at) {
    if (at.number == Region::kNoNumber || at.read_only) return true;
    if (!before_.only_read(at.number)) return false;
    regions_[at.number].read = true;
    return true;
  }
  // Whether nothing that counts changes the region: whoever writes there meets those that have read it.
  bool unchanged(const Region& at) const {
    return at.read_only || (at.number != Region::kNoNumber && before_.only_read(at.number));
  }
  void write(const Region& at, uint64_t address, uint64_t size) {
    if (at.number != Region::kNoNumber) note_write(at, address - at.base(), size);
  }
  // The same of so many pieces, each so far behind the one before.
  void write(const Region& at, uint64_t address, uint64_t size, uint64_t step, uint64_t count) {
    if (at.number != Region::kNoNumber) note_writes(at, address - at.base(), size, step, count);
  }
  // By an operation of this kind, one bit, whose order does not matter: others of the kind may come between.
  void add(const Region& at, uint64_t address, uint64_t size, uint64_t kind) {
    if (at.number != Region::kNoNumber) note_add(at, address - at.base(), size, kind);
  }
  // Nothing is claimed any more.
  void clear();

  // Of what several threads claim: the region where they depend on each other, if there is one.
  struct Meeting {
    const Region* region = nullptr;
    bool only_read = false;  // it was thought to be only read, so that it is not known which bytes were
  };
  // `additions`: where two of them add to one word too.
  static Meeting meeting(std::span<const std::unique_ptr<Claims>> all, Before& before,
                         bool additions = false);
  // What another one claims becomes this one's, and no longer that one's; where the two depend on each other,
  // or add to one word.
  Meeting take_over(Claims& more);
  // What they claim to write or add to becomes what it was before (Before::put_back).
  static void put_back(std::span<const std::unique_ptr<Claims>> all, Before& before);
  // From what they claim, which regions are only read.
  static void learn(std::span<const std::unique_ptr<Claims>> all, Before& before);

 private:
  struct OfRegion {
    bool read = false, changed = false;
    uint64_t kinds = 0;                                 // of what is added
    std::vector<std::unique_ptr<ClaimedPage>> pages{};  // by their number; once one is claimed
    std::vector<uint32_t> claimed{};                    // their numbers
  };
  ClaimedPage& page(const Region& at, OfRegion& of, uint64_t number);
  ClaimedPage& changed_page(const Region& at, OfRegion& of, uint64_t number);
  void note_read(const Region& at, uint64_t offset, uint64_t size);
  void note_write(const Region& at, OfRegion& of, uint64_t offset, uint64_t size);
  void note_write(const Region& at, uint64_t offset, uint64_t size);
  void note_writes(const Region& at, uint64_t offset, uint64_t size, uint64_t step, uint64_t count);
  void note_add(const Region& at, uint64_t offset, uint64_t size, uint64_t kind);
  // Adds what `page` claims; returns whether it must not be beside what is there.
  static bool join(ClaimedPage& all, const ClaimedPage& page, bool kinds_differ);

  Before& before_;
  std::vector<OfRegion> regions_;
  std::vector<std::unique_ptr<ClaimedPage>> spare_;  // of what is claimed no more
};

}  // namespace bitwell::machine
