// Which ops a register lives through, against the equations solved block by block.
#include "model/isa/compile/liveness.h"

#include <gtest/gtest.h>

#include <random>

namespace bitwell::isa {
namespace {

constexpr uint32_t kRow = 128;

// A register is live into a block that reads it before it writes it, or that leaves it alone and has a
// successor into which it is live. A write under a guard leaves it alone.
std::vector<Interval> by_equations(const std::vector<Op>& code, const std::vector<Block>& blocks,
                                   const std::vector<bool>& variable) {
  std::vector<Interval> out(variable.size());
  for (uint32_t r = 0; r < variable.size(); ++r) {
    if (!variable[r]) continue;
    const auto reads = [&](const Op& op) {
      return op.a == r * kRow || op.b == r * kRow || op.guard == r * kRow;
    };
    const auto writes = [&](const Op& op) { return op.d == r * kRow; };
    const auto touch = [&](uint32_t at) { out[r] = {std::min(out[r].start, at), std::max(out[r].end, at)}; };
    std::vector<bool> in(blocks.size());
    const auto is_live_out = [&](const Block& b) {
      return std::any_of(b.successors.begin(), b.successors.end(),
                         [&](int s) { return in[static_cast<size_t>(s)]; });
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = 0; b < blocks.size(); ++b) {
        bool live = is_live_out(blocks[b]);
        for (uint32_t i = blocks[b].end; i-- > blocks[b].begin;)
          live = reads(code[i]) || (live && !(writes(code[i]) && code[i].guard == 0));
        changed = changed || live != in[b];
        in[b] = live;
      }
    }
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (in[b]) touch(2 * blocks[b].begin);
      if (is_live_out(blocks[b])) touch(2 * blocks[b].end - 1);
      for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
        if (reads(code[i]) || writes(code[i])) touch(2 * i + 1);
        if (writes(code[i])) touch(2 * i);
      }
    }
    if (in[0]) out[r] = Interval::always();
  }
  return out;
}

TEST(Liveness, IsWhatTheEquationsSay) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    const uint32_t registers = 1 + below(5), count = 1 + below(8);
    std::vector<bool> variable{false, false, false};  // the sink and zero
    for (uint32_t r = 0; r < registers; ++r) variable.push_back(true);
    variable.push_back(false);  // a constant
    const auto row = [&](uint32_t none) {
      const uint32_t r = below(registers + 2);
      return r == registers ? none : (3 + std::min(r, registers)) * kRow;
    };
    std::vector<Op> code;
    std::vector<Block> blocks;
    for (uint32_t b = 0; b < count; ++b) {
      Block block;
      block.begin = static_cast<uint32_t>(code.size());
      for (uint32_t n = 1 + below(3); n > 0; --n) {
        Op& op = code.emplace_back();
        op.a = row(kZero);
        if (below(2) == 0) op.b = row(kZero);
        const uint32_t to = row(kSink);
        op.d = variable[to / kRow] ? to : kSink;
        const uint32_t guard = 3 + below(registers);
        if (below(4) == 0) op.guard = guard * kRow;
      }
      block.end = static_cast<uint32_t>(code.size());
      for (uint32_t n = below(3); n > 0; --n) block.successors.push_back(static_cast<int>(below(count)));
      blocks.push_back(block);
    }
    const std::vector<Interval> got = live_intervals(code, blocks, variable);
    const std::vector<Interval> want = by_equations(code, blocks, variable);
    for (uint32_t r = 0; r < variable.size(); ++r) {
      if (!variable[r]) continue;
      EXPECT_EQ(got[r].start, want[r].start) << "round " << round << ", register " << r;
      EXPECT_EQ(got[r].end, want[r].end) << "round " << round << ", register " << r;
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
