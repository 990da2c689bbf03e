#include "model/isa/compile/slots.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

constexpr uint32_t kRow = 128;

struct Block {
  uint32_t begin = 0;
  uint32_t end = 0;
  int next = -1;                // fall-through block
  std::vector<int> successors;  // all of them
  std::vector<bool> live_in, live_out;
};

class Assigner {
 public:
  Assigner(Function& f, const FunctionBuilder& b) : f_(f), builder_(b) {}

  void run() {
    resolve_labels();
    find_blocks();
    order_blocks();
    relayout();
    liveness();
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
      if (leader[i]) blocks_.push_back({i, i, -1, {}, {}, {}});
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
    std::map<int, int> place;  // old block -> new
    std::vector<uint32_t> start(blocks_.size(), 0);
    for (size_t n = 0; n < order_.size(); ++n) {
      const Block& old = blocks_[static_cast<size_t>(order_[n])];
      place[order_[n]] = static_cast<int>(n);
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
      for (int& s : b.successors) s = place.at(s);
    f_.code = std::move(code);
    blocks_ = std::move(blocks);
  }

  bool variable(uint32_t row) const { return !builder_.rows[row / kRow].fixed; }

  template <class Visit>
  void uses(const Op& op, Visit visit) const {
    for (const uint32_t r : {op.a, op.b, op.c, op.e})
      if (variable(r)) visit(r / kRow);
    if (op.guard != 0) visit(op.guard / kRow);
    if (op.sources != nullptr)
      for (const uint32_t r : *op.sources)
        if (variable(r)) visit(r / kRow);
  }
  template <class Visit>
  void defs(const Op& op, Visit visit) const {
    for (const uint32_t r : {op.d, op.d2})
      if (variable(r)) visit(r / kRow);
    if (op.results != nullptr)
      for (const uint32_t r : *op.results)
        if (variable(r)) visit(r / kRow);
  }

  void liveness() {
    const size_t n = builder_.rows.size();
    std::vector<std::vector<bool>> gen(blocks_.size(), std::vector<bool>(n)), kill = gen;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      for (uint32_t i = blocks_[b].begin; i < blocks_[b].end; ++i) {
        const Op& op = f_.code[i];
        uses(op, [&](uint32_t r) {
          if (!kill[b][r]) gen[b][r] = true;
        });
        if (op.guard == 0) defs(op, [&](uint32_t r) { kill[b][r] = true; });
      }
      blocks_[b].live_in.assign(n, false);
      blocks_[b].live_out.assign(n, false);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks_.size(); b-- > 0;) {
        Block& block = blocks_[b];
        for (const int s : block.successors) {
          const auto& in = blocks_[static_cast<size_t>(s)].live_in;
          for (size_t r = 0; r < n; ++r)
            if (in[r]) block.live_out[r] = true;
        }
        for (size_t r = 0; r < n; ++r) {
          const bool in = gen[b][r] || (block.live_out[r] && !kill[b][r]);
          if (in && !block.live_in[r]) {
            block.live_in[r] = true;
            changed = true;
          }
        }
      }
    }
  }

  // Linear scan over intervals. A use ends after the op's definitions start, so that an op's source and
  // destination share a row only if they are the same register: lane loops may write wider lanes than they
  // read.
  void allocate() {
    struct Interval {
      uint32_t start = UINT32_MAX, end = 0;
      uint32_t row = 0;
    };
    const size_t n = builder_.rows.size();
    std::vector<Interval> intervals(n);
    const auto touch = [&](size_t r, uint32_t at) {
      intervals[r].start = std::min(intervals[r].start, at);
      intervals[r].end = std::max(intervals[r].end, at);
    };
    for (const Block& b : blocks_) {
      for (size_t r = 0; r < n; ++r) {
        if (b.live_in[r]) touch(r, 2 * b.begin);
        if (b.live_out[r]) touch(r, 2 * b.end - 1);
      }
      for (uint32_t i = b.begin; i < b.end; ++i) {
        uses(f_.code[i], [&](uint32_t r) { touch(r, 2 * i + 1); });
        defs(f_.code[i], [&](uint32_t r) {
          touch(r, 2 * i);
          touch(r, 2 * i + 1);
        });
      }
    }
    for (size_t r = 0; r < n; ++r)
      if (blocks_[0].live_in[r] || builder_.rows[r].pinned) intervals[r] = {0, UINT32_MAX, 0};

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
    std::vector<Interval> sorted;
    for (size_t r = 0; r < n; ++r)
      if (!builder_.rows[r].fixed && intervals[r].start != UINT32_MAX) {
        intervals[r].row = static_cast<uint32_t>(r);
        sorted.push_back(intervals[r]);
      }
    std::sort(sorted.begin(), sorted.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    std::map<uint32_t, std::vector<uint32_t>> free;  // by layout
    std::multimap<uint32_t, uint32_t> active;        // end -> virtual row
    for (const Interval& i : sorted) {
      while (!active.empty() && active.begin()->first < i.start) {
        const uint32_t done = active.begin()->second;
        free[layout(done)].push_back(real[done]);
        active.erase(active.begin());
      }
      std::vector<uint32_t>& pool = free[layout(i.row)];
      if (pool.empty()) {
        real[i.row] = next;
        next += units(i.row);
      } else {
        real[i.row] = pool.back();
        pool.pop_back();
      }
      active.emplace(i.end, i.row);
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
