// What is remembered of each piece of memory: who wrote it last, whom that write does not stand for, and who
// has read it since.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/hazard/shadow/page_table.h"
#include "model/hazard/shadow/readers.h"

namespace bitwell::hazard {

struct Cell {
  Act write = kNoAct;
  // Behind which a stronger one has written: a plain store, and then an atomic, is raced with by the atomics
  // that are not behind the store.
  Readers writes_before = kNoAct;
  Readers reads = kNoAct;  // since the last write that stands for them

  bool operator==(const Cell&) const = default;
};

// Cells of `lanes` lanes, each `each` side by side, a power of two: the first has `lane`, the next ones a
// lane that is `apart` further each, whose cells begin `step` behind.
struct CellRow {
  uint64_t first = 0;
  uint32_t lane = 0, lanes = 0, apart = 1;
  uint32_t each = 1, step = 1;
};

// The cells of kPageBytes of memory, as coarse as the finest access to it, so that an access covers whole
// cells: 16 bytes at first, then 8, 4, 2 or 1. Few records and sets reach one page: it keeps a list of them,
// and of a cell up to three numbers of 16 bits, which name the lane and a place in the list. Only read or
// only written pages have one number a cell; those that were reached by the same one or two rows again and
// again have none, but what each row has.
class ShadowPage {
 public:
  static constexpr uint64_t kPageBytes = 256;
  static constexpr int kCoarsest = 4;  // 16 bytes

  int shift() const { return shift_; }  // a cell has 1 << shift bytes
  Cell cell(uint64_t i) const {
    if (row_count_ != 0) return cell_of_rows(i);
    const auto of = [&](const std::unique_ptr<Code[]>& codes) {
      return codes == nullptr ? kNoAct : value(codes[i]);
    };
    return {of(writes_), of(writes_before_), of(reads_)};
  }
  // Which cells a row has.
  struct Place {
    uint8_t first = 0, lane = 0, lanes = 0, apart = 0;
    uint16_t each = 0, step = 0;

    bool operator==(const Place& other) const {
      return std::bit_cast<uint64_t>(*this) == std::bit_cast<uint64_t>(other);
    }
  };
  // The cells of a row, and what they have in common: as Acts of it.
  struct Row : Place {
    Act write = kNoAct;
    Readers reads = kNoAct;

