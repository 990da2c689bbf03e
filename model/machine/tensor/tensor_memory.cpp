#include "model/machine/tensor/tensor_memory.h"

#include <algorithm>
#include <bit>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

constexpr auto kColumns = static_cast<uint32_t>(layout::kTensorColumns);

std::string range(uint32_t first, uint32_t count) {
  return count == 1 ? std::to_string(first)
                    : std::to_string(first) + " to " + std::to_string(first + count - 1);
}

}  // namespace

void TensorMemory::use(int cta_group) {
  if (cta_group_ != 0 && cta_group_ != cta_group)
    throw Fault("tcgen05 with .cta_group::" + std::to_string(cta_group) +
                " in a CTA that has used .cta_group::" + std::to_string(cta_group_) + ": a kernel uses one");
  cta_group_ = cta_group;
}

void TensorMemory::ask(uint32_t columns, int cta_group) {
  use(cta_group);
  if (!std::has_single_bit(columns) || columns < kLeastTensorColumns || columns > kColumns)
    throw Fault("tcgen05.alloc of " + std::to_string(columns) + " columns, it must be a power of two from " +
                std::to_string(kLeastTensorColumns) + " to " + std::to_string(kColumns));
  if (relinquished_) throw Fault("tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  if (last_size_ != 0 && columns > last_size_)
    throw Fault("tcgen05.alloc of " + std::to_string(columns) + " columns after one of " +
                std::to_string(last_size_) + ": allocations of a CTA must not grow");
}

std::optional<uint32_t> TensorMemory::allocate(uint32_t columns, int cta_group) {
  ask(columns, cta_group);
  return allocate(*this, *this, columns);
}

std::optional<uint32_t> TensorMemory::allocate(TensorMemory& one, TensorMemory& other, uint32_t columns) {
  std::vector<uint32_t> firsts{0};  // where the lowest run can start
  for (const TensorMemory* memory : {&one, &other})
    for (const Run& r : memory->runs_) firsts.push_back(r.first + r.count);
  std::sort(firsts.begin(), firsts.end());
  const auto at = std::find_if(firsts.begin(), firsts.end(), [&](uint32_t first) {
    return one.is_free(first, columns) && other.is_free(first, columns);
  });
  if (at == firsts.end()) return std::nullopt;
  one.take(*at, columns);
  if (&other != &one) other.take(*at, columns);
  return *at;
}

bool TensorMemory::is_free(uint32_t first, uint32_t columns) const {
  return first + columns <= kColumns && std::none_of(runs_.begin(), runs_.end(), [&](const Run& r) {
           return first < r.first + r.count && r.first < first + columns;
         });
}

void TensorMemory::take(uint32_t first, uint32_t columns) {
  const auto behind = std::find_if(runs_.begin(), runs_.end(), [&](const Run& r) { return r.first > first; });
  runs_.insert(behind, {first, columns});
  last_size_ = columns;
  if (words_.empty()) {
    words_.resize(size_t{kTensorLanes} * kColumns);
    written_.resize(words_.size());
  }
  for (uint32_t lane = 0; lane < kTensorLanes; ++lane)
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(lane * kColumns + first), columns, uint8_t{0});
}

void TensorMemory::free(uint32_t column, uint32_t columns, int cta_group) {
  use(cta_group);
  const auto at = std::find_if(runs_.begin(), runs_.end(),
                               [&](const Run& r) { return r.first == column && r.count == columns; });
  if (at == runs_.end())
    throw Fault("tcgen05.dealloc of " + std::to_string(columns) + " columns from column " +
                std::to_string(column) + " on; allocated: " + describe());
  note(*at, freed_);
  runs_.erase(at);
}

void TensorMemory::note(const Run& run, Used& used) const {
  std::vector<uint8_t> any(run.count);
  for (uint32_t lane = 0; lane < kTensorLanes; ++lane)
    for (uint32_t c = 0; c < run.count; ++c) any[c] |= written_[size_t{lane} * kColumns + run.first + c];
  for (uint32_t c = 0; c < run.count; ++c) {
    used.allocated.set(run.first + c);
    if (any[c] != 0) used.written.set(run.first + c);
  }
}

TensorMemory::Used TensorMemory::used() const {
  Used out = freed_;
  for (const Run& r : runs_) note(r, out);
  return out;
}

void TensorMemory::relinquish(int cta_group) {
  use(cta_group);
  relinquished_ = true;
}

bool TensorMemory::allocated(uint32_t column) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const Run& r) { return column >= r.first && column - r.first < r.count; });
}

std::optional<uint32_t> TensorMemory::word(TensorPlace at) const {
  const size_t cell = size_t{at.lane} * kColumns + at.column;
  if (written_.empty() || written_[cell] == 0) return std::nullopt;
  return words_[cell];
}

std::string TensorMemory::describe() const {
  if (runs_.empty()) return "no columns";
  std::string out = "columns ";
  for (const Run& r : runs_) out += (&r == &runs_.front() ? "" : ", ") + range(r.first, r.count);
  return out;
}

TensorMemory::Cells TensorMemory::cells(uint32_t lane, uint32_t column, uint32_t count, const char* what) {
  if (lane >= kTensorLanes)
    throw Fault(std::string(what) + " reaches lane " + std::to_string(lane) +
                " of tensor memory, which has " + std::to_string(kTensorLanes));
  const bool inside = std::any_of(runs_.begin(), runs_.end(), [&](const Run& r) {
    return column >= r.first && count <= r.count && column - r.first <= r.count - count;
  });
  if (!inside)
    throw Fault(std::string(what) + " reaches column" + (count == 1 ? " " : "s ") + range(column, count) +
                " of tensor memory; allocated: " + describe());
  const size_t at = size_t{lane} * kColumns + column;
  return {words_.data() + at, written_.data() + at};
}

}  // namespace bitwell::machine
