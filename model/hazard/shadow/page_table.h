// The pages of a shadow by their numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bitwell::hazard {

// A hash table with open addressing, at most three quarters full: each place has an entry or none, and an
// entry stands in the first free place from its own on. A page stays where it is: behind the one that came
// before it, as memory is mostly reached in that order again.
template <class Page>
class PageTable {
 public:
  // nullptr: there is none of that number.
  [[gnu::always_inline]] Page* find(uint64_t number) const {
    if (places_.empty()) return nullptr;
    Entry* const first = places_[hash(number)];  // nearly always the one
    if (first != nullptr && first->number == number) [[likely]]
      return &first->page;
    Entry* const entry = places_[place_of(number)];
    return entry == nullptr ? nullptr : &entry->page;
  }
  // A new one of that number, of which there is none.
  Page& add(uint64_t number) {
    if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<Entry[]>(kChunk));
    Entry& entry = chunks_.back()[size_++ % kChunk];
    entry.number = number;
    if (4 * size_ > 3 * places_.size())
      grow();
    else
      places_[place_of(number)] = &entry;
    return entry.page;
  }
  size_t size() const { return size_; }
  // Calls visit(page) for each.
  template <class Visit>
  void each(Visit visit) const {
    each_entry([&](Entry& entry) { visit(entry.page); });
  }
  // Without what pages have elsewhere.
  size_t bytes() const {
    return chunks_.size() * (kChunk * sizeof(Entry) + sizeof(void*)) + places_.size() * sizeof(Entry*);
  }

 private:
  struct Entry {
    uint64_t number = 0;
    Page page{};
  };
  static constexpr size_t kChunk = 8;

  size_t hash(uint64_t number) const { return number * 0x9E3779B97F4A7C15 >> shift_; }
  // Where it stands, or may.
  [[gnu::noinline]] size_t place_of(uint64_t number) const {
    size_t at = hash(number);
    while (places_[at] != nullptr && places_[at]->number != number) at = (at + 1) & (places_.size() - 1);
    return at;
  }
  template <class Visit>
  void each_entry(Visit visit) const {
    for (size_t i = 0; i < size_; ++i) visit(chunks_[i / kChunk][i % kChunk]);
  }
  void grow() {
    --shift_;
    places_.assign(size_t{1} << (64 - shift_), nullptr);
    each_entry([&](Entry& entry) { places_[place_of(entry.number)] = &entry; });
  }

  std::vector<std::unique_ptr<Entry[]>> chunks_;
  size_t size_ = 0;
  std::vector<Entry*> places_;  // none, or a power of two
  int shift_ = 64 - 2;          // from a hash to its place; of no places yet
};

}  // namespace bitwell::hazard
