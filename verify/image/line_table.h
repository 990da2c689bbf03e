// Which lines the instructions of a cubin are of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bitwell::image {

// An instruction of machine code: the section that it is in, and its address there.
using CodeAddress = std::pair<uint32_t, uint64_t>;

struct LineRow {
  uint32_t file = 0;  // number of a name, the first is 1
  int64_t line = 0;
  uint32_t caller = 0;  // number of the row that it is inlined at, the first is 1; 0: none
};

// Of one function: rows in their order, and for each address the last of them.
struct LineSequence {
  std::vector<LineRow> rows;
  std::map<CodeAddress, size_t> at;
};

struct LineTable {
  std::vector<std::string> files;
  std::vector<LineSequence> sequences;
};

// A line number program (DWARF 2, 6.2) with NVIDIA's opcode for inlined calls, whose numbers are those of
// rows of the same function: of .debug_line, or of .nv_debug_line_sass, whose lines are those of the PTX.
// Nothing where it is another version or broken.
std::optional<LineTable> line_table(std::string_view section, std::string_view relocations,
                                    std::string_view symbols);

}  // namespace bitwell::image