    bool of(const CellRow& row) const {
      return first == row.first && lane == row.lane && lanes == row.lanes && apart == row.apart &&
             each == row.each && step == row.step;
    }
    CellRow cells() const { return {first, lane, lanes, apart, each, step}; }
    // Behind its last cell.
    uint64_t end() const { return first + uint64_t{step} * (lanes - 1u) + each; }
    // Cells side by side that have the same, as operations leave them.
    bool is_part() const { return lanes == 1 && lane == 0; }
    // Likewise, but a block has what they hold: the one of the number that stands in `write`.
    bool is_block() const { return lanes == 0; }
  };
  // Those cells as the parts that the page keeps of them, in their order, which may be changed where they
  // stand; none where it does not keep them so.
  std::span<Row> parts(uint64_t first, uint64_t end) {
    return row_count_ == 0 && has_cells() ? std::span<Row>() : parts_of(first, end);
  }
  // Likewise so many bytes from that one on, but none where these parts are not there already.
  std::span<Row> parts_there(uint64_t begin, uint64_t bytes) {
    if (((begin | bytes) & ((uint64_t{1} << shift_) - 1)) != 0) return {};
    uint64_t next = begin >> shift_;
    const uint64_t end = next + (bytes >> shift_);
    Row *row = rows_.get(), *const all = row + row_count_;
    // Most often all parts are as long as what is reached.
    if (const uint64_t guess = begin >> std::countr_zero(bytes);
        guess < row_count_ && row[guess].first == next)
      row += guess;
    while (row != all && row->first != next) ++row;
    for (Row* last = row; last != all && last->is_part() && last->first == next;) {
      next = last++->end();
      if (next == end) return {row, last};
    }
    return {};
  }
  // These parts of its cells, side by side, are of the block of that number from now on, which has what they
  // hold (Shadow::Block); and are parts again that hold this. In between nothing else may be done with it.
  void give(std::span<Row> parts, uint32_t block);
  void take_back(uint32_t block, Act write, Readers reads);
  bool in_blocks() const { return in_blocks_ != 0; }
  // The block that has the cell; or the first one that has any.
  std::optional<uint32_t> block_of(uint64_t cell) const {
    for (const Row& row : rows())
      if (row.is_block() && row.first <= cell && cell < row.first + uint64_t{row.each}) return row.write;
    return {};
  }
  // Whether one has one of those bytes.
  bool blocks_have(uint64_t begin, uint64_t end) const {
    return std::ranges::any_of(rows(), [&](const Row& row) {
      return row.is_block() && uint64_t{row.first} << shift_ < end && begin < row.end() << shift_;
    });
  }
  std::optional<uint32_t> any_block() const {
    for (const Row& row : rows())
      if (row.is_block()) return row.write;
    return {};
  }
  // Of cells, no rows any more: to be called before the next three.
  void to_cells() {
    if (row_count_ != 0) [[unlikely]]
      rows_to_cells();
  }
  void set(uint64_t i, const Cell& from, const Cell& to) {
    if (to.write != from.write) put(writes_, i, to.write);
    if (to.writes_before != from.writes_before) put(writes_before_, i, to.writes_before);
    if (to.reads != from.reads) put(reads_, i, to.reads);
  }
  // Calls visit(cell, number) for each of those cells, which it may change. Where more cells behind it have
  // the same, again(n) may take as many for visited too, which become what the cell did, and says so.
  template <class Visit, class Again>
  void each(uint64_t first, uint64_t end, Visit visit, Again again) {
    each(first, end, visit, again, [] { return false; });
  }
  // in_any_turn(): likewise where those have the same readers, in whatever turn.
  template <class Visit, class Again, class InAnyTurn>
  void each(uint64_t first, uint64_t end, Visit visit, Again again, InAnyTurn in_any_turn) {
    for (uint64_t i = first; i < end; ++i) {
      uint64_t more = same_from(i, end) - 1;
      const Cell before = cell(i);
      Cell now = before;
      visit(now, i);
      if (in_any_turn()) more = read_alike_from(i, end) - 1;
      set(i, before, now);
      if (more == 0 || !again(more)) continue;
      set_as(i, more);
      i += more;
    }
  }
  // How many cells from that one on, before `end`, have what it has.
  uint64_t same_from(uint64_t i, uint64_t end) const {
    uint64_t n = end - i;
    for (const Code* const of : {writes_.get(), writes_before_.get(), reads_.get()}) {
      if (of == nullptr || n == 1) continue;
      if (of[i] == of[i + 1] && std::memcmp(of + i, of + i + 1, (n - 1) * sizeof(Code)) == 0) continue;
      n = 1;
      while (of[i + n] == of[i]) ++n;
    }
    return n;
  }
  // The same of cells whose readers may be turned in whatever way.
  uint64_t read_alike_from(uint64_t i, uint64_t end) const {
    uint64_t n = 1;
    const auto alike = [&](const std::unique_ptr<Code[]>& of, Code but) {
      return of == nullptr || ((of[i] ^ of[i + n]) & ~but) == 0;
    };
    while (i + n < end && alike(writes_, 0) && alike(writes_before_, 0) && alike(reads_, machine::kLanes - 1))
      ++n;
    return n;
  }
  // The next `more` cells get what that one has.
  void set_as(uint64_t i, uint64_t more) {
    for (std::unique_ptr<Code[]>* codes : {&writes_, &writes_before_, &reads_})
      if (*codes != nullptr) std::fill_n(codes->get() + i + 1, more, (*codes)[i]);
  }
  // What became of cells side by side, so that it can be made of others which are as those were.
  class Change {
   public:
    // Those cells are about to be changed.
    void begin(const ShadowPage& page, uint64_t first, uint64_t end);
    // They were. Without it, or where it says false, no others can be.
    bool end(const ShadowPage& page);
    bool fits(const ShadowPage& page, uint64_t first, uint64_t end) const {
      if (cells_ != end - first || count_ != page.count_) return false;
      const uint16_t* const reads = page.reads_.get();
      return (reads == nullptr ? 0 : reads[first]) == before_[2].of[0] && fits_too(page, first);
    }
    // Of cells that fit.
    void make(ShadowPage& page, uint64_t first) const;

   private:
    static constexpr size_t kMostCells = 64, kMostNames = 24;
    // Of the cells, as the page has them.
    struct Codes {
      bool any = false;
      std::array<uint16_t, kMostCells> of;
    };

    // Of as many, of which the first was read by the same.
    bool fits_too(const ShadowPage& page, uint64_t first) const;
    static bool has(const Codes& codes, const uint16_t* of, uint64_t cells);
    static void take(Codes& codes, const uint16_t* of, uint64_t cells);

