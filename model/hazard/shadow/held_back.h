// Accesses that no shadow is told of, as nothing can come of them: those of a cluster of one CTA, by its
// lanes alone, to bytes that since all threads met last only one thread has reached, or that were only read.
// When all threads meet again they are forgotten: each is before whatever comes. Until then they are kept,
// and are told to the shadow when somebody else comes to the same bytes.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/hazard/shadow/clusters.h"
#include "model/machine/event.h"
#include "model/machine/memory/memory.h"
#include "model/machine/row.h"

namespace bitwell::hazard {

// Whether all lanes reach bytes side by side, the first lane's first.
inline bool in_row(const machine::Access& a) {
  if (a.consecutive) return true;
  if (a.lanes != ~0u || a.addresses[1] != a.addresses[0] + a.bytes) return false;
  uint64_t other = 0, expected = a.addresses[0];
  for (uint32_t i = 0; i < machine::kLanes; ++i, expected += a.bytes) other |= a.addresses[i] ^ expected;
  return other == 0;
}

class HeldBack {
 public:
  // At most about so many accesses are kept of a cluster.
  explicit HeldBack(size_t most = size_t{1} << 12) : most_(most) {}
  // From now on it is of another cluster. `global`: of global memory too, else of shared memory alone.
  void begin(bool global);

  enum class Reached : uint8_t {
    kept,    // it need not be told
    fresh,   // it is to be told; no access that is kept is of the same bytes
    shared,  // likewise; but what is kept has to be told before it
  };
  // Lanes of the cluster's CTA reach memory.
  Reached reach(const machine::Access& a, const Cluster& c);
  // The same of such an access, if it need not be told and each line that it reaches is one of threads side
  // by side; else false, and it may be as if nothing were done.
  bool keep(const machine::Row& row, const Cluster& c);
  // From now on of shared memory alone.
  void leave_global() { of_global_ = false; }
  // Whether one of the pages of global memory that the lanes reach was written.
  bool written(const machine::Access& a);
  // Calls visit(number, shift) for each page that the lanes reach: its cells had at most 1 << shift bytes,
  // had the shadow been told of all.
  template <class Visit>
  void each_page(const machine::Access& a, Visit visit) {
    uint64_t last = UINT64_MAX;
    for (uint32_t rest = a.lanes; rest != 0; rest &= rest - 1) {
      const uint64_t address = a.addresses[static_cast<size_t>(std::countr_zero(rest))];
      for (uint64_t page = address / kPageBytes; page <= (address + a.bytes - 1) / kPageBytes; ++page) {
        if (page == last) continue;
        last = page;
        if (const Page* const there = find(page * kPageBytes); there != nullptr) visit(page, there->shift);
      }
    }
  }
  // Whether so much is kept that it should be told now, and no more of this cluster kept.
  bool full() const { return kept_.size() >= most_ || lists_.size() >= kMostListed * most_; }
  void stop() { stopped_ = true; }
  // What a warp knows, or its time, is about to be another one.
  void changes(int warp) { moment_of_[static_cast<size_t>(warp)] = 0; }
  // A warp comes to a barrier of its CTA that waits for so many threads; 0: for all.
  void arrived(uint64_t barrier, uint32_t amount) { partial_[barrier] = partial_[barrier] || amount != 0; }
  // All have come there: where these are all threads, what is kept is forgotten.
  void met(uint64_t barrier, const Cluster& c);
  // Whether anything of the cluster was forgotten; or is kept, so that the shadow has not been told of all.
  bool forgot() const { return forgot_; }
  bool untold() const { return forgot_ || !kept_.empty(); }

  // Calls tell(access, time, known) for each that is kept: who it was, when, and what its warp knew. None is
  // kept any more then.
  template <class Tell>
  void tell_all(Tell tell) {
    std::array<uint64_t, machine::kLanes> addresses{};
    for (const Kept& k : kept_) {
      const Moment& m = moments_[k.moment];
      tell(access_of(k, m, addresses), m.time, m.known);
    }
    forget_kept();
  }
  // Of the cluster, at most.
  size_t bytes() const;
  size_t touched() const { return (shared_.count + global_.count) * kPageBytes; }

