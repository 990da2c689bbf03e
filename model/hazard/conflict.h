// Two accesses to the same bytes, one of them a write: is the earlier behind the later, and if not, why not?
#pragma once
#include <array>
#include <optional>
#include <set>

#include "model/hazard/shadow/clusters.h"
#include "model/machine/event.h"

namespace bitwell::hazard {

inline constexpr size_t kTensorSpace = 2;

// One cell is reached by `viewer`, who leaves `record` of that site.
struct Reach {
  const Viewer* viewers;  // all that must be behind what was done before
  size_t viewer_count;
  bool alike;  // they know the same of others
  const Site* site;
  uint32_t record;
  uint32_t lanes;  // one bit each, of the record's unit
  size_t space;    // 0 shared, 1 global, kTensorSpace tensor memory
  const Known* seen;
  const machine::Access* instruction;  // of lanes
  // Of tensor memory: what the last fence::after_thread_sync accepted, the operation's number, and that of
  // the MMA issued last before it.
  const Knowledge* accepted = nullptr;
  uint32_t number = 0, last_mma = 0;
  uint32_t loads_used = 0;  // of the warp, likewise
  bool frees = false;       // the object that the cell is of
  uint64_t map = 0;         // of a tensor map that a copy reads: its address
  bool unchanged = false;   // it stores what stands there already
  // All lanes of the warp know the same of others, too, and have waited for the same operations.
  bool warp_alike = false;
  mutable Act passed = kNoAct;         // the last act that this one was found to be behind
  mutable uint32_t passed_record = 0;  // likewise of all lanes, of operations
};

// Lanes of a warp reach memory side by side, weakly and as threads, and leave `record` of that site.
struct RowReach {
  const Warp* warp;
  const Knowledge* known;  // what all lanes of the warp know of others
  bool alike;              // all do know the same, and have waited for the same operations
  const Site* site;
  uint32_t record;
  // The last ones of which all were found to be behind all lanes, each where its number has it.
  mutable std::array<uint32_t, 4> passed_records{};
  mutable bool made = true;  // the last one was made as others before it
  // Of the last of their rows that its page keeps: what it held then, what it came to, and what was found of
  // each cell, or nullptr.
  struct Last {
    Act found_write = UINT32_MAX, write = kNoAct;  // at first what no row holds
    Readers found_reads = kNoAct, reads = kNoAct;
    const std::vector<size_t>* which = nullptr;
  };
  mutable Last last{};
};

// What one says of two accesses of which the later is not, or not enough, behind the earlier.
struct Judged {
  Kind kind;
  Side side = Side::either;
};
// Of two that are ordered, but reach memory through different proxies (proxies.cpp).
std::optional<Judged> judge_proxies(const Ledger& ledger, const Reach& r, const Viewer& v,
                                    const Epoch& before, const Site& old);
// Whether it is the copy of a tensor map that all of the viewer's warp have made, each for itself.
bool copied_by_warp(const Ledger& ledger, const Record& before, const Viewer& v);
// Of tensor memory (tensor.cpp).
std::optional<Kind> judge_cells(const Ledger& ledger, const Reach& r, const Viewer& v, const Record& before,
                                uint32_t lane);
// As findings have it: of tensor memory behind machine::kTensorWindow.
uint64_t reported(uint64_t address, size_t space);

class Conflicts {
 public:
  // `once`: a second write of a byte of global memory is found too, though it is ordered.
  Conflicts(Ledger& ledger, bool once) : ledger_(ledger), once_(once) {}