    uint64_t first_ = 0, cells_ = 0;  // 0: there is none
    uint16_t count_ = 0, count_then_ = 0;
    std::array<uint32_t, kMostNames> names_;  // of the page's list as many; then
    std::array<Codes, 3> before_, then_;      // of writes, of writes before those, of reads
    std::array<bool, 3> changed_;
  };
  // What the cells of a row's first lanes have in common, turned by the lane that has the cell in the row: an
  // act or a set that is turned for lane 0, or kNoAct. Nothing stands before their last write.
  struct Acts {
    uint32_t lanes = 0;
    Act write = kNoAct;
    bool any_writer = false;  // the record alone is common, whatever lanes have written
    Readers reads = kNoAct;
    bool any_reader = false;  // likewise: the record, or the set but for its turn
    Row* kept = nullptr;      // where the page keeps that row, until it is changed otherwise
  };
  // The row that it keeps of 32 lanes which reach as many bytes each, side by side from that one on; nullptr
  // where it keeps none of them alone.
  Row* kept_whole(uint64_t begin, uint64_t bytes) {
    const auto each = static_cast<uint16_t>(bytes >> shift_);
    const Place place{static_cast<uint8_t>(begin >> shift_), 0, machine::kLanes, 1, each, each};
    for (Row *row = rows_.get(), *const end = row + row_count_; row != end; ++row)
      if (*row == place) return row;
    return nullptr;
  }
  // Of so many lanes as possible; of none where already the cells of the first differ.
  Acts acts(const CellRow& row);
  void set_write(const CellRow& row, Act write, Row* found = nullptr) {
    if (Row* const kept = found != nullptr ? found : kept_row(row); kept != nullptr)
      kept->write = write;
    else
      put(writes_, row, write);
  }
  void set_reads(const CellRow& row, Readers reads, Row* found = nullptr) {
    if (Row* const kept = found != nullptr ? found : kept_row(row); kept != nullptr)
      kept->reads = reads;
    else
      put(reads_, row, reads);
  }
  // Cells of 1 << shift bytes from now on, fewer than before; each has what the one that it was part of had.
  void refine(int shift);
  // Each set of readers that a cell has becomes again(set), a set too.
  template <class Again>
  void replace_sets(Again again) {
    for (Row& row : rows())
      if (row.reads != kNoAct && (row.reads & kMany) != 0) row.reads = again(row.reads);
    if (std::none_of(names_.get(), names_.get() + count_, [](uint32_t name) { return (name & kMany) != 0; }))
      return;
    tidy();
    for (uint16_t i = 0; i < count_; ++i)
      if ((names_[i] & kMany) != 0) names_[i] = again(names_[i]);
  }
  // Of its lists.
  size_t bytes() const;

 private:
  using Code = uint16_t;  // 0: kNoAct; or a place + 1, and the lane of an act or the turn of a set

  std::span<Row> rows() const { return {rows_.get(), row_count_}; }
  bool has_cells() const { return writes_ != nullptr || writes_before_ != nullptr || reads_ != nullptr; }
  // The row where the page keeps it, from now on if there is room beside others; else nullptr, and the page
  // is one of cells.
  Row* kept_row(const CellRow& row);
  void rows_to_cells();
  // Room for so many at least.
  void make_room(uint8_t rows);
  std::span<Row> parts_of(uint64_t first, uint64_t end);
  // Whether there is room for one more, from now on: parts side by side that have the same become one.
  bool has_room_for_part();
  void split_parts(uint64_t at);
  void split_evenly(uint64_t first, uint64_t end);
  Cell cell_of_rows(uint64_t i) const;

  uint32_t value(Code code) const {
    return code == 0 ? kNoAct : names_[(code >> 5) - 1] + code % machine::kLanes;
  }
  void put(std::unique_ptr<Code[]>& codes, uint64_t i, uint32_t value) {
    if (codes == nullptr) codes = std::make_unique<Code[]>(kPageBytes >> shift_);
    if (value == kNoAct) {
      codes[i] = 0;
      return;
    }
    const uint32_t name = unturned(value);
    if (recent_ >= count_ || names_[recent_] != name) recent_ = place_of(name);
    codes[i] = static_cast<Code>((recent_ + 1) << 5 | turn_of(value));
  }
  // How many of the first `cells` have what the first has, turned likewise.
  static uint32_t alike(const Code* codes, const CellRow& row, uint32_t cells);
  // The same; or more, that have so in any turn.
  static uint32_t named_alike(const Code* codes, const CellRow& row, uint32_t cells, bool& any_lane);
  void put(std::unique_ptr<Code[]>& codes, const CellRow& row, uint32_t value);
  const Code* codes(size_t i, uint64_t first) const {
    const Code* const of = (this->*kCodes[i]).get();
    return of == nullptr ? nullptr : of + first;
  }
  // The list gets more room.
  void grow();
  uint16_t more_room() const { return static_cast<uint16_t>(std::max<int>(kFirstRoom, 2 * room_)); }
  // Where it stands in the list, from now on if it did not.
  uint16_t place_of(uint32_t name);
  // Takes out of the list what no cell has.
  void tidy();

