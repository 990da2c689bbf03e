// Who has read a cell since it was last written: nobody, one lane, or a set that is kept once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/hazard/record.h"

namespace bitwell::hazard {

// Lanes (one bit each) that read by one record.
struct Reader {
  uint32_t record;
  uint32_t lanes;

  auto operator<=>(const Reader&) const = default;
};

// kNoAct, an act, or kMany and the number of a set.
using Readers = uint32_t;
inline constexpr Readers kMany = uint32_t{1} << 31;
// So many are remembered of one cell, the latest: what a whole grid reads would take the square of it. A
// write that one of these is not ordered with is found all the same.
inline constexpr size_t kMostReaders = 64, kMostReadersOfGlobal = 8;

class ReaderSets {
 public:
  // Calls visit(reader) for each.
  template <class Visit>
  void each(Readers readers, Visit visit) const {
    if (readers == kNoAct) return;
    if ((readers & kMany) == 0) return visit(Reader{record_of(readers), 1u << lane_of(readers)});
    const size_t set = readers & ~kMany;
    for (size_t i = begins_[set]; i < begins_[set + 1]; ++i) visit(readers_[i]);
  }
  // `readers` and one more, at most so many; without those of whom `over` says that every lane is behind the
  // new one.
  template <class Over>
  Readers with(Readers readers, const Reader& more, size_t most, Over over) {
    const Key key{readers, more};
    if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
    std::vector<Reader>& all = all_;
    all.clear();
    each(readers, [&](Reader r) {
      if (r.record == more.record)
        r.lanes &= ~more.lanes;
      else if (over(r))
        return;
      if (r.lanes != 0) all.push_back(r);
    });
    const auto at = std::lower_bound(all.begin(), all.end(), more.record,
                                     [](const Reader& r, uint32_t record) { return r.record < record; });
    if (at != all.end() && at->record == more.record)
      at->lanes |= more.lanes;
    else
      all.insert(at, more);
    if (all.size() > most) all.erase(all.begin());
    return steps_[key] = number(all);
  }
  size_t bytes() const { return readers_.capacity() * sizeof(Reader) + begins_.capacity() * sizeof(size_t); }

 private:
  struct Key {
    Readers readers;
    Reader more;

    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      uint64_t h = (uint64_t{k.readers} << 32 | k.more.record) * 0x9E3779B97F4A7C15;
      h ^= h >> 29;
      return (h + k.more.lanes) * 0xBF58476D1CE4E5B9 >> 16;
    }
  };
  Readers number(const std::vector<Reader>& all);

  std::vector<Reader> readers_;  // one set behind the other, each by record, ascending
  std::vector<size_t> begins_{0};
  std::vector<Reader> all_;                        // the set that is being made
  std::unordered_map<uint64_t, Readers> numbers_;  // by hash
  std::unordered_map<Key, Readers, Hash> steps_;
};

}  // namespace bitwell::hazard
