// The one way to the bytes of memory. Whoever reads or writes them, a lane or an operation under way, does it
// through a port, which tells those who watch who it was, where, how many bytes and in which order; with
// nobody watching it is a copy. Lanes that go each to an address of their own: access.h.
#pragma once
#include <array>
#include <cstring>
#include <optional>

#include "model/machine/event.h"
#include "model/run/context.h"
#include "model/run/parallel/claim.h"
#include "model/run/shared_place.h"
#include "model/run/watch/follow.h"

namespace bitwell::run {

using machine::AccessKind;

class Port {
 public:
  // Of a lane of the warp that executes an instruction.
  Port(const Context& context, int lane, const machine::Order& order)
      : cluster_(context.cta.cluster), context_(&context), lane_(lane), order_(order) {}
  // Of a lane for all of `met`, which have met at the instruction.
  Port(const Context& context, int lane, uint32_t met, const machine::Order& order)
      : cluster_(context.cta.cluster), context_(&context), lane_(lane), met_(met), order_(order) {}
  // Of an operation under way.
  Port(const Cluster& cluster, const machine::Agent& operation, const machine::Order& order)
      : cluster_(cluster), operation_(&operation), order_(order) {}
  // Of one that several lanes have issued together: `issuer`'s part of it.
  Port(const Cluster& cluster, const machine::Agent& operation, int issuer, const machine::Order& order)
      : cluster_(cluster), operation_(&operation), lane_(issuer), order_(order) {}