 private:
  static constexpr uint64_t kPageBytes = ShadowPage::kPageBytes;
  static constexpr int kPageShift = std::countr_zero(kPageBytes);
  static constexpr size_t kMostListed = 4;  // addresses that no pattern has, for each access

  // When a warp did something, and what its lanes knew then.
  struct Moment {
    int warp = 0;
    uint32_t time = 1;
    OfLanes<Known> known;
  };
  struct Kept {
    uint64_t address;  // of lane 0, or where in lists_ those of its lanes are
    uint64_t apart;    // from lane to lane, if not listed
    uint32_t lanes, met;
    uint32_t moment;
    int ptx_line;
    uint32_t bytes;
    machine::AccessKind kind;
    bool listed;
    // For emplace_back() by clang 14, which makes no aggregate from parentheses.
    Kept(uint64_t of, uint64_t by, uint32_t by_lanes, uint32_t met_by, uint32_t at, int line, uint32_t each,
         machine::AccessKind how, bool in_list)
        : address(of),
          apart(by),
          lanes(by_lanes),
          met(met_by),
          moment(at),
          ptx_line(line),
          bytes(each),
          kind(how),
          listed(in_list) {}
  };
  // Who has reached a piece of memory since all threads met last: numbers of threads from 1 on, or kSeveral.
  using Who = uint32_t;  // the meeting, a writer, a reader
  static constexpr uint32_t kBits = 11, kSeveral = (1u << kBits) - 1, kBoth = (1u << 2 * kBits) - 1;
  static constexpr uint32_t kMostMeetings = (1u << (32 - 2 * kBits)) - 1;
  static constexpr int kUsualShift = 2;
  // The same of kLineBytes, while threads side by side have reached it, each as many bytes of it: the
  // meeting, the first thread, the bytes of each, and whether they have read, and have written. Else its
  // pieces have it.
  using Line = uint32_t;
  static constexpr uint64_t kLineBytes = 128;
  static constexpr int kLineShift = std::countr_zero(kLineBytes);
  static constexpr Line kPieces = 1, kRead = 2, kWritten = 4;
  static constexpr uint64_t kMostOfRow = 64;  // bytes of a thread
  static constexpr int kBytesAt = 3, kThreadAt = 6;
  // Of pieces: that its page knows of accesses that fine.
  static constexpr Line kPageKnows = 1u << 17;
  static constexpr Line kRow = (1u << (kThreadAt + kBits)) - (1u << kBytesAt);
  // Of kPageBytes.
  struct Page {
    uint64_t number = 0;
    uint32_t cluster = 0;  // that it is of
    int8_t shift = ShadowPage::kCoarsest;
    bool written = false;  // of global memory: of shared memory nobody asks
  };
  struct Memory {
    std::vector<Page> pages;
    std::vector<Line> lines;  // by page
    std::vector<Who> who;     // by page
    size_t count = 0;         // pages of this cluster
  };
  // Of the addresses of lanes, if each is as far behind the one of the lane before.
  struct Even {
    bool holds;
    uint64_t apart, of_lane_0;  // from one to the next
    int shift;                  // of `apart`, if it is a power of two within a line

    // At most, of lanes in turn from that address on.
    uint32_t in_line(uint64_t address) const {
      return static_cast<uint32_t>((kLineBytes - 1 - address % kLineBytes) >> shift) + 1;
    }
  };
  static Even even(const machine::Access& a, bool row);
  // Where a page of global memory is.
  struct Slot {
    uint64_t number = 0;
    uint32_t page = 0;
    uint32_t cluster = 0;  // 0: none
  };
  struct Place {
    Memory* memory;
    uint32_t page;
  };

