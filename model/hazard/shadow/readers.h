// Who has read a cell since it was last written, or has written it before: nobody, one lane, or a list that
// cells which were reached alike share. None is forgotten.
#pragma once
#include <bit>
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

// kNoAct, an act, or kMany, the number of a list and, in the 5 lowest bits, by how many lanes it is turned:
// the lanes of a warp reach their cells alike most often, each its own, and these share one list.
using Readers = uint32_t;
inline constexpr Readers kMany = uint32_t{1} << 31;
inline constexpr uint32_t turn_of(Readers r) { return r % machine::kLanes; }
// Of somebody: without their turn, that is as if lane 0 were the first that has read; and turned further.
inline constexpr Readers unturned(Readers r) { return r - turn_of(r); }
inline constexpr Readers turned(Readers r, uint32_t by) { return unturned(r) + turn_of(r + by); }

class ReaderSets {
 public:
  // `records`: those that readers name.
  explicit ReaderSets(const Records& records) : records_(records), nodes_(1) {}

  // Calls visit(reader) for each, the earliest first.
  template <class Visit>
  void each(Readers readers, Visit visit) const {
    if (readers == kNoAct) return;
    if ((readers & kMany) == 0) return visit(Reader{record_of(readers), 1u << lane_of(readers)});
    const auto turn = static_cast<int>(turn_of(readers));
    std::vector<Reader> all;
    std::swap(all, spare_);
    all.clear();
    for (uint32_t n = number_of(readers); n != 0; n = nodes_[n].before)
      all.push_back({nodes_[n].reader.record, std::rotl(nodes_[n].reader.lanes, turn)});
    for (size_t i = all.size(); i-- > 0;) visit(all[i]);
    std::swap(all, spare_);
  }
  // `readers` and one more. Left out are those that need not be kept: `over` says of a reader that any race
  // with it is one with the new reader too. `alike`: it says the same if both are turned by as many lanes.
  template <class Over>
  Readers with(Readers readers, Reader more, Over over, bool alike) {
    const auto turn =
        readers == kNoAct ? static_cast<uint32_t>(std::countr_zero(more.lanes)) : turn_of(readers);
    more.lanes = std::rotr(more.lanes, static_cast<int>(turn));
    const Key key{unturned(readers), more, alike ? kAlike : turn};
    Readers out = made_of(key);
    if (out == kNoAct) {
      out = unturned_with(key.readers, more, [&](const Reader& r) {
        return over(Reader{r.record, std::rotl(r.lanes, static_cast<int>(turn))});
      });
      made(key, out);
    }
    return turned(out, turn);
  }
  Readers with(Readers readers, const Reader& more) {
    return with(
        readers, more, [](const Reader&) { return false; }, true);
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
      if (!all) out = with(out, r);
    kept_.clear();
    return out;
  }
  // each_set(visit) calls visit(readers) for all lists that are kept and puts what it returns in their place:
  // it is called twice.
  template <class Sets>
  void keep(Sets each_set) {
    std::vector<uint32_t> number(nodes_.size());  // 0: not needed
    each_set([&](Readers readers) {
      for (uint32_t n = number_of(readers); n != 0 && number[n] == 0; n = nodes_[n].before) number[n] = 1;
      return readers;
    });
    renumber(number);
    each_set([&](Readers readers) { return list(number[number_of(readers)], turn_of(readers)); });
  }
  // Of all lists; and with what finds them again.
  size_t list_bytes() const { return nodes_.size() * sizeof(Node); }
  size_t bytes() const { return nodes_.capacity() * sizeof(Node) + steps_.size() * sizeof(Step); }

 private:
  // Lists up to this long are looked through at every step, longer ones whenever they have doubled.
  static constexpr uint32_t kShort = 16;
  static constexpr size_t kMostSteps = 4096;
  static constexpr uint32_t kMostLists = 1u << 26;
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
    uint32_t who;  // the lane that both are turned by, for which that goes; or

    bool operator==(const Key&) const = default;
  };
  static constexpr uint32_t kAlike = machine::kLanes;     // for all
  static constexpr uint32_t kLink = machine::kLanes + 1;  // the list is not looked through
  struct Step {
    Key key{};
    Readers to = kNoAct;
  };
  static constexpr uint32_t number_of(Readers r) {
    return (r & kMany) != 0 ? (r & ~kMany) / machine::kLanes : 0;
  }
  static constexpr Readers list(uint32_t number, uint32_t turn) {
    return kMany | number * machine::kLanes | turn;
  }
  // Those, of whom the first is lane 0, and one more.
  template <class Over>
  Readers unturned_with(Readers readers, const Reader& more, Over over) {
    if (const Node& last = nodes_[number_of(readers)]; last.count > kShort && last.count < 2 * last.kept)
      return list(add(number_of(readers), more), 0);
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
    return list_of(all);
  }
  Step& step_of(const Key& k) {
    uint64_t h = (uint64_t{k.readers} << 32 | k.more.record) * 0x9E3779B97F4A7C15;
    h ^= h >> 29;
    h = (h + (uint64_t{k.who} << 32 | k.more.lanes)) * 0xBF58476D1CE4E5B9 >> 40;
    return steps_[h & (steps_.size() - 1)];
  }
  // What that came to, if it is still known.
  Readers made_of(const Key& key) {
    const Step& step = step_of(key);
    return step.key == key ? step.to : kNoAct;
  }
  void made(const Key& key, Readers to) {
    if (++fresh_ > 2 * steps_.size() && steps_.size() < kMostSteps) {
      steps_.assign(2 * steps_.size(), Step{});
      fresh_ = 0;
    }
    step_of(key) = {key, to};
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
