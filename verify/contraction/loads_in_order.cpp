// Behind which loads machine code has others.
#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "verify/contraction/code_of_lines.h"
#include "verify/contraction/instructions.h"

namespace bitwell::contraction {
namespace {

// As nvdisasm 13.5 names them.
constexpr uint32_t kLoads[] = {0x03b, 0x180, 0x181, 0x183, 0x184};  // LDSM, LD, LDG, LDL, LDS
// Behind which a warp may be elsewhere: BSYNC, BREAK, CALL, BRA, BRX, JMX, EXIT, RET.
constexpr uint32_t kBranches[] = {0x141, 0x142, 0x144, 0x147, 0x149, 0x14a, 0x14d, 0x150};

bool is_of(const auto& all, uint32_t opcode) {
  return std::find(std::begin(all), std::end(all), opcode) != std::end(all);
}

}  // namespace

std::map<int64_t, std::vector<int64_t>> loads_waited_for(const std::vector<CodeWord>& code) {
  std::map<int64_t, uint32_t> loops;  // that count
  for (const CodeWord& i : of_most_rounds(code)) loops[i.line] = i.loop;
  // A line, and which of its copies in a loop: those of one round of the PTX have the same number.
  using Load = std::pair<int64_t, uint32_t>;
  std::array<std::set<Load>, CodeWord::kBarriers> pending, waited;
  std::map<int64_t, std::map<int64_t, uint32_t>> behind;    // by line: lines, and in how many of its copies
  std::map<std::pair<int64_t, uint32_t>, uint32_t> copies;  // by line and loop: so far
  for (const CodeWord& i : code) {
    if (i.begins) {
      pending = {};
      waited = {};
    }
    for (uint32_t b = 0; b < CodeWord::kBarriers; ++b)
      if ((i.waits() >> b & 1) != 0 && !pending[b].empty()) {
        waited[b] = std::move(pending[b]);
        pending[b] = {};
      }
    if (is_of(kLoads, i.opcode())) {
      const uint32_t copy = copies[{i.line, i.loop}]++;
      if (i.loop == loops[i.line]) {
        std::set<int64_t> all;
        for (const auto& some : waited)
          for (const auto& [line, its_copy] : some)
            if (its_copy == copy) all.insert(line);
        for (const int64_t line : all) ++behind[i.line][line];
      }
      if (i.sets() < CodeWord::kBarriers) pending[i.sets()].insert({i.line, copy});
    }
    if (is_of(kBranches, i.opcode())) waited = {};
  }
  std::map<int64_t, std::vector<int64_t>> out;
  for (const auto& [line, lines] : behind)
    for (const auto& [before, times] : lines)
      if (times == copies[{line, loops[line]}]) out[line].push_back(before);
  return out;
}

}  // namespace bitwell::contraction