  // Whoever reaches the cell is held against what it holds, and stands in it from now on.
  void reach(const Reach& r, Cell& cell, uint64_t address, uint64_t size);
  // Likewise of the cells of these bytes.
  void reach(const Reach& r, Shadow& shadow, uint64_t address, uint64_t bytes) {
    shadow.each(
        address, bytes, [&](Cell& cell, uint64_t at, uint64_t size) { reach(r, cell, at, size); },
        [&](uint64_t times) { return again(times); });
  }
  // The same by an operation, or one instruction of a warp: of pieces that come one after the other what came
  // of one is made of others that held the same.
  // Pieces may be several, side by side: of one page then, each of kWhole bytes at least. The first has been
  // counted as an access, the next ones are so many accesses behind each other.
  struct Pieces {
    uint64_t bytes;
    uint64_t count = 1, apart = 1;
  };
  static constexpr uint64_t kWhole = uint64_t{1} << ShadowPage::kCoarsest;  // a cell has no more
  void reach_alike(const Reach& r, Shadow& shadow, uint64_t address, const Pieces& pieces) {
    shadow.each_page(address, pieces.bytes * pieces.count,
                     [&](ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end) {
                       if (reach_parts(r, page, begin, first, end, pieces)) return;
                       shadow.to_cells(page);
                       if (came_missed_ > kMostMissed)
                         reach_page_alone(r, page, begin, first, end, pieces);
                       else if (made_as_before(r, page, first, end))
                         ledger_.findings.pass((pieces.count - 1) * pieces.apart);
                       else
                         reach_page(r, page, begin, first, end, pieces);
                     });
  }
  // What came of a part of a page that held this.
  struct CamePart {
    uint64_t series = 0;  // while nothing happens but parts of one operation
    uint32_t record = 0, lanes = 0;
    size_t space = 0;
    Act found_write = kNoAct, write = kNoAct;
    Readers found_reads = kNoAct, reads = kNoAct;
    std::vector<size_t> which;  // was found of each cell

    bool is_of(const Reach& r, const ShadowPage::Row& part, uint64_t now) const {
      return series == now && record == r.record && found_write == part.write && found_reads == part.reads &&
             lanes == r.lanes && space == r.space;
    }
  };
  // What came, by one way of an operation, of the parts that it reached last, and of how many cells that is
  // still to be counted: before anything else is reached.
  struct Again {
    const CamePart* came = nullptr;
    uint64_t times = 0;
  };
  // Whether that comes of all these parts; then it is done, but for the count.
  static bool made_again(Again& again, std::span<ShadowPage::Row> parts) {
    if (again.came == nullptr || parts.empty()) return false;
    const CamePart& came = *again.came;
    for (const ShadowPage::Row& part : parts)
      if (part.write != came.found_write || part.reads != came.found_reads) return false;
    for (ShadowPage::Row& part : parts) {
      part.write = came.write;
      part.reads = came.reads;
      again.times += part.each;
    }
    return true;
  }
  // Pieces of a block are reached: all cells of the first one, behind which marked() is what comes of each;
  // and that comes of another one's, so many bytes behind it.
  void reach_first(const Reach& r, Shadow::Block& block);
  void reach_next(const Shadow::Shape& shape, uint64_t offset) { repeat_cells(shape.bytes, offset, 0); }
  // Whether of others of them no more than counts comes of that.
  bool counts_alone(const FindingList::Marked& found) const {
    return found.counted && ledger_.findings.counts_alone(found.which);
  }
  // What comes of all these parts by that way, where it is known; else nullptr.
  const CamePart* came_of(const Reach& r, std::span<ShadowPage::Row> parts) {
    if (parts.empty()) return nullptr;
    const CamePart& came = came_part(r.record, parts.front());
    for (const ShadowPage::Row& part : parts)
      if (!came.is_of(r, part, series_)) return nullptr;
    return &came;
  }
  // Those are counted.
  void count(Again& again) {
    if (again.times != 0 && !again.came->which.empty())
      ledger_.findings.repeat(again.came->which, again.times);
    again.times = 0;
  }
  // Whether when that is counted makes no difference.
  bool may_wait(const CamePart& came) const { return ledger_.findings.counts_alone(came.which); }
  // Whether as many cells that hold what the one did that was reached last come to the same, which is counted
  // then.
  bool again(uint64_t times) { return !by_address_ && ledger_.findings.repeat(times); }
  // Likewise of all lanes of a row behind the first, which did: its pairs of accesses are kept of each, too.
  bool again_by_lanes(const CellRow& row, uint64_t size) {
    if (by_address_ || row.each != 1) return false;
    for (uint32_t i = 1; i < row.lanes && !again(row.lanes - i); ++i) ledger_.findings.repeat_at(i * size, i);
    return true;
  }
  // The same of all lanes of a row, whose cells have that in common: those of it, or others of whom this one
  // knows. Else false, and nothing is done.
  bool reach(const RowReach& r, ShadowPage& page, const CellRow& row, const ShadowPage::Acts& found);
  // Lanes of a row have come to these acts, turned as those that they found, all to the same: what was found
  // of the last of their cells is counted alone. Others by the same record that find the same come to the
  // same then, as long as nobody knows more than now, or does anything but weak accesses by lanes.
  void came_to(uint32_t record, const ShadowPage::Acts& found, Act write, Readers reads);
  // Whether that is known of those; then it is done.
  bool made_as_before(const RowReach& r, ShadowPage& page, const CellRow& row, const ShadowPage::Acts& found);
  // A row that its page keeps comes to what the last one did that those lanes reached, if it holds the same;
  // else false, and nothing is done. `changes`: they are all known to change their bytes, where they write.
  bool reach_as_last(const RowReach& r, ShadowPage::Row& kept, bool changes) {
    const RowReach::Last& last = r.last;
    if (kept.write != last.found_write || kept.reads != last.found_reads) return false;
    if (last.which != nullptr) {
      if (!changes) return false;
      ledger_.findings.repeat(*last.which, uint64_t{kept.lanes} * kept.each);
    }
    kept.write = last.write;
    kept.reads = last.reads;
    return true;
  }
  void forget_rows() { ++rows_series_; }
  // Since then nothing has happened but weak accesses by lanes.
  uint64_t rows_series() const { return rows_series_; }
  // There was a load past the coherent cache.
  void past_cache() {
    if (!non_coherent_) forget_rows();
    non_coherent_ = true;
  }
  // Something else happens: what was remembered of the last event is over.
  void next_event() {
    behind_record_ = 0;
    behind_readers_ = kNoAct;
    ++series_;
    came_count_ = came_missed_ = unfenced_count_ = 0;
  }
  // Since then nothing has happened but parts of one operation: another number behind each other event.
  uint64_t series() const { return series_; }
  // The same; but what came of the last event's pieces is not, where it was a part of the same operation, and
  // nothing has happened in between.
  void next_part() {
    behind_record_ = 0;
    behind_readers_ = kNoAct;
  }
  // Sets of readers that no cell has any more go, where they are many.
  void drop_sets(Clusters& clusters) {
    if (ledger_.readers.list_bytes() > most_sets_) [[unlikely]]
      drop_many_sets(clusters);
  }

