// Operations that compute in registers, one behind the other: what they cost together is found out once, and
// asked of the parts of a multiprocessor at one go.
#include <algorithm>
#include <unordered_map>

#include "model/timing/clock/issue.h"

namespace bitwell::timing {

namespace {

constexpr uint32_t kMostBits = 64;

Time part_of(Time time, uint32_t part) { return time * part >> 16; }

}  // namespace

// As if the warp had the multiprocessor for itself, and all that it needs were there.
Clock::Block Clock::make_block(const std::vector<Info>& infos, uint32_t from, uint32_t to) const {
  Block b;
  b.from = from;
  b.to = to;
  b.branches = infos[to - 1].ends_block;
  if (b.branches && --to == from) return b;
  if (b.branches) b.steps = 2;
  b.line = infos[to - 1].line;
  if (b.branches && !infos[to].has_row) b.lacks_rows = true;
  struct Known {
    Time at = 0;
    uint64_t needs = 0;  // what it comes of, of what was there before
    int64_t is = -1;     // no more than another name of that row, which was there before
    Time position = 0;   // of the operation that made it
  };
  std::unordered_map<uint32_t, Known> rows;
  std::unordered_map<uint32_t, uint32_t> before;  // rows that were there: their number in b.ins
  Quarter alone(nullptr);
  std::array<Time, kPipes> work{}, last{};
  Time fp32 = 0;
  Time clock = 0;
  uint64_t behind = 0;  // what all that follows comes of
  Time over = 0;        // where that begins
  const auto in = [&](uint32_t row) -> uint32_t {
    const auto [at, is_new] = before.try_emplace(row, static_cast<uint32_t>(b.ins.size()));
    if (is_new) {
      b.ins.emplace_back();
      b.parts.emplace_back();
      b.ins.back().row = row;
      b.ins.back().bit = uint64_t{1} << std::min(at->second, kMostBits - 1);
      b.ins.back().use = -1;
    }
    return at->second;
  };
  for (uint32_t pc = from; pc < to; ++pc) {
    const Info& i = infos[pc];
    if (!i.has_row) b.lacks_rows = true;
    if (i.kind != OpKind::arithmetic || i.in_warp || i.ends_block) return b;  // is not plain
    if (i.predicates && i.issued == 0) continue;
    // What costs nothing is there when what it comes of is.
    Known made;
    made.position = i.renames ? 0 : b.issues;
    Time start = i.renames ? 0 : clock;
    std::vector<uint32_t> used;  // ins that it reads itself
    const auto all = sources(i);
    // The name of one row that was there before: it costs nothing, and nobody waits for it here.
    const auto before_it = [&](uint32_t s) -> int64_t {
      const auto known = rows.find(s);
      return known == rows.end() ? s : known->second.is;
    };
    if (i.renames && all.size() == 1) made.is = before_it(all.front());
    if (made.is < 0)
      for (const uint32_t s : all) {
        if (const int64_t row = before_it(s); row >= 0) {
          used.push_back(in(static_cast<uint32_t>(row)));
          made.needs |= b.ins[used.back()].bit;
        } else {
          made.needs |= rows[s].needs;
          start = std::max(start, rows[s].at);
          if (i.renames) made.position = std::max(made.position, rows[s].position);
        }
      }
    if (i.renames) {
      for (const uint32_t k : used)
        if (b.ins[k].use < 0 || start < b.ins[k].use) b.ins[k].use = start;
      made.at = all.empty() ? clock : start;
      for (const uint32_t d : results(i)) rows[d] = made;
      continue;
    }
    made.needs |= behind;
    Quarter::Asks issue, work_of_it;
    issue.add_issues(i.issued);
    start = alone.run(start, issue);
    Time done = start;
    if (i.interval > 0) {
      for (size_t p = 0; p < kPipes; ++p)
        if (i.work[p] > 0) work_of_it.add(static_cast<Pipe>(p), i.work[p], i.work[p]);
      done = alone.run(start, work_of_it) + i.latency;
    }
    const Time end = std::max(start, done - i.latency);
    clock += i.stalls;
    b.issues += i.issued;
    b.by_source[static_cast<size_t>(i.source)] += i.issued;
    for (size_t p = 0; p < kPipes; ++p) {
      work[p] += i.work[p];
      if (i.work[p] > 0) last[p] = i.work[p];
    }
    fp32 += i.fp32;
    b.length = std::max(b.length, end);
    for (const uint32_t k : used)
      if (b.ins[k].use < 0 || start < b.ins[k].use) b.ins[k].use = start;
    for (size_t k = 0; k < b.ins.size(); ++k)
      if (Block::In& one = b.ins[k]; (made.needs & one.bit) != 0) {
        one.end = std::max(one.end, end);
        one.issues += i.issued;
        for (size_t p = 0; p < kPipes; ++p) b.parts[k].work[p] += i.work[p];
      }
    made.at = done;
    if (i.branches_within) {
      clock = std::max(clock, done);
      behind = made.needs;
      over = made.position;
    }
    for (const uint32_t d : results(i)) rows[d] = made;
  }
  const auto part = [&](Time position) {
    return static_cast<uint32_t>(b.issues == 0 ? 0 : (position << 16) / b.issues);
  };
  b.over = {Block::kNone, clock, part(over), behind};
  for (const auto& [row, known] : rows) {
    if (row >= kept_rows_) continue;
    if (known.is >= 0)
      b.names.push_back({row, std::min(static_cast<uint32_t>(known.is), kept_rows_)});
    else
      b.outs.push_back({row, known.at, part(known.position), known.needs});
  }
  // What no operation makes is never late.
  size_t kept = 0;
  for (size_t k = 0; k < b.ins.size(); ++k)
    if (made_[b.ins[k].row]) {
      b.ins[kept] = b.ins[k];
      b.parts[kept++] = b.parts[k];
    }
  b.ins.resize(kept);
  b.parts.resize(kept);
  const auto ask = [&](Time issues, const auto& amount) {
    Quarter::Asks out;
    if (issues == 0) return out;
    out.add_issues(issues);
    for (size_t p = 0; p < kPipes; ++p)
      if (const Time asked = amount(p); work[p] > 0 && asked > 0)
        out.add(static_cast<Pipe>(p), asked, last[p]);
    return out;
  };
  b.asks = ask(b.issues, [&](size_t p) { return work[p]; });
  for (size_t k = 0; k < kept; ++k) {
    Block::InParts& of = b.parts[k];
    of.asks = ask(b.ins[k].issues, [&](size_t p) { return of.work[p]; });
    of.others = ask(b.issues - b.ins[k].issues, [&](size_t p) { return work[p] - of.work[p]; });
  }
  for (const Block::Out& one : b.outs) b.made = std::max(b.made, one.at);
  const Time whole = std::max(b.length, clock);
  const Time busy = std::max(b.issues, *std::max_element(work.begin(), work.end()));
  if (code_ != nullptr) b.longer = Crowd::longer(whole, busy);
  if (is_of(Key::wgmma_beside, device_.sm)) {
    Time slowed = busy;
    for (size_t p = 0; p < kPipes; ++p) {
      const Time slow = work[p] - (p == static_cast<size_t>(Pipe::fma) ? fp32 : 0);
      slowed = std::max(
          slowed, work[p] + static_cast<Time>(static_cast<double>(slow) * (value(Key::wgmma_beside) - 1)));
    }
    b.beside = Crowd::longer(whole, busy, slowed);
  }
  if (b.branches) join_branch(infos[to], b);
  b.plain = true;
  return b;
}

// The branch behind the others, where it is of the usual kind.
void Clock::join_branch(const Info& i, Block& b) const {
  if (i.kind != OpKind::arithmetic || i.in_warp || i.renames || i.results != 0 || i.late > 1) return;
  if (i.late == 1) {
    const uint32_t row = operands_[i.first_late];
    const auto is = [&](const auto& one) { return one.row == row; };
    if (std::any_of(b.names.begin(), b.names.end(), is)) return;
    const auto out = std::find_if(b.outs.begin(), b.outs.end(), is);
    (out == b.outs.end() ? b.row : b.made_here) =
        out == b.outs.end() ? row : static_cast<uint32_t>(out - b.outs.begin());
  }
  b.branch = &i;
}

uint32_t Clock::block(int function, uint32_t from, uint32_t to) {
  uint32_t* at = &first_blocks_[static_cast<size_t>(function)][from];
  for (; *at != Block::kNone; at = &blocks_[*at].next)
    if (blocks_[*at].to == to) return *at;
  const auto out = *at = static_cast<uint32_t>(blocks_.size());
  blocks_.push_back(make_block(infos_[static_cast<size_t>(function)], from, to));
  blocks_.back().function = function;
  return out;
}

[[gnu::always_inline]] inline void Clock::compute(Block& b, WarpTime& w, Multiprocessor& sm) {
  ++b.times;
  Quarter& quarter = sm.quarters[w.quarter];
  const Time begin = w.clock;
  WarpTime::Row* const rows = w.rows;
  // What is late holds back what needs it.
  Time alone = begin + b.length, late_by = 0;
  struct Late {
    uint64_t bit;
    Time by;
    int line;
  };
  std::array<Late, kMostBits> all;
  size_t count = 0;
  uint64_t late = 0;
  int loaded = 0;
  const Block::In* latest = nullptr;
  if (w.given > begin) {
    const Block::In* const end = b.ins.data() + b.ins.size();
    for (const Block::In* in = b.ins.data(); in != end; ++in) {
      const Time by = rows[in->row].at - begin - in->use;
      if (by <= 0) continue;
      // Those behind the last bit share it.
      if ((late & in->bit) == 0)
        all[count++] = {in->bit, by, rows[in->row].line};
      else if (all[count - 1].by < by)
        all[count - 1] = {in->bit, by, rows[in->row].line};
      late |= in->bit;
      alone = std::max(alone, begin + by + in->end);
      if (by > late_by) {
        late_by = by;
        latest = in;
      }
    }
    if (latest != nullptr) loaded = rows[latest->row].line;
    if (late_by > stall_) {
      stall_ = late_by;
      stall_line_ = loaded;
    }
  }
  // What other warps have asked of the same parts holds back all.
  Time end = alone;
  if (latest == nullptr || latest->issues == b.issues) [[likely]] {
    if (b.issues != 0) end = std::max(end, quarter.run(begin + late_by, b.asks));
  } else {
    const Block::InParts& parts = b.parts[static_cast<size_t>(latest - b.ins.data())];
    end = std::max(end, quarter.run(begin, parts.others));
    if (latest->issues != 0) end = std::max(end, quarter.run(begin + late_by, parts.asks));
  }
  if (const Time from = begin + late_by; code_ != nullptr || sm.multiplies > from) {
    const size_t there = quarter.crowd.at(w.place, from);
    end = std::max(end, alone + b.longer[there]);
    // As long as products that have been handed over keep the tensor core busy.
    if (const Time more = b.beside[there]; more > 0 && sm.multiplies > from)
      end += static_cast<Time>(
          static_cast<double>(more) *
          std::min(1.0, static_cast<double>(sm.multiplies - from) / static_cast<double>(end + more - from)));
    quarter.crowd.computes(w.place, from, end);
  }
  const Time held = end - alone;
  const Time given = std::max(w.given, begin + b.made + late_by + held);
  // It waits for the latest of what it comes of.
  const auto made = [&](const Block::Out& out) -> WarpTime::Row {
    WarpTime::Row row{begin + out.at + part_of(held, out.part), 0};
    if ((out.needs & late) == 0) return row;
    Time by = late_by;
    row.line = loaded;
    if (count > 1) {
      by = 0;
      for (size_t k = 0; k < count; ++k)
        if ((out.needs & all[k].bit) != 0 && all[k].by > by) {
          by = all[k].by;
          row.line = all[k].line;
        }
    }
    row.at += by;
    return row;
  };
  const Time clock = made(b.over).at;
  w.given = given;
  w.clock = clock;
  w.pending = std::max(w.pending, end);
  if (b.branch != nullptr) {
    Time start = clock;
    int waited = 0;
    if (given > start) {
      WarpTime::Row row;
      if (b.made_here != Block::kNone)
        row = made(b.outs[b.made_here]);
      else if (b.row != Block::kNone)
        row = rows[b.row];
      if (row.at > start) {
        start = row.at;
        waited = row.line;
      }
    }
    execute(*b.branch, w, sm, start, waited);
  }
  now_ = std::max(now_, w.pending);
  if (w.given <= w.clock) return;  // all is there before anyone asks when it is
  if (!b.names.empty()) {
    named_.clear();
    for (const Block::Name& n : b.names) named_.emplace_back(rows[n.of].at, rows[n.of].line);
  }
  for (const Block::Out& out : b.outs) rows[out.row] = made(out);
  for (size_t k = 0; k < b.names.size(); ++k) rows[b.names[k].row] = {named_[k].first, named_[k].second};
}

void Clock::add_time(uint32_t number) {
  WarpTime& w = *warp_;
  Block& b = blocks_[number];
  const auto infos = [&] { return infos_[static_cast<size_t>(b.function)].data(); };
  if (!b.plain) [[unlikely]] {
    turn_line_ = b.line;
    for (uint32_t pc = b.from; pc < b.to; ++pc) costs_time(infos()[pc], machine::kLanes, {});
    return;
  }
  turn_line_ = b.branch != nullptr ? b.branch->line : b.line;
  compute(b, w, *sm_);
  if (b.lacks_rows) [[unlikely]]
    for (uint32_t pc = b.from; pc < b.to; ++pc)
      if (!infos()[pc].has_row && (b.branch != nullptr || !infos()[pc].ends_block)) lacks_row(infos()[pc]);
  if (b.branches && b.branch == nullptr) costs_time(infos()[b.to - 1], machine::kLanes, {});
}

}  // namespace bitwell::timing
