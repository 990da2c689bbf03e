#include "model/hazard/record.h"

#include <algorithm>

#include "model/machine/failure.h"

namespace bitwell::hazard {

namespace {

constexpr size_t kMostRecords = size_t{1} << 26;  // an act has 5 bits of lane, and one says that it is many

}  // namespace

uint32_t Records::site(const Site& s) {
  const auto [at, fresh] = site_numbers_.try_emplace(
      {s.ptx_line, s.actor, s.kind, s.order.semantics, s.order.scope, s.order.proxy, s.tensor},
      static_cast<uint32_t>(sites_.size()));
  if (fresh) sites_.push_back(s);
  return at->second;
}

uint32_t Records::tensor_order(const machine::TensorOrder& order) {
  const auto at = std::find(tensor_orders_.begin() + 1, tensor_orders_.end(), order);
  const auto number = static_cast<uint32_t>(at - tensor_orders_.begin());
  if (at == tensor_orders_.end()) tensor_orders_.push_back(order);
  return number;
}

uint32_t Records::add(const Record& record) {
  if (records_.size() == kMostRecords)
    throw machine::Unsupported("the race check can tell " + std::to_string(kMostRecords) +
                               " accesses apart, this launch has more: a smaller one shows the same races");
  records_.push_back(record);
  return static_cast<uint32_t>(records_.size() - 1);
}

uint32_t Records::record(const Record& record) {
  Last& last = last_[uint64_t{record.unit} << 32 | record.site];
  if (last.record == 0 || last.time != record.time) last = {record.time, add(record)};
  return last.record;
}

uint32_t Records::unfinished(uint32_t site) { return add({kUnfinished, 0, site}); }

}  // namespace bitwell::hazard
