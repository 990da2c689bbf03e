#include "model/hazard/shadow/shadow.h"

#include <algorithm>
#include <bit>

namespace bitwell::hazard {

void ShadowPage::refine(int shift) {
  for (std::unique_ptr<Code[]>* codes : {&writes_, &writes_before_, &reads_}) {
    if (*codes == nullptr) continue;
    auto finer = std::make_unique<Code[]>(kPageBytes >> shift);
    for (uint64_t i = 0; i < kPageBytes >> shift; ++i) finer[i] = (*codes)[i >> (shift_ - shift)];
    *codes = std::move(finer);
  }
  shift_ = static_cast<uint8_t>(shift);
}

uint16_t ShadowPage::place_of(uint32_t name) {
  for (uint16_t i = count_; i-- > 0;)  // what came last is asked for most
    if (names_[i] == name) return i;
  // All that its cells can have, 3 * kPageBytes, leaves more than an eighth of the places that a code has.
  constexpr uint16_t kMostPlaces = (1 << 11) - 1, kFirstRoom = 4, kTidyFrom = 16;
  static_assert(3 * kPageBytes < kMostPlaces / 8 * 7);
  if (count_ == room_ || count_ == kMostPlaces) {
    if (room_ >= kTidyFrom) tidy();
    if (4 * count_ >= 3 * room_) {  // else it would be tidied again soon
      const auto room = static_cast<uint16_t>(std::max<int>(kFirstRoom, 2 * room_));
      auto more = std::make_unique<uint32_t[]>(room);
      std::copy(names_.get(), names_.get() + count_, more.get());
      names_ = std::move(more);
      room_ = room;
    }
  }
  names_[count_] = name;
  return count_++;
}

bool ShadowPage::one_name(const std::unique_ptr<Code[]>& codes, const CellRow& row, uint32_t& name) const {
  name = kNoAct;
  if (codes == nullptr) return true;
  const Code* const of = codes.get() + row.first;
  const uint32_t cells = row.lanes * row.each;
  const Code first = of[0];
  if (first != 0 && first % machine::kLanes != row.lane) return false;
  uint32_t other = 0;
  if (first == 0) {
    for (uint32_t i = 0; i < cells; ++i) other |= of[i];
  } else {
    const int shift = std::countr_zero(row.each);
    for (uint32_t i = 0; i < cells; ++i)
      other |= static_cast<uint32_t>(of[i] ^ (first + row.apart * (i >> shift)));
  }
  if (other != 0) return false;
  if (first != 0) name = names_[(first >> 5) - 1];
  return true;
}

std::optional<ShadowPage::Acts> ShadowPage::acts(const CellRow& row) const {
  uint32_t write, before, reads;
  if (!one_name(writes_, row, write) || !one_name(writes_before_, row, before) || before != kNoAct ||
      !one_name(reads_, row, reads))
    return std::nullopt;
  return Acts{write, reads};
}

void ShadowPage::put(std::unique_ptr<Code[]>& codes, const CellRow& row, uint32_t name) {
  if (codes == nullptr) codes = std::make_unique<Code[]>(kPageBytes >> shift_);
  const uint32_t cells = row.lanes * row.each;
  if (name == kNoAct) {
    std::fill_n(codes.get() + row.first, cells, Code{0});
    return;
  }
  if (recent_ >= count_ || names_[recent_] != name) recent_ = place_of(name);
  const uint32_t first = static_cast<uint32_t>(recent_ + 1) << 5 | row.lane;
  const int shift = std::countr_zero(row.each);
  Code* const of = codes.get() + row.first;
  for (uint32_t i = 0; i < cells; ++i) of[i] = static_cast<Code>(first + row.apart * (i >> shift));
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

size_t ShadowPage::bytes() const {
  const size_t cells = kPageBytes >> shift_;
  size_t codes = 0;
  for (const std::unique_ptr<Code[]>* c : {&writes_, &writes_before_, &reads_})
    codes += *c == nullptr ? 0 : cells;
  return codes * sizeof(Code) + room_ * sizeof(uint32_t);
}

size_t Shadow::bytes() const {
  struct Node {  // of the map: the next, a key and a page
    void* next;
    uint64_t number;
    ShadowPage page;
  };
  size_t out = pages_.size() * sizeof(Node) + pages_.bucket_count() * sizeof(void*);
  for (const auto& [number, page] : pages_) out += page.bytes();
  return out;
}

}  // namespace bitwell::hazard
