#include "model/hazard/shadow/shadow.h"

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>

namespace bitwell::hazard {

ShadowPage::Row* ShadowPage::kept_row(const CellRow& row) {
  if (has_cells()) return nullptr;
  for (Row& kept : rows())
    if (kept.of(row)) return &kept;
  const Row more{{static_cast<uint8_t>(row.first), static_cast<uint8_t>(row.lane),
                  static_cast<uint8_t>(row.lanes), static_cast<uint8_t>(row.apart),
                  static_cast<uint16_t>(row.each), static_cast<uint16_t>(row.step)}};
  const auto beside = [&](const Row& kept) { return more.end() <= kept.first || kept.end() <= more.first; };
  if (row_count_ >= kMostRows || !std::ranges::all_of(rows(), beside) || !more.of(row)) {
    rows_to_cells();
    return nullptr;
  }
  make_room(kMostRows);
  Row& out = rows_[row_count_++];
  return &(out = more);
}

void ShadowPage::make_room(uint8_t rows) {
  if (rows <= row_room_) return;
  auto more = std::make_unique<Row[]>(rows);
  std::ranges::copy(this->rows(), more.get());
  rows_ = std::move(more);
  row_room_ = rows;
}

void ShadowPage::rows_to_cells() {
  const std::span<const Row> kept = rows();
  row_count_ = 0;
  for (const Row& row : kept) {
    if (row.is_part()) {
      for (uint64_t i = row.first; i < row.end(); ++i) {
        if (row.write != kNoAct) put(writes_, i, row.write);
        if (row.reads != kNoAct) put(reads_, i, row.reads);
      }
      continue;
    }
    if (row.write != kNoAct) put(writes_, row.cells(), row.write);
    if (row.reads != kNoAct) put(reads_, row.cells(), row.reads);
  }
  rows_.reset();
  row_room_ = 0;
}

std::span<ShadowPage::Row> ShadowPage::parts_of(uint64_t first, uint64_t end) {
  if (row_count_ == 0 && has_cells()) return {};
  if (!std::ranges::all_of(rows(), [](const Row& row) { return row.is_part() || row.is_block(); })) return {};
  make_room(kMostRows);
  if (!std::ranges::is_sorted(rows(), {}, &Row::first)) std::ranges::sort(rows(), {}, &Row::first);
  split_evenly(first, end);
  split_parts(first);
  split_parts(end);
  Row *begin = rows_.get(), *part = begin;
  while (part != begin + row_count_ && part->first < first) ++part;
  Row* last = part;
  uint64_t next = first;  // cell
  for (; last != begin + row_count_ && last->first == next && last->end() <= end; ++last) next = last->end();
  if (next == end) return {part, last};
  const bool beside = next == first && (part == begin || part[-1].end() <= first) &&
                      (part == begin + row_count_ || end <= part->first);
  if (!beside || !has_room_for_part()) return {};
  begin = part = rows_.get();
  while (part != begin + row_count_ && part->first < first) ++part;
  std::copy_backward(part, begin + row_count_, begin + row_count_ + 1);
  ++row_count_;
  const auto count = static_cast<uint16_t>(end - first);
  *part = {{static_cast<uint8_t>(first), 0, 1, 1, count, count}};
  return {part, 1};
}

bool ShadowPage::has_room_for_part() {
  if (row_count_ == row_room_) make_room(std::min<uint8_t>(2 * row_room_, kMostParts));
  for (size_t i = 1; row_count_ == kMostParts && i < row_count_; ++i) {
    Row &before = rows_[i - 1], &row = rows_[i];
    if (!before.is_part() || !row.is_part() || before.end() != row.first || before.write != row.write ||
        before.reads != row.reads)
      continue;
    before.each = before.step = static_cast<uint16_t>(before.each + row.each);
    std::copy(rows_.get() + i + 1, rows_.get() + row_count_, rows_.get() + i);
    --row_count_;
  }
  return row_count_ < kMostParts;
}

// A part ends there, and another one begins, if there is one around and room for both.
void ShadowPage::split_parts(uint64_t at) {
  const auto around = [&](const Row& row) { return row.first < at && at < row.end(); };
  if (std::ranges::none_of(rows(), around) || !has_room_for_part()) return;
  Row* const row = &*std::ranges::find_if(rows(), around);
  std::copy_backward(row, rows_.get() + row_count_, rows_.get() + row_count_ + 1);
  ++row_count_;
  row->each = row->step = static_cast<uint16_t>(at - row->first);
  row[1].each = row[1].step = static_cast<uint16_t>(row[1].end() - at);
  row[1].first = static_cast<uint8_t>(at);
}

// If there is one part around those cells, all of it becomes parts as long as they are, if there is room: who
// reaches a piece of it mostly comes to the others too, as a wgmma does and those behind it.
void ShadowPage::split_evenly(uint64_t first, uint64_t end) {
  const uint64_t each = end - first;
  for (size_t i = 0; i < row_count_; ++i) {
    const Row around = rows_[i];
    if (first < around.first || around.end() < end) continue;
    const size_t count = around.each / each;
    if (count < 2 || !around.is_part() || around.each % each != 0 || (first - around.first) % each != 0 ||
        row_count_ + count - 1 > kMostParts)
      return;
    make_room(kMostParts);
    std::copy_backward(rows_.get() + i + 1, rows_.get() + row_count_, rows_.get() + row_count_ + count - 1);
    for (size_t part = 0; part < count; ++part) {
      Row& to = rows_[i + part] = around;
      to.first = static_cast<uint8_t>(around.first + part * each);
      to.each = to.step = static_cast<uint16_t>(each);
    }
    row_count_ = static_cast<uint8_t>((row_count_ + count - 1) & 15);
    return;
  }
}

Cell ShadowPage::cell_of_rows(uint64_t i) const {
  Cell out;
  for (const Row& row : rows()) {
    if (i < row.first || i >= row.end() || (i - row.first) % row.step >= row.each) continue;
    const auto turn = static_cast<uint32_t>(row.lane + row.apart * ((i - row.first) / row.step));
    if (row.write != kNoAct) out.write = turned(row.write, turn);
    if (row.reads != kNoAct) out.reads = turned(row.reads, turn);
  }
  return out;
}

void ShadowPage::refine(int shift) {
  to_cells();
  for (std::unique_ptr<Code[]>* codes : {&writes_, &writes_before_, &reads_}) {
    if (*codes == nullptr) continue;
    auto finer = std::make_unique<Code[]>(kPageBytes >> shift);
    for (uint64_t i = 0; i < kPageBytes >> shift; ++i) finer[i] = (*codes)[i >> (shift_ - shift)];
    *codes = std::move(finer);
  }
  shift_ = static_cast<uint8_t>(shift);
}

void ShadowPage::grow() {
  room_ = more_room();
  auto more = std::make_unique<uint32_t[]>(room_);
  std::copy(names_.get(), names_.get() + count_, more.get());
  names_ = std::move(more);
}

uint16_t ShadowPage::place_of(uint32_t name) {
  for (uint16_t i = count_; i-- > 0;)  // what came last is asked for most
    if (names_[i] == name) return i;
  // All that its cells can have, 3 * kPageBytes, leaves more than an eighth of the places that a code has.
  constexpr uint16_t kMostPlaces = (1 << 11) - 1;
  static_assert(3 * kPageBytes < kMostPlaces / 8 * 7);
  if (count_ == room_ || count_ == kMostPlaces) {
    if (room_ >= kTidyFrom) tidy();
    if (4 * count_ >= 3 * room_) grow();  // else it would be tidied again soon
  }
  names_[count_] = name;
  return count_++;
}

namespace {

// Where the row's so-manieth cell is, from the first on.
uint32_t place_in(const CellRow& row, uint32_t i) {
  return (i >> std::countr_zero(row.each)) * row.step + (i & (row.each - 1));
}

// One cell a lane, side by side, of lanes that do not begin again: what most rows are.
bool plain(const CellRow& row, uint32_t lane, uint32_t apart, uint32_t cells) {
  return row.step == 1 && lane % machine::kLanes + apart * (cells - 1) < machine::kLanes;
}

}  // namespace

uint32_t ShadowPage::alike(const Code* codes, const CellRow& row, uint32_t cells) {
  const Code first = codes[0];
  const uint32_t apart = first == 0 ? 0 : row.apart;
  if (plain(row, first, apart, cells)) {
    const auto step = static_cast<Code>(apart);
    Code other = 0, expected = first;
    for (uint32_t i = 0; i < cells; ++i, expected = static_cast<Code>(expected + step))
      other = static_cast<Code>(other | (codes[i] ^ expected));
    if (other == 0) return cells;
  }
  const uint32_t name = first / machine::kLanes * machine::kLanes;
  uint32_t n = 0, lane = first;
  if (row.each == 1) {  // as nearly always
    while (n < cells && codes[n * row.step] == name + (lane + n * apart) % machine::kLanes) ++n;
    return n;
  }
  for (const Code* of = codes; n < cells; of += row.step, lane += apart)
    for (uint32_t i = 0; i < row.each; ++i, ++n)
      if (of[i] != name + lane % machine::kLanes) return n;
  return cells;
}

uint32_t ShadowPage::named_alike(const Code* codes, const CellRow& row, uint32_t cells, bool& any_lane) {
  const uint32_t exactly = alike(codes, row, cells);
  uint32_t n = exactly;
  while (n < cells && codes[place_in(row, n)] / machine::kLanes == codes[0] / machine::kLanes) ++n;
  any_lane = n > exactly;
  return n;
}

ShadowPage::Acts ShadowPage::acts(const CellRow& row) {
  if (row_count_ != 0) {
    bool beside = true;
    for (Row& kept : rows()) {
      if (kept.of(row)) return {row.lanes, kept.write, false, kept.reads, false, &kept};
      const uint64_t end = row.first + uint64_t{row.step} * (row.lanes - 1) + row.each;
      beside = beside && (end <= kept.first || kept.end() <= row.first);
    }
    if (beside) return {row.lanes, kNoAct, false, kNoAct, false};
    rows_to_cells();
  }
  uint32_t cells = row.lanes * row.each;
  const auto turned_for_row = [&](Code code) {
    return code == 0 ? kNoAct : turned(names_[(code >> 5) - 1], code - row.lane);
  };
  Acts out;
  if (writes_before_ != nullptr) {
    uint32_t none = 0;
    while (none < cells && writes_before_[row.first + place_in(row, none)] == 0) ++none;
    cells = none & ~(row.each - 1);
    if (cells == 0) return out;
  }
  if (reads_ != nullptr) {
    const Code* const of = reads_.get() + row.first;
    out.reads = turned_for_row(of[0]);
    cells = named_alike(of, row, cells, out.any_reader);
  }
  if (writes_ != nullptr) {
    const Code* const of = writes_.get() + row.first;
    out.write = turned_for_row(of[0]);
    cells = named_alike(of, row, cells, out.any_writer);
  }
  out.lanes = cells >> std::countr_zero(row.each);
  return out;
}

void ShadowPage::put(std::unique_ptr<Code[]>& codes, const CellRow& row, uint32_t value) {
  if (codes == nullptr) codes = std::make_unique<Code[]>(kPageBytes >> shift_);
  const uint32_t cells = row.lanes * row.each;
  Code* const of = codes.get() + row.first;
  if (value == kNoAct) {
    for (uint32_t i = 0; i < cells; ++i) of[place_in(row, i)] = 0;
    return;
  }
  const uint32_t name = unturned(value);
  if (recent_ >= count_ || names_[recent_] != name) recent_ = place_of(name);
  const uint32_t place = static_cast<uint32_t>(recent_ + 1) << 5, lane = row.lane + turn_of(value);
  if (plain(row, lane, row.apart, cells)) {
    auto next = static_cast<Code>(place | lane % machine::kLanes);
    const auto step = static_cast<Code>(row.apart);
    for (uint32_t i = 0; i < cells; ++i, next = static_cast<Code>(next + step)) of[i] = next;
    return;
  }
  for (uint32_t i = 0; i < cells; ++i)
    of[place_in(row, i)] =
        static_cast<Code>(place | (lane + row.apart * (i >> std::countr_zero(row.each))) % machine::kLanes);
}

void ShadowPage::tidy() {
  std::vector<uint16_t> places(count_);  // by place before: whether it stays, and then where
  const uint64_t cells = kPageBytes >> shift_;
  const auto each_code = [&](auto visit) {
    for (const std::unique_ptr<Code[]>* codes : {&writes_, &writes_before_, &reads_})
      for (uint64_t i = 0; *codes != nullptr && i < cells; ++i)
        if ((*codes)[i] != 0) visit((*codes)[i]);
  };
  each_code([&](Code code) { places[(code >> 5) - 1] = 1; });
  uint16_t count = 0;
  for (uint16_t i = 0; i < count_; ++i) {
    if (places[i] == 0) continue;
    names_[count] = names_[i];
    places[i] = count++;
  }
  each_code([&](Code& code) {
    code = static_cast<Code>((places[(code >> 5) - 1] + 1) << 5 | code % machine::kLanes);
  });
  count_ = count;
  recent_ = 0;
}

namespace {

// Calls what(bytes) for so many codes: of the usual ones it is known beforehand.
template <class What>
auto with_bytes(uint64_t cells, What what) {
  switch (cells) {
    case 2: return what(std::integral_constant<size_t, 4>{});
    case 4: return what(std::integral_constant<size_t, 8>{});
    case 8: return what(std::integral_constant<size_t, 16>{});
    case 16: return what(std::integral_constant<size_t, 32>{});
    default: return what(cells * sizeof(uint16_t));
  }
}

}  // namespace

bool ShadowPage::Change::has(const Codes& codes, const uint16_t* of, uint64_t cells) {
  if (of == nullptr) return !codes.any;
  return codes.of[0] == of[0] &&
         with_bytes(cells, [&](auto bytes) { return std::memcmp(codes.of.data(), of, bytes) == 0; });
}

void ShadowPage::Change::take(Codes& codes, const uint16_t* of, uint64_t cells) {
  codes.any = of != nullptr && std::any_of(of, of + cells, [](Code code) { return code != 0; });
  if (of == nullptr)
    std::fill_n(codes.of.begin(), cells, Code{0});
  else
    std::copy_n(of, cells, codes.of.begin());
}

void ShadowPage::Change::begin(const ShadowPage& page, uint64_t first, uint64_t end) {
  first_ = first;
  count_ = page.count_;
  cells_ = end - first > kMostCells || count_ > kMostNames ? 0 : end - first;
  if (cells_ == 0) return;
  std::copy_n(page.names_.get(), count_, names_.begin());
  for (size_t i = 0; i < before_.size(); ++i) take(before_[i], page.codes(i, first), cells_);
}

bool ShadowPage::Change::end(const ShadowPage& page) {
  count_then_ = page.count_;
  // Where its list was tidied, others may not have to be.
  if (cells_ == 0 || count_then_ > kMostNames || count_then_ < count_ ||
      !std::equal(names_.begin(), names_.begin() + count_, page.names_.get()))
    return cells_ = 0, false;
  std::copy(page.names_.get() + count_, page.names_.get() + count_then_, names_.begin() + count_);
  for (size_t i = 0; i < then_.size(); ++i) {
    take(then_[i], page.codes(i, first_), cells_);
    changed_[i] = !std::equal(then_[i].of.begin(), then_[i].of.begin() + cells_, before_[i].of.begin());
  }
  return true;
}

bool ShadowPage::Change::fits_too(const ShadowPage& page, uint64_t first) const {
  if (count_then_ > page.room_ && (page.room_ >= kTidyFrom || count_then_ > page.more_room())) return false;
  for (size_t i = count_; i-- > 0;)
    if (names_[i] != page.names_[i]) return false;
  for (size_t i = 0; i < before_.size(); ++i)
    if (!has(before_[i], page.codes(i, first), cells_)) return false;
  return true;
}

void ShadowPage::Change::make(ShadowPage& page, uint64_t first) const {
  if (count_then_ != count_) {
    if (count_then_ > page.room_) page.grow();
    std::copy(names_.begin() + count_, names_.begin() + count_then_, page.names_.get() + count_);
    page.count_ = count_then_;
  }
  for (size_t i = 0; i < then_.size(); ++i) {
    if (!changed_[i]) continue;
    std::unique_ptr<Code[]>& codes = page.*kCodes[i];
    if (codes == nullptr) codes = std::make_unique<Code[]>(kPageBytes >> page.shift_);
    with_bytes(cells_, [&](auto bytes) { std::memcpy(codes.get() + first, then_[i].of.data(), bytes); });
  }
}

size_t ShadowPage::bytes() const {
  const size_t cells = kPageBytes >> shift_;
  size_t codes = 0;
  for (const std::unique_ptr<Code[]>* c : {&writes_, &writes_before_, &reads_})
    codes += *c == nullptr ? 0 : cells;
  return codes * sizeof(Code) + room_ * sizeof(uint32_t) + row_room_ * sizeof(Row);
}

size_t Shadow::bytes() const {
  size_t out = pages_.bytes();
  pages_.each([&](const ShadowPage& page) { out += page.bytes(); });
  return out + blocks_.capacity() * sizeof(Block) + free_blocks_.capacity() * sizeof(uint32_t);
}

}  // namespace bitwell::hazard
