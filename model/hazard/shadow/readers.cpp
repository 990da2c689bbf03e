#include "model/hazard/shadow/readers.h"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

#include "model/machine/failure.h"

namespace bitwell::hazard {

namespace {

// What acts of one unit have in common for whom a later one stands for an earlier.
uint64_t class_of(const Record& record, const Site& site) {
  return uint64_t{record.unit} << 32 | uint64_t{site.tensor} << 8 | static_cast<uint64_t>(site.actor) << 4 |
         static_cast<uint64_t>(site.order.proxy) << 2 | strength(site);
}

}  // namespace

uint32_t ReaderSets::add(uint32_t list, const Reader& more) {
  if (nodes_.size() == kMostLists)
    throw machine::Unsupported(
        "the race check can tell " + std::to_string(kMostLists) +
        " lists of readers apart, this launch has more: a smaller one shows the same races");
  nodes_.push_back({more, list, nodes_[list].count + 1, nodes_[list].kept});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t ReaderSets::link(uint32_t number, const Reader& more) {
  const Key key{list(number, 0), more, kLink};
  Readers to = made_of(key);
  if (to == kNoAct) made(key, to = list(add(number, more), 0));
  return number_of(to);
}

Readers ReaderSets::list_of(std::vector<Reader>& all) {
  const auto turn = static_cast<uint32_t>(std::countr_zero(all[0].lanes));
  if (all.size() == 1 && std::has_single_bit(all[0].lanes)) return act(all[0].record, turn);
  uint32_t number = 0;
  const bool rare = all.size() > kShort;  // no other way leads to the same: not worth to be looked up
  for (const Reader& r : all) {
    const Reader mine{r.record, std::rotr(r.lanes, static_cast<int>(turn))};
    number = rare ? add(number, mine) : link(number, mine);
  }
  nodes_[number].kept = nodes_[number].count;
  return list(number, turn);
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
