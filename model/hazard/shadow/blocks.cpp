// Pieces of memory that operations reach together again and again: what their cells hold is kept once.
#include <algorithm>

#include "model/hazard/shadow/shadow.h"

namespace bitwell::hazard {

void ShadowPage::give(std::span<Row> parts, uint32_t block) {
  Row& row = parts.front();
  row = {{row.first, 0, 0, 0, static_cast<uint16_t>(parts.back().end() - row.first), 0}, block, kNoAct};
  std::copy(parts.data() + parts.size(), rows_.get() + row_count_, parts.data() + 1);
  for (size_t i = 1; i < parts.size(); ++i) --row_count_;
  in_blocks_ = 1;
}

void ShadowPage::take_back(uint32_t block, Act write, Readers reads) {
  in_blocks_ = 0;
  for (Row& row : rows()) {
    if (row.is_block() && row.write == block)
      row = {{row.first, 0, 1, 1, row.each, row.each}, write, reads};
    else if (row.is_block())
      in_blocks_ = 1;
  }
}

template <class Visit>
bool Shadow::each_page_of(const Shape& s, Visit visit) {
  const bool beside = s.step == s.bytes;
  const uint64_t bytes = beside ? s.bytes * s.count : s.bytes;
  for (uint64_t i = 0; i < (beside ? 1 : s.count); ++i) {
    const uint64_t begin = s.address + i * s.step, end = begin + bytes;
    for (uint64_t at = begin; at < end;) {
      const uint64_t stop = std::min(end, (at / kPageBytes + 1) * kPageBytes);
      if (!visit(at, stop - at)) return false;
      at = stop;
    }
  }
  return true;
}

void Shadow::make_block(const Shape& shape) {
  std::optional<Block> made;
  const bool alike = each_page_of(shape, [&](uint64_t address, uint64_t bytes) {
    ShadowPage& page = page_there(address / kPageBytes);
    // Whoever is told how often a finding comes counts cells: as many of each piece.
    if (page.shift() != ShadowPage::kCoarsest) return false;
    const std::span<const ShadowPage::Row> parts = page.parts_there(address % kPageBytes, bytes);
    if (!made && !parts.empty()) made = {shape, parts.front().write, parts.front().reads};
    return !parts.empty() && std::ranges::all_of(parts, [&](const ShadowPage::Row& part) {
      return part.write == made->write && part.reads == made->reads;
    });
  });
  if (!alike || !made) return;
  --block_credit_;
  if (free_blocks_.empty()) {
    free_blocks_.push_back(static_cast<uint32_t>(blocks_.size()));
    blocks_.emplace_back();
  }
  const uint32_t number = free_blocks_.back();
  free_blocks_.pop_back();
  blocks_[number] = *made;
  each_page_of(shape, [&](uint64_t address, uint64_t bytes) {
    ShadowPage& page = page_there(address / kPageBytes);
    page.give(page.parts_there(address % kPageBytes, bytes), number);
    return true;
  });
}

void Shadow::end_blocks(ShadowPage& page) {
  while (const auto number = page.any_block()) {
    Block& block = blocks_[*number];
    each_page_of(block.shape, [&](uint64_t address, uint64_t) {
      page_there(address / kPageBytes).take_back(*number, block.write, block.reads);
      return true;
    });
    block = {};
    free_blocks_.push_back(*number);
  }
}

}  // namespace bitwell::hazard