  // A list that has come to so many is tidied before it grows.
  static constexpr uint16_t kFirstRoom = 4, kTidyFrom = 16;

  std::unique_ptr<Code[]> writes_, writes_before_, reads_;  // by cell; none: all kNoAct
  static constexpr std::array kCodes{&ShadowPage::writes_, &ShadowPage::writes_before_, &ShadowPage::reads_};
  std::unique_ptr<uint32_t[]> names_;  // the list: acts of lane 0, and sets unturned
  uint16_t count_ = 0, room_ = 0;      // places used, and allocated
  uint16_t recent_ = 0;                // the place that was asked for last, if it is used
  uint8_t shift_ : 7 = kCoarsest;
  uint8_t in_blocks_ : 1 = 0;  // some rows are a block's
  // Rows kept, and room for them: then there is no cell that has anything. Of lanes two at most, and of parts
  // as many as a wgmma reads of a page, each of 32 bytes.
  uint8_t row_count_ : 4 = 0, row_room_ : 4 = 0;
  static constexpr uint8_t kMostRows = 2, kMostParts = 8;
  // Those, of which none has a cell of the other.
  std::unique_ptr<Row[]> rows_;
};

class Shadow {
 public:
  // Calls visit(page, address, first, end) for each page that the bytes are in, which has a cell of its own
  // for each of their ends: the page's address, and which of its cells they are. It may have rows, and other
  // cells may be a block's.
  template <class Visit>
  void each_page(uint64_t address, uint64_t bytes, Visit visit) {
    for (const uint64_t end = address + bytes; address < end;) {
      ShadowPage& page = page_there(address / kPageBytes);
      const uint64_t first = address % kPageBytes;
      const uint64_t last = std::min(kPageBytes, first + (end - address));
      const uint64_t mask = (uint64_t{1} << page.shift()) - 1;
      if (page.in_blocks() && (((first | last) & mask) != 0 || page.blocks_have(first, last))) [[unlikely]]
        end_blocks(page);
      if (((first | last) & mask) != 0) [[unlikely]]
        page.refine(std::countr_zero(first | last));
      visit(page, address - first, first >> page.shift(), last >> page.shift());
      address += last - first;
    }
  }
  // Calls visit(cell, address, size) for each cell of the bytes, which it may change; again as
  // ShadowPage::each has it.
  template <class Visit, class Again>
  void each(uint64_t address, uint64_t bytes, Visit visit, Again again) {
    each_page(address, bytes, [&](ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end) {
      to_cells(page);
      page.each(
          first, end,
          [&](Cell& cell, uint64_t i) {
            visit(cell, begin + (i << page.shift()), uint64_t{1} << page.shift());
          },
          again);
    });
  }
  // Of cells alone, no rows any more, nor a block's.
  void to_cells(ShadowPage& page) {
    if (page.in_blocks()) [[unlikely]]
      end_blocks(page);
    page.to_cells();
  }
  // Lanes reach `bytes` each, a power of two, `step` bytes from each other, as many times `bytes`, within a
  // page from the address on: the page, and the row of its cells.
  std::pair<ShadowPage&, CellRow> row(uint64_t address, uint64_t bytes, uint64_t step, uint32_t lane,
                                      uint32_t lanes, uint32_t apart) {
    ShadowPage& page = page_of(address / kPageBytes);
    if (bytes >> page.shift() == 0) page.refine(std::countr_zero(bytes));
    return {page,
            {address % kPageBytes >> page.shift(), lane, lanes, apart,
             static_cast<uint32_t>(bytes >> page.shift()), static_cast<uint32_t>(step >> page.shift())}};
  }
  // As ShadowPage::kept_whole() of the bytes from that address on, which are of one page.
  ShadowPage::Row* kept_whole(uint64_t address, uint64_t bytes) {
    return page_of(address / kPageBytes).kept_whole(address % kPageBytes, bytes);
  }
  // The parts that a page keeps of those bytes; none where it does not keep all of them so.
  std::span<ShadowPage::Row> parts_there(uint64_t address, uint64_t bytes) {
    return page_there(address / kPageBytes).parts_there(address % kPageBytes, bytes);
  }
  // The same of cells that exist, unchanged.
  template <class Visit>
  void each_touched(uint64_t address, uint64_t bytes, Visit visit) const {
    for (const uint64_t end = address + bytes; address < end;) {
      const uint64_t stop = std::min(end, (address / kPageBytes + 1) * kPageBytes);
      if (const ShadowPage* const page = pages_.find(address / kPageBytes); page != nullptr) {
        const uint64_t size = uint64_t{1} << page->shift();
        for (uint64_t a = address / size * size; a < stop; a += size)
          visit(cell_of(*page, a % kPageBytes / size), a, size);
      }
      address = stop;
    }
  }
  // The cells of that page have at most 1 << shift bytes from now on.
  void refine(uint64_t number, int shift) {
    if (ShadowPage& page = page_of(number); page.shift() > shift) page.refine(shift);
  }
  template <class Again>
  void replace_sets(Again again) {
    pages_.each([&](ShadowPage& page) { page.replace_sets(again); });
    for (Block& block : blocks_)
      if (block.reads != kNoAct && (block.reads & kMany) != 0) block.reads = again(block.reads);
  }
  // Pieces of memory as an operation reaches them: so many, of so many bytes each, and as far from each
  // other.
  struct Shape {
    uint64_t address = 0, bytes = 0, step = 0, count = 0;