 private:
  static constexpr size_t kLeastSets = size_t{1} << 14;
  // Of an access and earlier ones; equal: no more than that they store equal bytes and nothing orders them.
  enum class Said : uint8_t { nothing, equal, something };

  // What came of cells of a page that an operation has reached.
  struct Came {
    ShadowPage::Change change;
    uint32_t record = 0, lanes = 0;
    size_t space = 0;
    // What was found, in its order: so many of them, so many times.
    struct Found {
      size_t count;
      uint64_t times;
    };
    std::vector<size_t> which;
    std::vector<Found> found;
    size_t next = 0;  // the one that was made, or made again, behind it
  };
  void drop_many_sets(Clusters& clusters);
  CamePart& came_part(uint32_t record, const ShadowPage::Row& part) {
    const uint64_t held = (uint64_t{record} << 32 | part.write) * 0x9E3779B97F4A7C15;
    return came_parts_[(held ^ part.reads * 0xBF58476D1CE4E5B9) >> 60];
  }
  // Whether that is known; then it is done.
  bool made_as_before(const Reach& r, ShadowPage::Row& part) {
    const CamePart& came = came_part(r.record, part);
    if (!came.is_of(r, part, series_)) return false;
    if (!came.which.empty()) ledger_.findings.repeat(came.which, part.each);
    part.write = came.write;
    part.reads = came.reads;
    return true;
  }
  // What is remembered of the cell that was reached last, which held that.
  void came_to(const Reach& r, const ShadowPage::Row& held, const Cell& now);
  // What came of a cell comes of those of so many bytes, from the so-manieth on.
  void repeat_cells(uint64_t bytes, uint64_t offset, uint64_t i) {
    const uint64_t cells = bytes >> ShadowPage::kCoarsest;
    for (; i < cells && !again(cells - i); ++i)
      ledger_.findings.repeat_at(offset + (i << ShadowPage::kCoarsest));
  }
  // Where the page keeps its cells as parts, and else false: nothing is done.
  bool reach_parts(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end,
                   const Pieces& pieces);
  bool made_as_before(const Reach& r, ShadowPage& page, uint64_t first, uint64_t end);
  void reach_page_alone(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end,
                        const Pieces& pieces);
  bool made_as(size_t i, const Reach& r, ShadowPage& page, uint64_t first, uint64_t end);
  void reach_page(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end,
                  const Pieces& pieces);
  template <class Found>
  void reach_cells(const Reach& r, ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end,
                   const Pieces& pieces, Found found);
  Readers read_too(const Reach& r, Readers before);
  bool in_any_turn(const Reach& r, const Reader& old) const;
  Said behind_all(const Reach& r, Readers those, uint64_t address, uint64_t size);
  void remember_write(const Reach& r, Cell& cell, bool beside);
  Readers not_stood_for(const Site& write, Readers before);
  Readers own_since(const Reach& r, Readers reads);
  bool behind(const Reach& r, Act before);
  bool all_passed(const Reach& r, uint32_t record) const;
  bool all_unfenced(const Reach& r, uint32_t record) const;
  bool by_known_of(const Reach& r, uint32_t record) const;
  std::optional<bool> behind(const RowReach& r, const Reader& before) const;
  std::optional<Readers> read_too(const RowReach& r, Readers before, bool any_lane);
  bool all_behind(const RowReach& r, Readers before, bool any_lane) const;
  void written_again(const Reach& r, Act before, uint64_t address, uint64_t size);
  Said conflict(const Reach& r, Act before, uint64_t address, uint64_t size);
  std::optional<Judged> judge(const Reach& r, const Viewer& v, const Record& before, uint32_t lane) const;
  bool in_lockstep(const Viewer& v, const Record& before, const Site& now) const;