  // `size` bytes of a region at `address`, which lie inside it. `defined`, if given, gets or states which of
  // their bits were written (as kWritten); without, all that is written counts as written.
  void read(const machine::Region& from, uint64_t address, uint64_t size, std::byte* to,
            uint8_t* defined = nullptr) const {
    told(AccessKind::read, from, address, size);
    copy(to, from.raw_bytes() + (address - from.base()), size);
    if (defined == nullptr) return;
    if (from.raw_defined() != nullptr)
      copy(defined, from.raw_defined() + (address - from.base()), size);
    else
      std::memset(defined, machine::kWritten, size);
  }
  void write(machine::Region& to, uint64_t address, uint64_t size, const std::byte* from,
             const uint8_t* defined = nullptr) const {
    if (heard()) [[unlikely]]
      tell(AccessKind::write, to, address, size, stands(to, address, size, from, defined));
    claimed(AccessKind::write, to, address, size);
    copy(to.raw_bytes() + (address - to.base()), from, size);
    if (to.raw_defined() == nullptr) return;
    if (defined != nullptr)
      copy(to.raw_defined() + (address - to.base()), defined, size);
    else
      std::memset(to.raw_defined() + (address - to.base()), machine::kWritten, size);
  }
  // The same for what lies in pieces: each_piece(visit) calls visit(address, offset, size) for each, `offset`
  // in `to` or `from`.
  template <class Pieces>
  void gather(const machine::Region& from, Pieces each_piece, std::byte* to, uint8_t* defined) const {
    told_of_pieces(AccessKind::read, from, each_piece);
    const std::byte* bytes = from.raw_bytes();
    const uint8_t* known = from.raw_defined();
    const uint64_t base = from.base();
    if (known != nullptr)
      each_piece([=](uint64_t address, uint64_t at, uint64_t size) {
        copy(to + at, bytes + (address - base), size);
        copy(defined + at, known + (address - base), size);
      });
    else
      each_piece([=](uint64_t address, uint64_t at, uint64_t size) {
        copy(to + at, bytes + (address - base), size);
        std::memset(defined + at, machine::kWritten, size);
      });
  }
  template <class Pieces>
  void scatter(machine::Region& to, Pieces each_piece, const std::byte* from, const uint8_t* defined) const {
    told_of_pieces(AccessKind::write, to, each_piece);
    std::byte* bytes = to.raw_bytes();
    uint8_t* known = to.raw_defined();
    const uint64_t base = to.base();
    each_piece([=](uint64_t address, uint64_t at, uint64_t size) {
      copy(bytes + (address - base), from + at, size);
      if (known != nullptr) copy(known + (address - base), defined + at, size);
    });
  }
  // Both at once, with nobody watching: a run of bytes to pieces of shared memory, `offset` in the run.
  // `side_by_side`: where they are all of a run, in whatever order, its first byte.
  template <class Pieces>
  void deal(const machine::Region& from, uint64_t address, uint64_t size, machine::Region& to,
            Pieces each_piece, std::optional<uint64_t> side_by_side) const {
    if (cluster_.grid.parallel != nullptr && !cluster_.grid.parallel->claims.read_at_once(from)) [[unlikely]]
      claim(AccessKind::read, from, address, size, cluster_.grid.parallel->claims);
    const std::byte* source = from.raw_bytes() + (address - from.base());
    std::byte* bytes = to.raw_bytes();
    uint8_t* known = to.raw_defined();
    const uint64_t base = to.base();
    each_piece([=](uint64_t place, uint64_t at, uint64_t length) {
      copy(bytes + (place - base), source + at, length);
    });
    if (known == nullptr) return;
    const uint8_t* defined = from.raw_defined();
    if (defined == nullptr && side_by_side) {
      std::memset(known + (*side_by_side - base), machine::kWritten, size);
      return;
    }
    if (defined == nullptr) {
      each_piece([=](uint64_t place, uint64_t, uint64_t length) { fill(known + (place - base), length); });
      return;
    }
    defined += address - from.base();
    each_piece([=](uint64_t place, uint64_t at, uint64_t length) {
      copy(known + (place - base), defined + at, length);
    });
  }
  // As gather, of `size` bytes of shared memory with nobody watching; returns whether all of them were
  // written.
  template <class Pieces>
  static bool collect(const machine::Region& from, uint64_t size, Pieces each_piece, std::byte* to,
                      std::optional<uint64_t> side_by_side) {
    const std::byte* bytes = from.raw_bytes();
    const uint8_t* known = from.raw_defined();
    const uint64_t base = from.base();
    bool written = true;
    each_piece(
        [=](uint64_t place, uint64_t at, uint64_t length) { copy(to + at, bytes + (place - base), length); });
    if (known != nullptr && side_by_side) return machine::all_written(known + (*side_by_side - base), size);
    if (known != nullptr)
      each_piece([=, &written](uint64_t place, uint64_t, uint64_t length) {
        written = all_written(known + (place - base), length) && written;
      });
    return written;
  }
  // Reads an element of up to 8 bytes, all of them written before, and writes change(element) in its place,
  // at once. Returns false, with nothing done, where they were not.
  template <class Change>
  bool update(machine::Region& at, uint64_t address, size_t size, Change change) const {
    told(AccessKind::update, at, address, size);
    if (!at.is_defined(address - at.base(), size)) {
      if (follow() == nullptr) return false;
      follow()->used_here("what a reduction changes");
    }
    uint64_t old = 0;
    std::byte* bytes = at.raw_bytes() + (address - at.base());
    std::memcpy(&old, bytes, size);
    const uint64_t result = change(old);
    std::memcpy(bytes, &result, size);
    return true;
  }
  // The bytes hold nothing from now on: an operation is to bring them. What is there is no number in any
  // format. Nobody is told: who writes them is, when it does.
  static void empty(machine::Region& at, uint64_t address, uint64_t size) {
    constexpr int kNaN = 0xFF;
    std::memset(at.raw_bytes() + (address - at.base()), kNaN, size);
    at.mark_undefined(address - at.base(), size);
  }
  // The mbarriers that the one at `place` belongs to, for one look at it or one change.
  machine::Mbarriers& mbarriers(AccessKind kind, const SharedPlace& place) const {
    if (cluster_.accesses_watched()) [[unlikely]]
      tell_at(kind, machine::kSharedWindow + place.address, 8, true);
    return place.cta->mbarriers;
  }
  // The same of one look for all those lanes of the warp: where not each access is watched.
  machine::Mbarriers& mbarriers_of_all(uint32_t lanes, const SharedPlace& place) const {
    if (cluster_.accesses_watched()) [[unlikely]]
      tell_look(lanes, machine::kSharedWindow + place.address);
    return place.cta->mbarriers;
  }
  // Who wants to know what a value comes to that counts as never written, or nullptr.
  Follow* follow() const { return cluster_.grid.options.follow; }
  // Rows of so many bytes, the first at `address`, the others so much behind each other.
  struct Rows {
    const machine::Region* at;
    uint64_t address, step;
  };
  static constexpr size_t kMostWritten = machine::ByTurns::kMost - 1;
  // An operation is about to read or write so many. To be called only where accesses are watched, but not
  // each by itself; likewise
  void tell_rows(AccessKind kind, const Rows& rows, uint32_t count, uint64_t size) const;
  // the same of rows that it reads and writes by turns: each in up to kMostWritten places.
  void tell_rows(const Rows& read, std::span<const Rows> written, uint32_t count, uint64_t size) const;
  // Cells of a CTA's tensor memory are about to be reached: `columns` of 4 bytes in each of `lanes` lanes,
  // but for `gap` of them behind the first `before`.
  void cells(AccessKind kind, const Cta& cta, uint32_t lane, uint32_t lanes, uint32_t column,
             uint32_t columns, uint32_t before = 0, uint32_t gap = 0) const {
    if (!cluster_.accesses_watched()) [[likely]]
      return;
    tell_at(kind, machine::kTensorWindow | uint64_t{cta.rank} << 32 | uint64_t{lane} << 16 | column,
            uint64_t{columns} * 4, false, lanes, false, before, gap);
  }

