// Who has read a cell since it was last written, or has written it before: nobody, one lane, or a list that
// cells which were reached alike share. None is forgotten.
#pragma once
#include <cstdint>
#include <vector>

#include "model/hazard/shadow/record.h"

namespace bitwell::hazard {

// Lanes (one bit each) that read by one record.
struct Reader {
  uint32_t record;
  uint32_t lanes;

  auto operator<=>(const Reader&) const = default;
};

// kNoAct, an act, or kMany and the number of a list.
using Readers = uint32_t;
inline constexpr Readers kMany = uint32_t{1} << 31;

class ReaderSets {
 public:
  // `records`: those that readers name.
  explicit ReaderSets(const Records& records) : records_(records), nodes_(1) {}

  // Calls visit(reader) for each, the earliest first.
  template <class Visit>
  void each(Readers readers, Visit visit) const {
    if (readers == kNoAct) return;
    if ((readers & kMany) == 0) return visit(Reader{record_of(readers), 1u << lane_of(readers)});
    std::vector<Reader> all;
    std::swap(all, spare_);
    all.clear();
    for (uint32_t n = readers & ~kMany; n != 0; n = nodes_[n].before) all.push_back(nodes_[n].reader);
    for (size_t i = all.size(); i-- > 0;) visit(all[i]);
    std::swap(all, spare_);
  }
  // `readers` and one more. Left out are those that need not be kept: `over` says of a reader that any race
  // with it is one with the new reader too.
  template <class Over>
  Readers with(Readers readers, const Reader& more, Over over) {
    if (const Readers known = made_of(readers, more); known != kNoAct) return known;
    if (const Node& last = nodes_[(readers & kMany) != 0 ? readers & ~kMany : 0];
        last.count > kShort && last.count < 2 * last.kept)
      return made(readers, more, kMany | add(readers & ~kMany, more));
    std::vector<Reader>& all = all_;
    all.clear();
    Reader mine = more;
    each(readers, [&](const Reader& r) {
      if (r.record == more.record)
        mine.lanes |= r.lanes;
      else
        all.push_back(r);
    });
    if (all.size() > kShort) leave_out_earlier(all);
    std::erase_if(all, over);
    all.push_back(mine);
    return made(readers, more, list_of(all));
  }
  // Those of whom keep(reader) says so.
  template <class Keep>
  Readers only(Readers readers, Keep keep) {
    Readers out = kNoAct;
    bool all = true;
    each(readers, [&](const Reader& r) {
      if (keep(r)) kept_.push_back(r);
      all = all && keep(r);
    });
    if (all) out = readers;
    for (const Reader& r : kept_)
      if (!all) out = with(out, r, [](const Reader&) { return false; });
    kept_.clear();
    return out;
  }
  // each_set(visit) calls visit(readers) for all lists that are kept and puts what it returns in their place:
  // it is called twice.
  template <class Sets>
  void keep(Sets each_set) {
    std::vector<uint32_t> number(nodes_.size());  // 0: not needed
    each_set([&](Readers readers) {
      for (uint32_t n = readers & ~kMany; n != 0 && number[n] == 0; n = nodes_[n].before) number[n] = 1;
      return readers;
    });
    renumber(number);
    each_set([&](Readers readers) { return kMany | number[readers & ~kMany]; });
  }
  // Of all lists; and with what finds them again.
  size_t list_bytes() const { return nodes_.size() * sizeof(Node); }
  size_t bytes() const { return nodes_.capacity() * sizeof(Node) + steps_.size() * sizeof(Step); }

 private:
  // Lists up to this long are looked through at every step, longer ones whenever they have doubled.
  static constexpr uint32_t kShort = 16;
  static constexpr size_t kMostSteps = 4096;
  // The last reader of a list, and the list before it. Lists are never changed.
  struct Node {
    Reader reader{};
    uint32_t before = 0;
    uint32_t count = 0;  // readers
    uint32_t kept = 0;   // that there were when it was last looked through
  };
  struct Key {
    Readers readers;
    Reader more;

    bool operator==(const Key&) const = default;
  };
  struct Step {
    Key key{};
    Readers to = kNoAct;
  };
  Step& step_of(const Key& k) {
    uint64_t h = (uint64_t{k.readers} << 32 | k.more.record) * 0x9E3779B97F4A7C15;
    h ^= h >> 29;
    h = (h + k.more.lanes) * 0xBF58476D1CE4E5B9 >> 16;
    return steps_[h & (steps_.size() - 1)];
  }
  // What these and one more came to, if that is still known.
  Readers made_of(Readers readers, const Reader& more) {
    const Step& step = step_of({readers, more});
    return step.key == Key{readers, more} ? step.to : kNoAct;
  }
  Readers made(Readers readers, const Reader& more, Readers to) {
    if (++fresh_ > 2 * steps_.size() && steps_.size() < kMostSteps) {
      steps_.assign(2 * steps_.size(), Step{});
      fresh_ = 0;
    }
    step_of({readers, more}) = {{readers, more}, to};
    return to;
  }
  uint32_t add(uint32_t list, const Reader& more);
  // The number of the list with one more behind it, the same for the same.
  uint32_t link(uint32_t list, const Reader& more);
  Readers list_of(std::vector<Reader>& all);
  void renumber(std::vector<uint32_t>& number);
  void leave_out_earlier(std::vector<Reader>& all) const;

  const Records& records_;
  std::vector<Node> nodes_;            // the first is the empty list
  std::vector<Reader> all_, kept_;     // of the list that is being made
  mutable std::vector<Reader> spare_;  // of the list that is looked through
  // What became of lists of late, each at its hash's place alone: what came before there is made again.
  std::vector<Step> steps_ = std::vector<Step>(64);
  size_t fresh_ = 0;  // since there were as many places
};

}  // namespace bitwell::hazard
