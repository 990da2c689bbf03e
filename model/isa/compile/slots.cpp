#include "model/isa/compile/slots.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "model/isa/compile/liveness.h"

namespace bitwell::isa {
namespace {

constexpr uint32_t kRow = 128;

class Assigner {
 public:
  Assigner(Function& f, const FunctionBuilder& b) : f_(f), builder_(b) {}

  void run() {
    resolve_labels();
    find_blocks();
    order_blocks();
    relayout();
    allocate();
  }

 private:
  void resolve_labels() {
    const auto at = [&](uint32_t label) { return *builder_.label_at[label]; };
    for (Op& op : f_.code) {
      if (op.kind == OpKind::branch) op.target = at(op.target);
      if (op.kind == OpKind::table)
        for (uint32_t& t : *op.targets) t = at(t);
    }
  }

  bool ends_block(const Op& op) const { return !isa::falls_through(op.kind); }
  bool falls_through(const Op& op) const { return isa::falls_through(op.kind) || op.guard != 0; }

  void find_blocks() {
    std::vector<bool> leader(f_.code.size() + 1, false);
    leader[0] = true;
    for (size_t i = 0; i < f_.code.size(); ++i) {
      const Op& op = f_.code[i];
      if (ends_block(op)) leader[i + 1] = true;
      if (op.kind == OpKind::branch) leader[op.target] = true;
      if (op.kind == OpKind::table)
        for (const uint32_t t : *op.targets) leader[t] = true;
    }
    block_of_.assign(f_.code.size() + 1, -1);
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      if (leader[i]) blocks_.push_back({i, i, -1, {}});
      blocks_.back().end = i + 1;
      block_of_[i] = static_cast<int>(blocks_.size()) - 1;
    }
    for (Block& b : blocks_) {
      const Op& last = f_.code[b.end - 1];
      if (last.kind == OpKind::branch) b.successors.push_back(block_of_[last.target]);
      if (last.kind == OpKind::table)
        for (const uint32_t t : *last.targets) b.successors.push_back(block_of_[t]);
      if (falls_through(last) && b.end < f_.code.size()) {
        b.next = block_of_[b.end];
        b.successors.push_back(b.next);
      }
    }
  }

  void order_blocks() {
    std::vector<bool> seen(blocks_.size(), false);
    std::vector<std::pair<int, size_t>> stack{{0, 0}};
    seen[0] = true;
    while (!stack.empty()) {
      auto& [b, child] = stack.back();
      const auto& successors = blocks_[static_cast<size_t>(b)].successors;
      if (child == successors.size()) {
        order_.push_back(b);
        stack.pop_back();
        continue;
      }
      const int s = successors[child++];
      if (!seen[static_cast<size_t>(s)]) {
        seen[static_cast<size_t>(s)] = true;
        stack.push_back({s, 0});
      }
    }
    std::reverse(order_.begin(), order_.end());
  }

  void relayout() {
    std::vector<Op> code;
    std::vector<Block> blocks;
    std::vector<int> place(blocks_.size(), -1);  // old block -> new
    std::vector<uint32_t> start(blocks_.size(), 0);
    for (size_t n = 0; n < order_.size(); ++n) {
      const Block& old = blocks_[static_cast<size_t>(order_[n])];
      place[static_cast<size_t>(order_[n])] = static_cast<int>(n);
      start[static_cast<size_t>(order_[n])] = static_cast<uint32_t>(code.size());
      Block block = old;
      block.begin = static_cast<uint32_t>(code.size());
      code.insert(code.end(), f_.code.begin() + old.begin, f_.code.begin() + old.end);
      if (old.next >= 0 && (n + 1 == order_.size() || order_[n + 1] != old.next)) {
        Op jump;
        jump.kind = OpKind::jump;
        jump.line = code.back().line;
        jump.target = blocks_[static_cast<size_t>(old.next)].begin;
        code.push_back(jump);
      }
      block.end = static_cast<uint32_t>(code.size());
      blocks.push_back(std::move(block));
    }
    const auto moved = [&](uint32_t target) { return start[static_cast<size_t>(block_of_[target])]; };
    for (Op& op : code) {
      if (op.kind == OpKind::branch || op.kind == OpKind::jump) op.target = moved(op.target);
      if (op.kind == OpKind::table)
        for (uint32_t& t : *op.targets) t = moved(t);
    }
    for (Block& b : blocks)
      for (int& s : b.successors) s = place[static_cast<size_t>(s)];
    f_.code = std::move(code);
    blocks_ = std::move(blocks);
  }

