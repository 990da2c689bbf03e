#include "model/hazard/shadow/readers.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace bitwell::hazard {

namespace {

// What acts of one unit have in common for whom a later one stands for an earlier.
uint64_t class_of(const Record& record, const Site& site) {
  return uint64_t{record.unit} << 32 | uint64_t{site.tensor} << 8 | static_cast<uint64_t>(site.actor) << 4 |
         static_cast<uint64_t>(site.order.proxy) << 2 | strength(site);
}

}  // namespace

uint32_t ReaderSets::add(uint32_t list, const Reader& more) {
  nodes_.push_back({more, list, nodes_[list].count + 1, nodes_[list].kept});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t ReaderSets::link(uint32_t list, const Reader& more) {
  const Readers known = made_of(kMany | list, more);
  if (known == kNoAct) return made(kMany | list, more, kMany | add(list, more)) & ~kMany;
  if ((known & kMany) != 0) return known & ~kMany;
  return link(0, {record_of(known), 1u << lane_of(known)});
}

Readers ReaderSets::list_of(std::vector<Reader>& all) {
  if (all.size() == 1 && std::has_single_bit(all[0].lanes))
    return act(all[0].record, static_cast<uint32_t>(std::countr_zero(all[0].lanes)));
  uint32_t list = 0;
  const bool rare = all.size() > kShort;  // no other way leads to the same: not worth to be looked up
  for (const Reader& r : all) list = rare ? add(list, r) : link(list, r);
  nodes_[list].kept = nodes_[list].count;
  return kMany | list;
}

// Leaves the marked ones, in their order: a list stands behind the one that it goes on from.
void ReaderSets::renumber(std::vector<uint32_t>& number) {
  uint32_t next = 1;
  for (size_t n = 1; n < nodes_.size(); ++n) {
    if (number[n] == 0) continue;
    number[n] = next;
    Node node = nodes_[n];
    node.before = number[node.before];
    nodes_[next++] = node;
  }
  nodes_.resize(next);
  steps_.assign(steps_.size(), Step{});
}

// Who is behind what a lane did is behind what it did before.
void ReaderSets::leave_out_earlier(std::vector<Reader>& all) const {
  struct Later {
    uint32_t lanes = 0, time = UINT32_MAX;
  };
  std::unordered_map<uint64_t, Later> later;
  for (size_t i = all.size(); i-- > 0;) {
    const Record& record = records_[all[i].record];
    if (record.unit == kUnfinished) continue;
    Later& l = later[class_of(record, records_.site_of(record))];
    if (record.time > l.time) continue;  // operations may read in another order than they were issued
    all[i].lanes &= ~l.lanes;
    l = {l.lanes | all[i].lanes, record.time};
  }
  std::erase_if(all, [](const Reader& r) { return r.lanes == 0; });
}

}  // namespace bitwell::hazard