 private:
  // Whether somebody is to hear of an access: who watches them, or, of a lane's, who keeps the time.
  bool heard() const {
    return cluster_.accesses_watched() || (context_ != nullptr && cluster_.counted() != nullptr);
  }
  // memcpy that knows the usual length beforehand: 16 bytes, a unit of a swizzle.
  template <class T>
  static void copy(T* to, const T* from, uint64_t size) {
    if (size == 16)
      std::memcpy(to, from, 16);
    else
      std::memcpy(to, from, size);
  }
  static void fill(uint8_t* known, uint64_t size) {
    if (size == 16)
      std::memset(known, machine::kWritten, 16);
    else
      std::memset(known, machine::kWritten, size);
  }
  static bool all_written(const uint8_t* known, uint64_t size) {
    if (size != 16) return machine::all_written(known, size);
    uint64_t half[2];
    std::memcpy(half, known, 16);
    return (half[0] & half[1]) == ~uint64_t{0};
  }
  void told(AccessKind kind, const machine::Region& at, uint64_t address, uint64_t size) const {
    if (heard()) [[unlikely]]
      tell(kind, at, address, size);
    claimed(kind, at, address, size);
  }
  void claimed(AccessKind kind, const machine::Region& at, uint64_t address, uint64_t size) const {
    if (cluster_.grid.parallel != nullptr) [[unlikely]]
      claim(kind, at, address, size, cluster_.grid.parallel->claims);
  }
  template <class Pieces>
  void told_of_pieces(AccessKind kind, const machine::Region& at, Pieces each_piece) const {
    if (cluster_.grid.parallel != nullptr) [[unlikely]]
      claim_each(kind, at, cluster_.grid.parallel->claims, [&](auto visit) {
        each_piece([&](uint64_t address, uint64_t, uint64_t size) { visit(address, size); });
      });
    if (!cluster_.accesses_watched()) [[likely]]
      return;
    Pieces16 all;
    Alike alike;
    each_piece([&](uint64_t address, uint64_t, uint64_t size) {
      if (all.count == all.pieces.size()) tell(kind, at, all, alike);
      all.pieces[all.count++] = {address, size};
    });
    tell(kind, at, all, alike);
    tell(kind, at, alike);
  }
  struct Piece {
    uint64_t address, size;
  };
  struct Pieces16 {
    std::array<Piece, 16> pieces;
    size_t count = 0;
  };
  // Of as many bytes each, by generic address.
  struct Alike {
    std::array<uint64_t, machine::kLanes> addresses;
    size_t count = 0;
    uint64_t size = 0;
  };
  // Of those that lie side by side as of one access; none are left. What an operation reads may be told of
  // later, by the next.
  static bool is_line(const Pieces16& all);
  void tell(AccessKind kind, const machine::Region& at, Pieces16& pieces, Alike& alike) const;
  void tell(AccessKind kind, const machine::Region& at, Alike& alike) const;
  bool passed_over(const machine::Region& at) const;
  void tell(AccessKind kind, const machine::Region& at, uint64_t address, uint64_t size,
            bool unchanged = false) const;
  void begin(machine::Access& out, AccessKind kind, uint64_t size) const;
  void give_pieces(machine::Access& access, const Rows& rows, uint32_t first, uint32_t count,
                   std::span<uint64_t> out) const;
  void tell_at(AccessKind kind, uint64_t generic_address, uint64_t size, bool mbarrier = false,
               uint32_t rows = 0, bool unchanged = false, uint32_t before_gap = 0, uint32_t gap = 0) const;
  void tell_look(uint32_t lanes, uint64_t generic_address) const;
  // Whether that is there already, all of it written.
  static bool stands(const machine::Region& at, uint64_t address, uint64_t size, const std::byte* bytes,
                     const uint8_t* defined);

  const Cluster& cluster_;
  const Context* context_ = nullptr;  // of a lane
  const machine::Agent* operation_ = nullptr;
  int lane_ = -1;  // of the warp, or the one that issued the operation, if not its place says so
  uint32_t met_ = 0;
  machine::Order order_;
};

}  // namespace bitwell::run