    bool operator==(const Shape&) const = default;
  };
  // Of pieces whose cells all hold the same, what that is. Pages that are parts of it are asked nothing while
  // pieces of that shape alone are reached; whatever else comes to one of them makes parts of them all.
  struct Block {
    Shape shape;
    Act write = kNoAct;
    Readers reads = kNoAct;
  };
  bool any_blocks() const { return blocks_.size() != free_blocks_.size(); }
  // The block of that shape; nullptr: there is none.
  Block* block(const Shape& shape) {
    if (!any_blocks()) return nullptr;
    const ShadowPage& page = page_there(shape.address / kPageBytes);
    const auto number = page.block_of(shape.address % kPageBytes >> page.shift());
    if (!number || blocks_[*number].shape != shape) return nullptr;
    block_credit_ = std::min(block_credit_ + 1, kMostCredit);
    return &blocks_[*number];
  }
  // Whether it is worth while to make one of such pieces, when they have been reached: they are parts of
  // pages already, and most of those made so far were of use.
  bool may_be_block(const Shape& shape) {
    if (block_credit_ <= 0) return false;
    if (shape.step == shape.bytes)
      return !parts_there(shape.address,
                          std::min(kPageBytes - shape.address % kPageBytes, shape.bytes * shape.count))
                  .empty();
    return !parts_there(shape.address, shape.bytes).empty() &&
           !parts_there(shape.address + (shape.count - 1) * shape.step, shape.bytes).empty();
  }
  // Makes one, if they hold the same.
  void make_block(const Shape& shape);
  // Of all pages and what leads to them.
  size_t bytes() const;
  size_t touched() const { return pages_.size() * kPageBytes; }

 private:
  static constexpr uint64_t kPageBytes = ShadowPage::kPageBytes;

  ShadowPage& page_of(uint64_t number) {
    ShadowPage& page = page_there(number);
    if (page.in_blocks()) [[unlikely]]
      end_blocks(page);
    return page;
  }
  // Though it may be a part of blocks.
  [[gnu::always_inline]] ShadowPage& page_there(uint64_t number) {
    if (ShadowPage* const page = pages_.find(number); page != nullptr) [[likely]]
      return *page;
    return pages_.add(number);
  }
  // Calls visit(address, bytes) for what is of one page each, as long as that says true; says whether it
  // always did.
  template <class Visit>
  static bool each_page_of(const Shape& s, Visit visit);
  // Those that the page is a part of are none any more.
  void end_blocks(ShadowPage& page);
  Cell cell_of(const ShadowPage& page, uint64_t i) const {
    const auto number = page.in_blocks() ? page.block_of(i) : std::nullopt;
    return number ? Cell{blocks_[*number].write, kNoAct, blocks_[*number].reads} : page.cell(i);
  }

  PageTable<ShadowPage> pages_;  // by address / kPageBytes
  std::vector<Block> blocks_;
  std::vector<uint32_t> free_blocks_;  // numbers of those that are none any more
  // How many more may be made: one for each that was reached as such.
  static constexpr int kMostCredit = 256;
  int block_credit_ = kMostCredit;
};

}  // namespace bitwell::hazard