  // Linear scan over intervals. A use ends after the op's definitions start, so that an op's source and
  // destination share a row only if they are the same register: lane loops may write wider lanes than they
  // read.
  void allocate() {
    const size_t n = builder_.rows.size();
    std::vector<bool> variable(n);
    for (size_t r = 0; r < n; ++r) variable[r] = !builder_.rows[r].fixed;
    std::vector<Interval> intervals = live_intervals(f_.code, blocks_, variable);
    for (size_t r = 0; r < n; ++r)
      if (builder_.rows[r].pinned) intervals[r] = Interval::always();

    // Rows are shared only between values whose lanes lie alike: a lane that has left a loop keeps its value
    // in a row that other lanes, still inside, may be writing.
    const auto layout = [&](size_t r) {
      const int bits = builder_.rows[r].bits;
      return static_cast<uint32_t>(bits == 1 ? 1 : std::max(bits, 16));
    };
    std::vector<uint32_t> real(n, 0);
    uint32_t next = 0;
    const auto units = [&](size_t r) {
      return static_cast<uint32_t>(std::max(builder_.rows[r].bits, 32)) / 32;
    };
    for (size_t r = 0; r < n; ++r)
      if (builder_.rows[r].fixed) {
        real[r] = next;
        next += r == 1 || r == 2 ? 1 : units(r);  // kZero's two halves are rows 1 and 2
      }
    std::vector<uint32_t> sorted;
    for (uint32_t r = 0; r < n; ++r)
      if (variable[r] && intervals[r].start != UINT32_MAX) sorted.push_back(r);
    std::sort(sorted.begin(), sorted.end(),
              [&](uint32_t a, uint32_t b) { return intervals[a].start < intervals[b].start; });
    std::map<uint32_t, std::vector<uint32_t>> free;  // by layout
    struct Active {
      uint32_t end, row;
      size_t number;  // those that end together do so in the order of their start
      bool operator>(const Active& o) const { return std::tie(end, number) > std::tie(o.end, o.number); }
    };
    std::priority_queue<Active, std::vector<Active>, std::greater<>> active;
    size_t started = 0;
    for (const uint32_t r : sorted) {
      for (; !active.empty() && active.top().end < intervals[r].start; active.pop()) {
        const uint32_t done = active.top().row;
        free[layout(done)].push_back(real[done]);
      }
      std::vector<uint32_t>& pool = free[layout(r)];
      if (pool.empty()) {
        real[r] = next;
        next += units(r);
      } else {
        real[r] = pool.back();
        pool.pop_back();
      }
      active.push({intervals[r].end, r, started++});
    }
    f_.rows = next;
    const auto map = [&](uint32_t& row) { row = real[row / kRow] * kRow; };
    for (Op& op : f_.code) {
      for (uint32_t* r : {&op.d, &op.d2, &op.a, &op.b, &op.c, &op.e}) map(*r);
      if (op.guard != 0) map(op.guard);
    }
    std::set<std::vector<uint32_t>*> lists;  // of the ops that are left; a list of branch targets holds pcs
    for (const Op& op : f_.code)
      for (std::vector<uint32_t>* list : {op.results, op.sources})
        if (list != nullptr) lists.insert(list);
    for (std::vector<uint32_t>* list : lists)
      for (uint32_t& r : *list) map(r);
    for (ConstantRow& c : f_.constants) map(c.row);
    for (SpecialRow& s : f_.specials) map(s.row);
  }

  Function& f_;
  const FunctionBuilder& builder_;
  std::vector<Block> blocks_;
  std::vector<int> block_of_;
  std::vector<int> order_;
};

}  // namespace

void assign_slots(Function& function, const FunctionBuilder& builder) { Assigner(function, builder).run(); }

}  // namespace bitwell::isa