  Ledger& ledger_;
  bool once_;
  uint64_t series_ = 1;
  bool non_coherent_ = false;
  bool by_address_ = false;         // what is said of the cell that was reached last hangs on where it is
  bool alike_in_any_turn_ = false;  // nor does what it came to hang on which lanes had read it
  size_t most_sets_ = kLeastSets;   // bytes of them, before those that no cell has go
  static constexpr size_t kMostCame = 16, kMostMissed = 64;
  std::array<CamePart, 16> came_parts_;
  std::vector<Came> came_;  // of late
  size_t came_count_ = 0;   // so far: each takes the place of the one that came longest ago
  size_t came_last_ = 0;    // the one that was made, or made again, last
  size_t came_missed_ = 0;  // that no other had come as, in turn: none is looked for any more behind many
  // Lists of readers, unturned, that an operation was not behind, in whatever turn, and what was found.
  struct Unfenced {
    Readers readers = kNoAct;
    uint32_t record = 0, lanes = 0;
    std::vector<size_t> found;
    Said said = Said::nothing;
  };
  std::array<Unfenced, 4> unfenced_;
  size_t unfenced_count_ = 0;  // so far, likewise
  // What of a cell's readers, unturned, stayed behind a write by one of them last.
  struct {
    Readers from = kNoAct;
    uint32_t record = 0;
    Readers to = kNoAct;
  } last_own_;
  struct CameRow {
    uint64_t series = 0;  // of rows; 0: none
    uint32_t record = 0;
    Act found_write = kNoAct, write = kNoAct;
    Readers found_reads = kNoAct, reads = kNoAct;
    const std::vector<size_t>* which = nullptr;  // was found of each cell: one of came_which_
  };
  CameRow& came_row(uint32_t record, const ShadowPage::Acts& found) {
    const uint64_t held = (uint64_t{record} << 32 | found.write) * 0x9E3779B97F4A7C15;
    return came_rows_[(held ^ found.reads * 0xBF58476D1CE4E5B9) >> 32 & (came_rows_.size() - 1)];
  }
  // Each in the place of its hash; more places where one takes another's, as when many warps take turns.
  static constexpr size_t kFewestCameRows = 16, kMostCameRows = size_t{1} << 12;
  std::vector<CameRow> came_rows_{kFewestCameRows};
  std::set<std::vector<size_t>> came_which_;
  uint64_t rows_series_ = 1;
  // While one event is told: the last record of which all lanes were found to be behind, and whom.
  uint32_t behind_record_ = 0;
  const Knowledge* behind_known_ = nullptr;
  // The same of the last list of readers, unturned.
  Readers behind_readers_ = kNoAct;
  const Knowledge* behind_readers_known_ = nullptr;
};

}  // namespace bitwell::hazard
