// Tensor memory of a CTA: lanes by columns of 32-bit cells that know whether they were written, and who has
// columns of it (PTX ISA 9.0, 9.7.16.1 and 9.7.16.7.1).
#pragma once
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/layout/tensor_memory.h"

namespace bitwell::machine {

inline constexpr uint32_t kTensorLanes = 128;
inline constexpr uint32_t kLeastTensorColumns = 32;

// A tcgen05 address: the lane in bits 31:16, the column in bits 15:0.
using TensorPlace = layout::TensorCell;
constexpr TensorPlace tensor_place(uint32_t word) { return {word >> 16, word & 0xFFFF}; }

class TensorMemory {
 public:
  // A run of columns for the CTA, the lowest that is free and long enough; nothing where none is now. Throws
  // Fault where the manual does not allow it: a size that is no power of two from 32 to all columns, a larger
  // one than before, after relinquish, or with another cta_group than before.
  std::optional<uint32_t> allocate(uint32_t columns, int cta_group);
  // The same in two steps, for a pair of CTAs: each asks, which throws; then one run is both's, the lowest
  // that is free in both.
  void ask(uint32_t columns, int cta_group);
  static std::optional<uint32_t> allocate(TensorMemory& one, TensorMemory& other, uint32_t columns);
  // Throws Fault where allocate gave no such run.
  void free(uint32_t column, uint32_t columns, int cta_group);
  void relinquish(int cta_group);
  bool relinquished() const { return relinquished_; }

  bool allocated() const { return !runs_.empty(); }
  bool allocated(uint32_t column) const;
  // What a cell of an allocated column holds; nothing where it was not written since.
  std::optional<uint32_t> word(TensorPlace at) const;
  // "columns 0 to 127, 256 to 319", or "no columns".
  std::string describe() const;

  // The columns that were ever allocated, and those of them in which a cell was written.
  struct Used {
    std::bitset<layout::kTensorColumns> allocated, written;
  };
  Used used() const;

  // The cells of `count` columns from `column` on in one lane; those of the next lane stand kTensorColumns
  // further on. Throws Fault, naming `what`, where they are not all in one run that is allocated.
  struct Cells {
    uint32_t* words;
    uint8_t* written;  // 1 or 0 a cell
  };
  Cells cells(uint32_t lane, uint32_t column, uint32_t count, const char* what);

 private:
  struct Run {
    uint32_t first, count;
  };
  void use(int cta_group);
  bool is_free(uint32_t first, uint32_t columns) const;
  void take(uint32_t first, uint32_t columns);
  void note(const Run& run, Used& used) const;

  std::vector<Run> runs_;  // by first
  Used freed_;             // what is freed had used
  uint32_t last_size_ = 0;
  int cta_group_ = 0;  // of all of the kernel's instructions; 0: none yet
  bool relinquished_ = false;
  // [lane][column], as soon as columns are allocated.
  std::vector<uint32_t> words_;
  std::vector<uint8_t> written_;
};

}  // namespace bitwell::machine
