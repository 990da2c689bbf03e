#include "model/hazard/finding_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

Finding& FindingList::add(Kind kind, const Party& earlier, const Party& later, uint64_t address,
                          uint64_t size, uint32_t launches_before) {
  const auto [at, fresh] =
      numbers_.try_emplace({kind, earlier.site.ptx_line, later.site.ptx_line, launches_before}, all_.size());
  if (fresh) {
    all_.push_back({kind, earlier, later, Side::either, address, size});
    all_.back().launches_before = launches_before;
    in_global_ = in_global_ || machine::is_global(address);
  } else {
    ++all_[at->second].count;
  }
  Finding& out = all_[at->second];
  marked_.which.push_back(at->second);
  Met& kept = marked_.kept.emplace_back();
  if (!has_room(out)) return out;
  count_met(kind, 1);
  marked_.counted = false;
  kept = {accesses_, address, size, earlier, later};
  out.met.push_back(kept);
  return out;
}

void FindingList::repeat_at(uint64_t offset, uint32_t lanes) {
  marked_.counted = true;
  for (size_t i = 0; i < marked_.which.size(); ++i) {
    Finding& f = all_[marked_.which[i]];
    ++f.count;
    if (!has_room(f)) continue;
    count_met(f.kind, 1);
    marked_.counted = false;
    Met again = marked_.kept[i];
    again.access = accesses_;
    again.address += offset;
    for (Party* const party : {&again.earlier, &again.later})
      if (party->lane >= 0) party->lane = (party->lane + static_cast<int>(lanes)) % machine::kLanes;
    f.met.push_back(again);
  }
}

bool FindingList::each_may_come(std::span<const Marked> those, size_t times) const {
  std::array<size_t, 2> before{};  // of notes, of errors
  for (size_t m = 0; m < those.size(); ++m)
    for (size_t i = 0; i < those[m].which.size(); ++i) {
      const size_t number = those[m].which[i];
      for (size_t other = 0; other <= m; ++other) {
        const auto& which = those[other].which;
        const auto end = other == m ? which.begin() + static_cast<std::ptrdiff_t>(i) : which.end();
        if (std::find(which.begin(), end, number) != end) return false;
      }
      const Finding& f = all_[number];
      if (!has_room(f)) continue;
      size_t& others = before[is_error(f.kind) ? 1 : 0];
      if (!has_room(f, times, others)) return false;
      others += times;
    }
  return true;
}

void FindingList::repeat_pieces(const Marked& found, const MetList::Pieces& pieces) {
  for (size_t i = 0; i < found.which.size(); ++i) {
    Finding& f = all_[found.which[i]];
    f.count += pieces.all();
    if (!has_room(f)) continue;
    count_met(f.kind, pieces.all());
    Met first = found.kept[i];
    first.access += pieces.access;
    first.address += pieces.address;
    f.met.push_back(first, pieces);
  }
}

bool FindingList::repeat(uint64_t times) {
  if (marked_.counted) repeat(marked_.which, times);
  return marked_.counted;
}

void FindingList::repeat(std::span<const size_t> which, uint64_t times) {
  for (const size_t i : which) all_[i].count += times;
}

void FindingList::add_again(std::span<const size_t> which) {
  for (const size_t i : which) {
    ++all_[i].count;
    marked_.which.push_back(i);
    marked_.kept.emplace_back();
  }
}

void FindingList::add(std::vector<Finding> more, uint64_t accesses) {
  for (Finding& f : more) {
    const auto [at, fresh] = numbers_.try_emplace(key_of(f), all_.size());
    if (fresh) {
      f.met.cut_and_shift(most_met_, accesses_);
      count_met(f.kind, f.met.size());
      all_.push_back(std::move(f));
      continue;
    }
    Finding& out = all_[at->second];
    out.count += f.count;
    // As add() has it: of the last.
    if (!f.object.name.empty()) out.object = std::move(f.object);
    if (!f.where.empty()) out.where = std::move(f.where);
    for (Finding::Met one : f.met) {
      if (out.met.size() >= most_met_) break;
      one.access += accesses_;
      out.met.push_back(one);
      count_met(f.kind, 1);
    }
  }
  accesses_ += accesses;
}

}  // namespace bitwell::hazard
