#include <algorithm>

#include "model/hazard/finding.h"

namespace bitwell::hazard {
namespace {

bool same_but_lane(const Party& a, const Party& b) {
  // All at once: most often they are the same.
  const auto other = [](auto x, auto y) { return static_cast<uint32_t>(x) ^ static_cast<uint32_t>(y); };
  return (other(a.site.ptx_line, b.site.ptx_line) | other(a.site.actor, b.site.actor) |
          other(a.site.kind, b.site.kind) | other(a.site.tensor, b.site.tensor) | other(a.cta[0], b.cta[0]) |
          other(a.cta[1], b.cta[1]) | other(a.cta[2], b.cta[2]) | other(a.warp, b.warp)) == 0 &&
         a.site.order == b.site.order;
}

}  // namespace

Met MetList::Run::at(size_t i) const {
  Met out = first;
  out.access += i / in_turn * turn_access;
  out.address += i / in_turn * turn_address;
  i %= in_turn;
  out.access += i * access;
  out.address += i * address;
  out.earlier.lane += static_cast<int>(i) * earlier_lane;
  out.later.lane += static_cast<int>(i) * later_lane;
  return out;
}

bool MetList::Run::goes_on_with(const Met& one) {
  if (in_turn != SIZE_MAX) return false;
  if (count == 1) {
    access = one.access - first.access;
    address = one.address - first.address;
    earlier_lane = one.earlier.lane - first.earlier.lane;
    later_lane = one.later.lane - first.later.lane;
  }
  const int times = static_cast<int>(count);
  return one.address == first.address + count * address && one.access == first.access + count * access &&
         one.bytes == first.bytes && one.earlier.lane == first.earlier.lane + times * earlier_lane &&
         one.later.lane == first.later.lane + times * later_lane &&
         same_but_lane(one.earlier, first.earlier) && same_but_lane(one.later, first.later);
}

Met MetList::operator[](size_t i) const {
  if (i >= all_->back().begin) return all_->back().at(i - all_->back().begin);  // as most often
  const auto behind = std::upper_bound(all_->begin(), all_->end(), i,
                                       [](size_t at, const Run& run) { return at < run.begin; });
  const Run& run = *std::prev(behind);
  return run.at(i - run.begin);
}

std::vector<MetList::Run>& MetList::own() {
  if (all_ == nullptr)
    all_ = std::make_shared<std::vector<Run>>();
  else if (all_.use_count() != 1)
    all_ = std::make_shared<std::vector<Run>>(*all_);
  return *all_;
}

void MetList::push_back(const Met& one) {
  std::vector<Run>& runs = own();
  if (!runs.empty() && runs.back().goes_on_with(one))
    ++runs.back().count;
  else
    runs.push_back({one, runs.empty() ? 0 : runs.back().begin + runs.back().count});
}

void MetList::push_back(const Met& first, const Pieces& pieces) {
  if (pieces.all() == 0) return;
  const size_t before = size();
  std::vector<Run>& runs = own();
  runs.push_back({first, before, pieces.all()});
  Run& run = runs.back();
  run.address = pieces.cell;
  run.in_turn = pieces.cells;
  run.turn_access = pieces.access;
  run.turn_address = pieces.address;
}

void MetList::cut_and_shift(size_t most, uint64_t accesses) {
  if (empty()) return;
  if (most == 0) return all_.reset();
  std::vector<Run>& runs = own();
  while (runs.back().begin >= most) runs.pop_back();
  runs.back().count = std::min(runs.back().count, most - runs.back().begin);
  for (Run& run : runs) run.first.access += accesses;
}

}  // namespace bitwell::hazard
