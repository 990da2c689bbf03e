#include "model/isa/compile/liveness.h"

#include <algorithm>

namespace bitwell::isa {
namespace {

constexpr uint32_t kRow = 128;
constexpr uint32_t kNobody = UINT32_MAX;

class Liveness {
 public:
  Liveness(const std::vector<Op>& code, const std::vector<Block>& blocks, const std::vector<bool>& variable)
      : code_(code),
        blocks_(blocks),
        variable_(variable),
        intervals_(variable.size()),
        reading_(variable.size()),
        writing_(variable.size()),
        before_(blocks.size()) {}

  std::vector<Interval> run() {
    find_mentions();
    for (uint32_t b = 0; b < blocks_.size(); ++b)
      for (const int s : blocks_[b].successors) before_[static_cast<size_t>(s)].push_back(b);
    live_in_.assign(blocks_.size(), kNobody);
    writer_.assign(blocks_.size(), kNobody);
    for (uint32_t r = 0; r < variable_.size(); ++r) follow_back(r);
    return std::move(intervals_);
  }

 private:
  template <class Visit>
  void uses(const Op& op, Visit visit) const {
    for (const uint32_t r : {op.a, op.b, op.c, op.e})
      if (variable_[r / kRow]) visit(r / kRow);
    if (op.guard != 0) visit(op.guard / kRow);
    if (op.sources != nullptr)
      for (const uint32_t r : *op.sources)
        if (variable_[r / kRow]) visit(r / kRow);
  }
  template <class Visit>
  void defs(const Op& op, Visit visit) const {
    for (const uint32_t r : {op.d, op.d2})
      if (variable_[r / kRow]) visit(r / kRow);
    if (op.results != nullptr)
      for (const uint32_t r : *op.results)
        if (variable_[r / kRow]) visit(r / kRow);
  }

  void touch(uint32_t r, uint32_t at) {
    intervals_[r].start = std::min(intervals_[r].start, at);
    intervals_[r].end = std::max(intervals_[r].end, at);
  }

  void find_mentions() {
    const auto once = [](std::vector<uint32_t>& blocks, uint32_t b) {
      if (blocks.empty() || blocks.back() != b) blocks.push_back(b);
    };
    for (uint32_t b = 0; b < blocks_.size(); ++b)
      for (uint32_t i = blocks_[b].begin; i < blocks_[b].end; ++i) {
        const Op& op = code_[i];
        uses(op, [&](uint32_t r) {
          touch(r, 2 * i + 1);
          if (writing_[r].empty() || writing_[r].back() != b) once(reading_[r], b);
        });
        defs(op, [&](uint32_t r) {
          touch(r, 2 * i);
          touch(r, 2 * i + 1);
          if (op.guard == 0) once(writing_[r], b);  // a guarded write keeps what other lanes have
        });
      }
  }

  // From the blocks that read a register before they write it to those that leave it to them.
  void follow_back(uint32_t r) {
    for (const uint32_t b : writing_[r]) writer_[b] = r;
    work_ = reading_[r];
    for (const uint32_t b : work_) live_in_[b] = r;
    while (!work_.empty()) {
      const uint32_t b = work_.back();
      work_.pop_back();
      touch(r, 2 * blocks_[b].begin);
      for (const uint32_t p : before_[b]) {
        touch(r, 2 * blocks_[p].end - 1);
        if (writer_[p] == r || live_in_[p] == r) continue;
        live_in_[p] = r;
        work_.push_back(p);
      }
    }
    if (live_in_[0] == r) intervals_[r] = Interval::always();
  }

  const std::vector<Op>& code_;
  const std::vector<Block>& blocks_;
  const std::vector<bool>& variable_;
  std::vector<Interval> intervals_;
  std::vector<std::vector<uint32_t>> reading_;  // by register: blocks that read it before they write it
  std::vector<std::vector<uint32_t>> writing_;  // and that write it whatever the guards
  std::vector<std::vector<uint32_t>> before_;   // by block: those that go to it
  std::vector<uint32_t> live_in_, writer_;      // by block: the last register of which that is so
  std::vector<uint32_t> work_;
};

}  // namespace

std::vector<Interval> live_intervals(const std::vector<Op>& code, const std::vector<Block>& blocks,
                                     const std::vector<bool>& variable) {
  return Liveness(code, blocks, variable).run();
}

}  // namespace bitwell::isa
