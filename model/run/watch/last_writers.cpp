#include "model/run/watch/last_writers.h"

#include <algorithm>

#include "model/machine/tensor/tensor_memory.h"

namespace bitwell::run {
namespace {

constexpr uint64_t kColumns = layout::kTensorColumns;
constexpr uint64_t kCells = machine::kTensorLanes * kColumns;
constexpr uint64_t kRanks = 256;  // more than a cluster has
constexpr uint64_t kOffset = (uint64_t{1} << machine::kRankShift) - 1;

std::vector<int>& of_rank(std::vector<std::vector<int>>& all, uint64_t rank, uint64_t size) {
  if (all.size() <= rank) all.resize(rank + 1);
  if (all[rank].size() < size) all[rank].resize(size);
  return all[rank];
}
int at(const std::vector<std::vector<int>>& all, uint64_t rank, uint64_t place) {
  return rank < all.size() && place < all[rank].size() ? all[rank][place] : 0;
}

}  // namespace

void LastWriters::note(const machine::Access& access) {
  if (access.kind == machine::AccessKind::read || access.mbarrier) return;
  const auto write = [&](uint64_t address) {
    if (const uint64_t to = address - machine::kTensorWindow; to < kRanks * machine::kWindowSize) {
      const uint64_t lane = to >> 16 & 0xFFFF, column = to & 0xFFFF;
      Lines& cells = of_rank(cells_, to >> 32, kCells);
      const uint64_t end = column + access.bytes / 4;
      const uint64_t before = access.gap == 0 ? end : column + access.columns_before_gap;
      for (uint64_t l = lane; l < lane + access.rows; ++l) {
        const auto at = cells.begin() + static_cast<std::ptrdiff_t>(l * kColumns);
        const auto part = [&](uint64_t from, uint64_t behind) {
          std::fill(at + static_cast<std::ptrdiff_t>(from), at + static_cast<std::ptrdiff_t>(behind),
                    access.ptx_line);
        };
        part(column, before);
        if (access.gap != 0) part(before + access.gap, end);
      }
    } else if (const uint64_t shared = address - machine::kSharedWindow; shared < machine::kWindowSize) {
      const uint64_t first = shared & kOffset;
      Lines& bytes = of_rank(shared_, shared >> machine::kRankShift, first + access.bytes);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), access.bytes, access.ptx_line);
    }
  };
  if (access.lanes == 0) return write(access.addresses[0]);
  for (uint32_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1)
    write(access.addresses[static_cast<size_t>(__builtin_ctz(lanes))]);
}

std::string LastWriters::of_shared(uint64_t address, uint64_t size) const {
  for (uint64_t a = address; a < address + size; ++a)
    if (const int line = at(shared_, a >> machine::kRankShift, a & kOffset); line != 0) return named(line);
  return "";
}

std::string LastWriters::of_cell(uint32_t rank, uint32_t lane, uint32_t column) const {
  return named(at(cells_, rank, lane * kColumns + column));
}

std::string LastWriters::named(int line) const {
  if (line == 0) return "";
  const std::string where = "PTX line " + std::to_string(line);
  for (const isa::Function& f : program_.functions)
    for (const isa::Line& l : f.lines)
      if (l.ptx == line)
        return "'" + l.text + "' of " + where + (l.cuda == nullptr ? "" : " (" + l.cuda->words + ")");
  return where;
}

}  // namespace bitwell::run
