// What is remembered of each piece of memory: who wrote it last, and who has read it since.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/hazard/readers.h"

namespace bitwell::hazard {

struct Cell {
  Act write = kNoAct;
  Readers reads = kNoAct;
};

// Cells of a page are as coarse as the finest access to it, so that an access covers whole cells: 16 bytes at
// first, then 8, 4, 2 or 1. 8 bytes of shadow a cell.
class Shadow {
 public:
  // Calls visit(cell, address, size) for each cell of the bytes.
  template <class Visit>
  void each(uint64_t address, uint64_t bytes, Visit visit) {
    for (const uint64_t end = address + bytes; address < end;) {
      Page& page = page_of(address / kPageBytes);
      const uint64_t first = address % kPageBytes;
      const uint64_t last = std::min(kPageBytes, first + (end - address));
      if (const uint64_t mask = (uint64_t{1} << page.shift) - 1; ((first | last) & mask) != 0) [[unlikely]]
        refine(page, std::countr_zero(first | last));
      const int shift = page.shift;
      for (uint64_t i = first >> shift; i < last >> shift; ++i)
        visit(page.cells[i], address - first + (i << shift), uint64_t{1} << shift);
      address += last - first;
    }
  }
  // The same of cells that exist, unchanged.
  template <class Visit>
  void each_touched(uint64_t address, uint64_t bytes, Visit visit) const {
    for (const uint64_t end = address + bytes; address < end;) {
      const uint64_t stop = std::min(end, (address / kPageBytes + 1) * kPageBytes);
      if (const auto at = pages_.find(address / kPageBytes); at != pages_.end()) {
        const uint64_t size = uint64_t{1} << at->second.shift;
        for (uint64_t a = address / size * size; a < stop; a += size)
          visit(at->second.cells[a % kPageBytes / size], a, size);
      }
      address = stop;
    }
  }
  // Calls visit(cell) for each that there is.
  template <class Visit>
  void each_cell(Visit visit) {
    for (auto& [number, page] : pages_)
      for (uint64_t i = 0; i < kPageBytes >> page.shift; ++i) visit(page.cells[i]);
  }
  // Of cells and pages.
  size_t bytes() const { return bytes_; }
  size_t touched() const { return pages_.size() * kPageBytes; }

 private:
  static constexpr uint64_t kPageBytes = 256;
  static constexpr int kCoarsest = 4;  // 16 bytes
  struct Page {
    int shift = kCoarsest;
    std::unique_ptr<Cell[]> cells;
  };
  Page& page_of(uint64_t number) {
    if (number == last_number_) [[likely]]
      return *last_;
    last_number_ = number;
    last_ = &pages_[number];
    if (last_->cells == nullptr) {
      last_->cells = std::make_unique<Cell[]>(kPageBytes >> kCoarsest);
      bytes_ += (kPageBytes >> kCoarsest) * sizeof(Cell) + sizeof(Page);
    }
    return *last_;
  }
  void refine(Page& page, int shift);

  std::unordered_map<uint64_t, Page> pages_;  // by address / kPageBytes
  uint64_t last_number_ = UINT64_MAX;
  Page* last_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace bitwell::hazard
