#include "model/run/watch/follow.h"

#include <algorithm>

#include "model/run/cluster.h"

namespace bitwell::run {

using machine::AccessKind;
using machine::Region;

namespace {

bool is_shared(uint64_t address) { return address - machine::kSharedWindow < machine::kWindowSize; }
bool is_tensor(uint64_t address) { return address >> 40 == machine::kTensorWindow >> 40; }

}  // namespace

uint64_t Follow::Output::bytes() const {
  uint64_t out = 0;
  for (const auto& [from, behind] : runs) out += behind - from;
  return out;
}

Follow::Follow(std::vector<Mark> marks, How how) : marks_(std::move(marks)), how_(how) {
  std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) { return a.access < b.access; });
}

void Follow::begin(machine::Memory& memory) const {
  for (const Mark& m : marks_)
    if (!is_shared(m.address) && !is_tensor(m.address))
      if (Region* region = memory.find(m.address, m.bytes)) region->follow_written();
}

void Follow::told(const machine::Access& a, const Cluster& cluster) {
  // Pieces of one operation are told together, before any is read or written.
  const bool together = a.operation != 0 && a.operation == last_.operation && a.kind == last_.kind;
  if (!together) over();
  last_ = {a.operation, a.kind, a.ptx_line};
  ++accesses_;
  but_ = ~0u;
  for (; next_ < marks_.size() && marks_[next_].access == accesses_; ++next_)
    but_ &= marks_[next_].but, mark(marks_[next_], a.kind, cluster);
}

void Follow::show(bool showing) {
  for (const Changed& c : hidden_) *c.at = showing ? c.was : changed(c.was);
}

void Follow::over() {
  for (; !hidden_.empty(); hidden_.pop_back()) *hidden_.back().at = hidden_.back().was;
  for (uint8_t* at : to_change_) *at = changed(*at);
  to_change_.clear();
  last_.operation = 0;
}

void Follow::mark(const Mark& m, AccessKind kind, const Cluster& cluster) {
  const bool inverts = how_ == How::inverted;
  const auto change = [&](uint8_t* at) {
    if (kind == AccessKind::write) return to_change_.push_back(at);
    if (kind == AccessKind::read) hidden_.push_back({at, *at});
    *at = changed(*at);
  };
  if (is_tensor(m.address)) {
    const uint64_t rank = m.address >> 32 & 0xFF, lane = m.address >> 16 & 0xFFFF,
                   column = m.address & 0xFFFF;
    for (uint64_t i = 0; i < m.bytes; ++i) {
      const auto cell = cluster.ctas[rank]->tensor_memory.cells(static_cast<uint32_t>(lane + i),
                                                                static_cast<uint32_t>(column), 1, "");
      auto* const bytes = reinterpret_cast<uint8_t*>(cell.words);
      for (size_t b = 0; inverts && b < sizeof *cell.words; ++b) change(bytes + b);
      if (!inverts) change(cell.written);
    }
    ++met_;
    return;
  }
  const bool shared = is_shared(m.address);
  const uint64_t address = shared ? m.address - machine::kSharedWindow : m.address;
  Region* const region = shared ? &cluster.ctas[address >> machine::kRankShift]->shared
                                : cluster.grid.global.find(address, m.bytes);
  if (region == nullptr || region->raw_defined() == nullptr) return;
  ++met_;
  uint8_t* const at = inverts ? reinterpret_cast<uint8_t*>(region->raw_bytes()) : region->raw_defined();
  for (uint64_t i = 0; i < m.bytes; ++i) change(at + (address - region->base()) + i);
  if (!inverts && kind == AccessKind::write && !shared) stored_here(*region, address, m.bytes);
}

void Follow::used(int ptx_line, const std::string& as) {
  const auto known = std::find_if(uses_.begin(), uses_.end(),
                                  [&](const Use& u) { return u.ptx_line == ptx_line && u.as == as; });
  if (known != uses_.end())
    ++known->times;
  else
    uses_.push_back({ptx_line, as});
}

void Follow::stored(const Region& region, uint64_t address, uint64_t bytes, int ptx_line) {
  auto out = std::find_if(outputs_.begin(), outputs_.end(),
                          [&](const Output& o) { return o.buffer == region.name(); });
  if (out == outputs_.end()) out = outputs_.insert(out, {region.name(), {}, ptx_line});
  const uint64_t from = address - region.base(), behind = from + bytes;
  auto& runs = out->runs;
  auto next = runs.upper_bound(from);
  if (next == runs.begin() || std::prev(next)->second < from)
    next = std::next(runs.emplace_hint(next, from, behind));
  uint64_t& end = std::prev(next)->second;  // of the run that has them now
  end = std::max(end, behind);
  for (; next != runs.end() && next->first <= end; next = runs.erase(next)) end = std::max(end, next->second);
}

}  // namespace bitwell::run
