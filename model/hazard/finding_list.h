// What was found: each pair of instructions once for each kind, in the order in which they were met.
#pragma once
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "model/hazard/finding.h"

namespace bitwell::hazard {

class FindingList {
 public:
  // Of each finding at most so many pairs of accesses are kept, Finding::met; fewer where there are many
  // findings. `notes`: of those too that are no errors, which take no room from errors.
  void keep(size_t most, bool notes) { most_met_ = most, notes_ = notes; }
  // As that one keeps them.
  void keep_as(const FindingList& other) { keep(other.most_met_, other.notes_); }
  // Of all errors together no list of them needs to be shorter, and likewise of all others.
  static constexpr size_t kMostMet = size_t{1} << 18;
  // An access comes, which what is added from now on is about.
  void next_access() {
    ++accesses_;
    mark();
  }
  // So many have come of which nothing is found.
  void pass(uint64_t count) { accesses_ += count; }
  // What is added from now on may be what comes several times.
  void mark() {
    marked_.which.clear();
    marked_.kept.clear();
    marked_.counted = true;
  }
  struct Marked {
    std::vector<size_t> which;  // that were added to
    std::vector<Met> kept;      // of each, the pair that was kept, if one was
    bool counted = true;        // no more was kept of them than their count
  };
  // What was added since.
  const Marked& marked() const { return marked_; }
  // That becomes what was added since, and the other way round.
  void swap_marked(Marked& other) { std::swap(marked_, other); }
  // That comes so many times more. Returns whether it could be told without the pairs of accesses.
  bool repeat(uint64_t times);
  // The same of findings of which that can be told.
  void repeat(std::span<const size_t> which, uint64_t times);
  // Whether that changes nothing but their counts.
  bool counts_alone(std::span<const size_t> which) const {
    for (const size_t i : which)
      if (has_room(all_[i])) return false;
    return true;
  }
  // The same once more; it is added since mark() too.
  void add_again(std::span<const size_t> which);
  // What was added since mark() comes once more, that far behind; counted then says whether no pair was kept
  // of that. Both parties' lanes are as many further then, where one is told.
  void repeat_at(uint64_t offset, uint32_t lanes = 0);
  // Whether what those hold can come so many times more of each, each by itself: their pairs of accesses are
  // kept all, or none, and no finding is there twice.
  bool each_may_come(std::span<const Marked> those, size_t times) const;
  // Then that of one of them comes of those pieces, the first of which is so far behind the one it is of as
  // the others are behind each other.
  void repeat_pieces(const Marked& found, const MetList::Pieces& pieces);
  Finding& add(Kind kind, const Party& earlier, const Party& later, uint64_t address, uint64_t size,
               uint32_t launches_before = 0);
  // Behind these, what another list has of so many accesses that come behind those so far.
  void add(std::vector<Finding> more, uint64_t accesses);
  const std::vector<Finding>& all() const { return all_; }
  // All, of a list to which nothing is added any more.
  std::vector<Finding> taken() { return std::move(all_); }
  // Whether one of them is about global memory.
  bool in_global() const { return in_global_; }
  uint64_t accesses() const { return accesses_; }
  // The finding that is added next, and those behind it.
  size_t size() const { return all_.size(); }
  Finding& operator[](size_t i) { return all_[i]; }

 private:
  // Of one finding whatever others have, and of all together: up to some 140 bytes each.
  static constexpr size_t kAlways = 4096;
  using Key = std::tuple<Kind, int, int, uint32_t>;
  static Key key_of(const Finding& f) {
    return {f.kind, f.earlier.site.ptx_line, f.later.site.ptx_line, f.launches_before};
  }
  static bool is_error(Kind kind) { return row_of(kind).level == Level::error; }
  // Whether there is room for one more of the pairs that are kept.
  bool has_room(const Finding& f) const { return has_room(f, 1, 0); }
  // For so many more, behind as many that others of its level are to get.
  bool has_room(const Finding& f, size_t more, size_t before) const {
    const bool error = is_error(f.kind);
    return (error || notes_) && f.met.size() + more <= most_met_ &&
           (f.met.size() + more <= kAlways || (error ? met_ : met_by_notes_) + before + more <= kMostMet);
  }
  void count_met(Kind kind, size_t more) { (is_error(kind) ? met_ : met_by_notes_) += more; }
  std::vector<Finding> all_;
  Marked marked_;
  size_t most_met_ = 0, met_ = 0, met_by_notes_ = 0;
  bool notes_ = true, in_global_ = false;
  uint64_t accesses_ = 0;          // so far
  std::map<Key, size_t> numbers_;  // of findings
};

}  // namespace bitwell::hazard