  static uint32_t thread_of(int warp, uint32_t lane) {
    return static_cast<uint32_t>(warp) * machine::kLanes + lane + 1;
  }
  static Who at(uint32_t meeting, Who w) { return w >> 2 * kBits == meeting ? w & kBoth : 0; }
  // Whether somebody else was there since that meeting, one of both writing.
  template <bool kWrites>
  static bool clash(uint32_t meeting, Who& w, uint32_t thread);
  template <bool kWrites>
  bool clash_of_lanes(const machine::Access& a);
  // Of lanes that reach one piece each.
  template <bool kWrites>
  bool clash_of_pieces(const machine::Access& a, const Even& even);
  // The piece, whose line is one of pieces from now on; nullptr: it is not watched.
  template <bool kWrites>
  Who* begun_piece(uint64_t address);
  // Of all lanes side by side, from the begin of a line on.
  template <bool kWrites>
  bool clash_of_lines(const machine::Access& a);
  // Where the line at that address is, of which threads side by side reach 1 << shift bytes each.
  struct LinePlace {
    Memory* memory;
    size_t line;
  };
  LinePlace begun_line(uint64_t address, int shift, bool writes);
  // Whether that line is of those threads alone, and then they have reached it.
  bool row_reaches(Line& line, Line row, bool writes) const {
    const Line does = writes ? kWritten : kRead;
    if (line >> 2 * kBits != meeting_)
      line = meeting_ << 2 * kBits | row | does;
    else if ((line & (kRow | kPieces)) == row)
      line |= does;
    else
      return false;
    return true;
  }
  static Line row_of(int warp, uint32_t lane, int shift) {
    return thread_of(warp, lane) << kThreadAt | static_cast<Line>(shift) << kBytesAt;
  }
  // Marked as reached by several; whether anybody was there.
  bool anybody(const machine::Access& a);
  // Calls visit(who, lane) for the pieces that the lanes reach.
  template <class Visit>
  void each(const machine::Access& a, Visit visit);
  bool watched(uint64_t address) const {
    return address - machine::kSharedWindow < machine::kWindowSize ||
           (of_global_ && machine::is_global(address));
  }
  Place place_of(uint64_t address) {
    const uint64_t offset = address - machine::kSharedWindow;
    if (offset >= machine::kWindowSize) return {&global_, global_page(address / kPageBytes)};
    const auto page = static_cast<uint32_t>(offset / kPageBytes);
    if (page >= shared_.pages.size() || shared_.pages[page].cluster != cluster_) [[unlikely]]
      begin_shared(page);
    return {&shared_, page};
  }
  void begin_shared(uint32_t page);
  uint32_t global_page(uint64_t number);
  // The page, if it is of this cluster already.
  const Page* find(uint64_t address);
  // Where the page of global memory is, or may be put.
  Slot& slot_of(uint64_t number);
  void grow(Memory& memory, size_t pages) const;
  // From now on the line's pieces have who has reached it.
  void by_pieces(Memory& memory, size_t line) const {
    if (const Line l = memory.lines[line]; l >> 2 * kBits != meeting_ || (l & kPieces) == 0) [[unlikely]]
      make_pieces(memory, line);
  }
  void make_pieces(Memory& memory, size_t line) const;
  void keep(const machine::Access& a, const Warp* warp, const Even& even);
  // The number of the moment that it is for the warp, from 0 on.
  uint32_t moment(int warp, const Warp* of);
  void forget_kept();
  void next_meeting();
  machine::Access access_of(const Kept& k, const Moment& m,
                            std::array<uint64_t, machine::kLanes>& addresses) const;

  size_t most_;
  bool of_global_ = false, forgot_ = false, stopped_ = false;
  std::array<uint32_t, 3> cta_{};
  int shift_ = kUsualShift, finest_ = kUsualShift;  // a piece has 1 << shift_ bytes; accesses had as few
  bool clashed_ = false;                            // since all met last
  uint32_t meeting_ = 0, cluster_ = 0;
  Memory shared_, global_;
  std::vector<Slot> slots_ = std::vector<Slot>(64);  // of pages by their hash, at most half of them used
  uint32_t last_page_ = 0;                           // of global memory
  std::vector<Kept> kept_;
  std::vector<uint64_t> lists_;
  std::vector<Moment> moments_;
  std::array<uint32_t, Cluster::kMostWarps>
      moment_of_{};  // by warp: the number of the last that stands, from 1 on
  // By warp: which lanes reached memory since all met last, and when one did last.
  struct Did {
    uint32_t lanes = 0, time = 0;
  };
  std::array<Did, Cluster::kMostWarps> did_{};
  std::array<bool, 16> partial_{};  // by barrier: not all threads are waited for
  size_t most_kept_ = 0;            // bytes
};

}  // namespace bitwell::hazard
