// Behind which loads machine code has others.
#include <algorithm>
#include <array>
#include <set>
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

std::map<int64_t, std::vector<int64_t>> loads_waited_for(std::string_view cubin) {
  std::array<std::set<int64_t>, CodeWord::kBarriers> pending, waited;
  std::map<int64_t, std::map<int64_t, uint32_t>> behind;  // by line: lines, and in how many of its copies
  std::map<int64_t, uint32_t> copies;
  each_instruction(cubin, [&](const CodeWord& i) {
    if (i.begins) {
      pending = {};
      waited = {};
    }
    for (uint32_t b = 0; b < CodeWord::kBarriers; ++b)
      if ((i.waits() >> b & 1) != 0 && !pending[b].empty()) {
        waited[b] = std::move(pending[b]);
        pending[b] = {};
      }
    const bool load = is_of(kLoads, i.opcode());
    if (load) {
      ++copies[i.line];
      std::set<int64_t> all;
      for (const auto& some : waited) all.insert(some.begin(), some.end());
      for (const int64_t line : all) ++behind[i.line][line];
    }
    if (const uint32_t b = i.sets(); load && b < CodeWord::kBarriers) pending[b].insert(i.line);
    if (is_of(kBranches, i.opcode())) waited = {};
  });
  std::map<int64_t, std::vector<int64_t>> out;
  for (const auto& [line, lines] : behind)
    for (const auto& [before, times] : lines)
      if (times == copies[line]) out[line].push_back(before);
  return out;
}

}  // namespace bitwell::contraction
