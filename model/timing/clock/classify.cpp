// What an instruction of PTX is for a clock: which part of a multiprocessor does it, for how long, by which
// rows.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_set>

#include "model/isa/form/program.h"
#include "model/run/barrier_use.h"
#include "model/timing/clock/counts.h"
#include "model/timing/clock/state.h"

namespace bitwell::timing {
namespace {

using isa::Unit;

bool contains(std::string_view name, std::string_view text) {
  return name.find(text) != std::string_view::npos;
}

bool has(std::span<const uint32_t> rows, uint32_t row) {
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

// Of a load or store that nobody waits for.
bool reads(std::string_view name) { return name.starts_with("ld"); }

// A store that comes a little earlier lets nobody go on who waits for it: all access to memory is weak, and
// warps wait for one another at barriers alone.
bool waits_at_barriers_alone(std::string_view name, OpKind kind) {
  switch (kind) {
    case OpKind::arithmetic:
    case OpKind::multiply_warp: return true;
    case OpKind::memory: return is_weak(name) || name.starts_with("red.");
    case OpKind::barrier: return name.starts_with("bar.") || name.starts_with("barrier.cta");
    default: return false;
  }
}

// A barrier where each warp of a CTA waits for each other, all its threads together.
bool is_of_all_warps(const isa::Op& barrier) {
  const auto& use = barrier.as<run::BarrierUse>();
  return use.aligned && !use.counted && use.kind != run::BarrierUse::Kind::arrive;
}

// Of the entry: whether all threads that come there end.
bool ends_warp(const isa::Op& op, std::string_view name) {
  return op.kind == isa::OpKind::leave && op.guard == 0 && (name.starts_with("ret") || name == "exit");
}

// Of what computes: whether a warp does it by itself, so that nobody can tell when. Moves read clocks.
bool by_itself(isa::OpKind kind, Unit unit) {
  switch (kind) {
    case isa::OpKind::lanes:
    case isa::OpKind::branch:
    case isa::OpKind::jump:
    case isa::OpKind::collective: return true;
    case isa::OpKind::effect:
      return unit == Unit::fma || unit == Unit::fp64 || unit == Unit::sfu || unit == Unit::convert ||
             unit == Unit::tensor;
    default: return false;
  }
}

}  // namespace

// Barriers, fences and what waits. False: it is none that is known.
bool Clock::classify_barrier(std::string_view name, double warps, Info& out) const {
  // `latency`: until what it gives is there.
  const auto set = [&](double issue, double seen) {
    out.table.interval = issue;
    out.table.seen = seen;
    return true;
  };
  const auto key = [&](Key k) { return value(k); };
  out.table.latency = key(Key::mbarrier_token);
  if (name.starts_with("barrier.cluster.arrive")) {
    out.at_cluster = Info::AtCluster::arrives;
    const double one = key(Key::cluster_barrier), eight = key(Key::cluster_barrier_a_warp);
    return set(key(Key::small_step), one + (eight - one) / 7 * (warps - 1) - key(Key::cluster_wait));
  }
  if (name.starts_with("barrier.cluster.wait")) {
    out.at_cluster = Info::AtCluster::waits;
    return set(key(Key::cluster_wait), key(Key::cluster_wait));
  }
  if (name.starts_with("bar.warp") || name.starts_with("fence.mbarrier_init"))
    return set(key(Key::warp_step), key(Key::warp_step));
  if (name.starts_with("bar.arrive") || name.starts_with("barrier.arrive") ||
      name.starts_with("barrier.cta.arrive"))
    return set(key(Key::small_step), key(Key::bar_sync));
  if (name.starts_with("bar")) {
    const double one = key(Key::bar_sync), all = key(Key::bar_sync_a_warp);
    const double each = one + (all - one) / 31 * (warps - 1);
    return set(each, each);
  }
  if (contains(name, "try_wait") || contains(name, "test_wait")) {
    out.table.latency = key(Key::mbarrier_wait) - key(Key::wait_beside);
    return set(key(Key::warp_step), key(Key::warp_step));
  }
  if (name.starts_with("mbarrier.arrive")) {
    const double hand_over = key(Key::mbarrier_handover) - key(Key::mbarrier_wait);
    // Machine code has a fence of the GPU before it.
    const double fence = contains(name, ".release.cluster") ? key(Key::fence_gpu) : 0;
    return set(
        fence + key(contains(name, "expect_tx") ? Key::mbarrier_arrive_expect : Key::mbarrier_arrive),
        fence + (contains(name, "shared::cluster") ? key(Key::remote_latency) + hand_over : hand_over));
  }
  if (name.starts_with("mbarrier")) return set(key(Key::mbarrier_arrive), key(Key::mbarrier_arrive));
  if (name.starts_with("cp.async.mbarrier")) return set(key(Key::mbarrier_arrive), key(Key::mbarrier_arrive));
  if (name.starts_with("fence.proxy.async")) {
    const double all = key(contains(name, ".global")       ? Key::fence_proxy_global
                           : contains(name, "shared::cta") ? Key::fence_proxy_shared
                                                           : Key::fence_proxy);
    return set(all, all);
  }
  if (name.starts_with("fence") || name.starts_with("membar")) {
    const double all = key(contains(name, ".sys")   ? Key::fence_sys
                           : contains(name, ".cta") ? Key::fence_cta
                                                    : Key::fence_gpu);
    return set(all, all);
  }
  if (name.starts_with("cp.async.wait") || name.starts_with("cp.async.bulk.wait") ||
      name.starts_with("tcgen05.wait"))
    return set(key(Key::wait_group), key(Key::wait_group));
  set(key(Key::unknown_latency), key(Key::unknown_latency));
  return false;
}

Clock::Info Clock::classify(const isa::Op& op, const isa::Line& line, double warps, uint32_t predicate) {
  Info out;
  const std::string& name = line.text;
  out.kind = kind_of(name, line.unit);
  out.line = line.ptx;
  out.waits = out.kind == OpKind::order && !contains(name, ".commit");
  out.predicates = op.kind == isa::OpKind::branch && predicate != 0;
  out.ends_block = (op.kind == isa::OpKind::branch && !out.predicates) || op.kind == isa::OpKind::leave ||
                   op.kind == isa::OpKind::call || op.kind == isa::OpKind::table;
  out.cached = !contains(name, ".cg") && !contains(name, ".volatile") && !contains(name, ".relaxed") &&
               !contains(name, ".acquire");
  out.first = static_cast<uint32_t>(operands_.size());
  const auto add = [&](uint32_t row) {
    if (row <= isa::kZero) return;
    operands_.push_back(row / machine::kRowBytes);
    rows_ = std::max(rows_, operands_.back() + 1);
  };
  for (const uint32_t row : {predicate, op.guard, op.a, op.b, op.c, op.e})
    if (!out.predicates) add(row);
  if (op.sources != nullptr)
    for (const uint32_t row : *op.sources) add(row);
  out.sources = static_cast<uint32_t>(operands_.size()) - out.first;
  add(op.d);
  add(op.d2);
  if (op.results != nullptr)
    for (const uint32_t row : *op.results) add(row);
  out.results = static_cast<uint32_t>(operands_.size()) - out.first - out.sources;
  switch (out.kind) {
    case OpKind::multiply_warp: {
      const WarpMmaCost* row = device_.mma(name);
      out.has_row = row != nullptr;
      out.table.latency = row != nullptr ? row->latency : value(Key::mma_latency);
      out.table.interval = row != nullptr ? row->interval : value(Key::mma_interval);
      out.source = row != nullptr ? row->source : Source::guess;
      return out;
    }
    case OpKind::multiply: {
      if (!is_of(Key::wgmma_issue, device_.sm)) break;
      const bool registers = out.sources > 4;  // else descriptors of both, and whether D counts
      const double columns = std::atof(name.substr(name.find("m64n") + 4).c_str());
      out.has_row = true;
      out.source = Source::device;
      constexpr double kBegins = 4;  // behind it
      out.table.latency = kBegins;
      out.table.interval =
          columns * value(Key::wgmma_issue) - (registers ? 0 : value(Key::wgmma_issue_shared));
      out.table.product = device_.wgmma_interval(static_cast<uint32_t>(columns), registers);
      out.table.seen = value(registers ? Key::wgmma_turn : Key::wgmma_turn_shared);
      return out;
    }
    case OpKind::barrier:
      out.has_row = classify_barrier(name, warps, out);
      out.source = out.has_row ? device_.cost(Key::mbarrier_arrive).source : Source::guess;
      return out;
    case OpKind::memory:
      out.tells = name.starts_with("atom");
      if (contains(name, ".cas."))
        out.update = Info::Update::exchange;
      else if (contains(name, ".exch.") || contains(name, ".inc.") || contains(name, ".dec."))
        out.update = Info::Update::in_turn;
      else if (contains(name, ".f32") || contains(name, ".f64") || contains(name, ".f16") ||
               contains(name, ".bf16"))
        out.update = Info::Update::number;
      out.has_row = line.unit == Unit::load_store;
      out.source = out.has_row ? device_.cost(Key::shared_latency).source : Source::guess;
      return out;
    case OpKind::copy: {
      const Key key = contains(name, ".tensor") ? Key::tensor_copy_issue : Key::copy_issue;
      out.has_row = true;
      out.table.latency = value(key);
      out.source = device_.cost(key).source;
      return out;
    }
    case OpKind::tensor:
    case OpKind::tensor_load:
    case OpKind::tensor_store: {
      if (device_.tensors.empty()) return out;
      const Key key = out.kind == OpKind::tensor        ? Key::tensor_issue
                      : out.kind == OpKind::tensor_load ? Key::tensor_load_rate
                                                        : Key::tensor_store_rate;
      out.has_row = true;
      out.source = device_.cost(key).source;
      out.table.latency = value(out.kind == OpKind::tensor ? Key::tensor_issue : Key::tensor_load_latency);
      constexpr double kRow = 128;  // a register of 32 threads
      if (out.kind != OpKind::tensor)
        out.table.interval =
            kRow * (out.kind == OpKind::tensor_load ? out.results : out.sources) / value(key);
      return out;
    }
    default: break;
  }
  if (out.predicates) {
    out.has_row = true;
    out.table.issues = 0;
    return out;
  }
  const std::optional<OpCost> row = device_.op(name);
  out.has_row = row.has_value();
  out.table.latency = row ? row->latency : value(Key::unknown_latency);
  out.table.interval = kQuarters * (row ? row->interval : value(Key::unknown_interval));
  out.source = row ? row->source : Source::guess;
  out.branches_within = row && row->branches_within;
  out.in_warp = line.unit == Unit::warp;
  if (line.unit == Unit::fma || name == "shl.b32") out.pipe = Pipe::fma;  // machine code multiplies
  if (line.unit == Unit::fp64) out.pipe = Pipe::fp64;
  constexpr double kSlow = 6;  // conversions that the arithmetic pipe does not do
  if (line.unit == Unit::sfu || (line.unit == Unit::convert && out.table.interval > kSlow))
    out.pipe = Pipe::sfu;
  return out;
}

// A register that each run of operations which are one block makes before it reads it need not be kept from
// block to block: most are such, and thousands of warps wait between blocks. Those that are kept get the
// first numbers.
void Clock::number_rows(const isa::Function& f, std::vector<Info>& infos) {
  std::vector<bool> begins(f.code.size() + 1);  // a block may begin here, whatever came before
  for (const isa::Op& op : f.code) {
    if (op.kind == isa::OpKind::branch || op.kind == isa::OpKind::jump) begins[op.target] = true;
    if (op.targets != nullptr)
      for (const uint32_t to : *op.targets) begins[to] = true;
  }
  std::vector<bool> kept(rows_);
  std::vector<size_t> made(rows_);  // the run of operations that made it last
  for (size_t from = 0, to = 0, run = 1; from < infos.size(); from = to, ++run) {
    const auto computes = [&](size_t pc) { return f.code[pc].kind == isa::OpKind::lanes; };
    to = from + 1;
    while (computes(from) && to < infos.size() && computes(to) && !begins[to]) ++to;
    const bool one_by_one =
        !computes(from) || std::any_of(&infos[from], &infos[from] + (to - from), [](const Info& i) {
          return i.kind != OpKind::arithmetic || i.in_warp || i.ends_block;
        });
    for (size_t pc = from; pc < to; ++pc) {
      for (const uint32_t r : sources(infos[pc]))
        if (one_by_one || made[r] != run) kept[r] = true;
      for (const uint32_t r : results(infos[pc])) {
        if (one_by_one) kept[r] = true;
        made[r] = run;
      }
    }
  }
  // In the order in which they are met, so that a block's stand together. What is never made is there always.
  std::vector<uint32_t> number(rows_, rows_);
  kept_rows_ = 0;
  for (const uint32_t r : operands_)
    if (kept[r] && made[r] != 0 && number[r] == rows_) number[r] = kept_rows_++;
  uint32_t behind = kept_rows_;
  for (uint32_t& n : number)
    if (n == rows_) n = behind++;
  for (uint32_t& r : operands_) r = number[r];
}

// What no operation makes, constants and the like, is there from the beginning.
void Clock::find_late() {
  made_.assign(rows_, false);
  for (const std::vector<Info>& function : infos_)
    for (const Info& i : function)
      for (const uint32_t r : results(i)) made_[r] = true;
  for (std::vector<Info>& function : infos_)
    for (Info& i : function) {
      i.first_late = static_cast<uint32_t>(operands_.size());
      for (uint32_t k = 0; k < i.sources; ++k)
        if (const uint32_t r = operands_[i.first + k]; made_[r]) operands_.push_back(r);
      for (uint32_t k = 0; k < i.behind; ++k) operands_.push_back(operands_[i.first_behind + k]);
      i.late = static_cast<uint32_t>(operands_.size()) - i.first_late;
    }
}

// Copies of a thread that is known to be one: machine code has no branch on their lines; or by PTX alone, in
// a function that elects threads.
void Clock::find_elected(const isa::Function& f, std::vector<Info>& out) const {
  const bool elects = std::any_of(f.lines.begin(), f.lines.end(),
                                  [](const isa::Line& line) { return line.text.starts_with("elect.sync"); });
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].kind != OpKind::copy) continue;
    const isa::Line& line = f.lines[static_cast<size_t>(f.code[i].line)];
    const CodeCounts c = code_ != nullptr ? counts_of(*code_, line.ptx) : CodeCounts{};
    if (c.all != 0 ? c.of(CodeKind::branch) != 0 : !elects) continue;
    const Key key = contains(line.text, ".tensor") ? Key::tensor_copy_issue_elected : Key::copy_issue_elected;
    out[i].table.latency = value(key);
    out[i].source = device_.cost(key).source;
  }
}

void Clock::classify(const isa::Program& program, double warps, bool watched, bool in_whole_blocks) {
  bool stores_ahead = true, all_meet = true;
  for (const isa::Function& f : program.functions) {
    first_blocks_.emplace_back(f.code.size(), Block::kNone);
    for (const isa::Op& op : f.code) {
      const isa::Line& line = f.lines[static_cast<size_t>(op.line)];
      stores_ahead = stores_ahead && waits_at_barriers_alone(line.text, kind_of(line.text, line.unit));
      all_meet = all_meet && (op.kind != isa::OpKind::barrier || is_of_all_warps(op));
    }
  }
  through_ = stores_ahead && all_meet && !watched;
  to_ends_ = to_ends_ && through_;
  for (const isa::Function& f : program.functions) {
    std::vector<Info>& out = infos_.emplace_back();
    out.reserve(f.code.size());
    const auto name = [&](const isa::Op& op) -> const isa::Line& {
      return f.lines[static_cast<size_t>(op.line)];
    };
    const std::vector<uint32_t> under = code_ != nullptr ? predicated_in_code(f) : predicated(f);
    std::unordered_set<uint32_t> used;
    for (size_t i = 0; i < f.code.size(); ++i) {
      out.push_back(classify(f.code[i], name(f.code[i]), warps, under[i]));
      for (const uint32_t row : sources(out.back())) used.insert(row);
    }
    // An atomic whose result nobody uses is a reduction. A row holds several values, one after the other.
    for (size_t i = 0; i < out.size(); ++i) {
      if (!out[i].tells || out[i].update == Info::Update::exchange) continue;
      const auto is_used = [&](uint32_t row) {
        for (size_t k = i + 1; k < out.size() && !out[k - 1].ends_block; ++k) {
          if (has(sources(out[k]), row)) return true;
          if (has(results(out[k]), row) && f.code[k].guard == 0) return false;
        }
        return used.contains(row);
      };
      const auto rows = results(out[i]);
      out[i].tells = std::any_of(rows.begin(), rows.end(), is_used);
    }
    if (code_ == nullptr) join_pairs(f, out);
    for (size_t k = 0; k < out.size(); ++k) {
      Info& i = out[k];
      if (i.kind != OpKind::arithmetic || i.in_warp) continue;
      i.table.work[static_cast<size_t>(i.pipe)] = i.table.interval;
      const isa::Line& line = name(f.code[k]);
      if (line.unit == Unit::fma && line.text.ends_with(".f32")) i.table.fp32 = i.table.interval;
    }
    if (code_ != nullptr) cost_by_code(f, out);
    find_elected(f, out);
    order_loads(f, out);
    for (Info& i : out) i.renames = i.kind == OpKind::arithmetic && i.table.interval == 0 && i.results == 1;
    // From the end of a block backwards: whether what comes next is an access that nobody waits for.
    bool next = false;
    for (size_t i = out.size(); i-- > 0;) {
      Info& info = out[i];
      const bool computes = info.kind == OpKind::arithmetic || info.kind == OpKind::multiply_warp;
      const bool weak = info.kind == OpKind::memory && is_weak(name(f.code[i]).text);
      info.meets = through_ && f.code[i].kind == isa::OpKind::barrier;
      info.leaves = to_ends_ && &f == &program.functions[static_cast<size_t>(program.entry)] &&
                    ends_warp(f.code[i], name(f.code[i]).text);
      info.ahead = info.leaves ? true
                   : computes  ? by_itself(f.code[i].kind, name(f.code[i]).unit)
                               : info.meets || (weak && (stores_ahead || reads(name(f.code[i]).text)));
      info.goes_on = ((computes || weak) && next && !info.ends_block) || info.predicates;
      if (info.ends_block)
        next = false;
      else if (!computes && !info.predicates)
        next = weak;
    }
  }
  if (code_ != nullptr)
    for (std::vector<Info>& function : infos_) order_by_code(function);
  kept_rows_ = rows_;
  // Functions share rows here; those that the entry does not call have no code.
  const auto has_code = [](const std::vector<Info>& infos) { return !infos.empty(); };
  const auto entry = static_cast<size_t>(program.entry);
  if (in_whole_blocks && std::count_if(infos_.begin(), infos_.end(), has_code) == 1)
    number_rows(program.functions[entry], infos_[entry]);
  find_late();
  may_go_ahead_.resize(infos_.size());
  for (size_t f = 0; f < infos_.size(); ++f)
    for (size_t pc = 0; pc < infos_[f].size(); ++pc) {
      Info& i = infos_[f][pc];
      i.function = static_cast<int>(f);
      i.pc = static_cast<uint32_t>(pc);
      i.number = static_cast<uint32_t>(all_infos_.size()) % Ahead::kMost;
      all_infos_.push_back(&i);
      const bool together = i.in_warp || i.meets || i.leaves || i.kind == OpKind::multiply_warp;
      may_go_ahead_[f].push_back(!i.ahead    ? 0
                                 : !together ? run::GoesAhead::kTogether | run::GoesAhead::kApart
                                             : run::GoesAhead::kTogether);
    }
  if (all_infos_.size() > Ahead::kMost)
    throw machine::Unsupported("a run in the order of time of more than 2^27 instructions");
  watch(program);
  for (std::vector<Info>& function : infos_)
    for (Info& i : function) {
      i.latency = i.stalled ? 0 : time_of(i.table.latency);
      i.interval = time_of(i.table.interval);
      i.seen = time_of(i.table.seen);
      i.fp32 = time_of(i.table.fp32);
      i.product = time_of(i.table.product);
      i.issued = time_of(i.table.issues);
      i.stalls = std::max(i.issued, time_of(i.table.stalls));
      i.asks.add_issues(i.issued);
      for (size_t p = 0; p < kPipes; ++p) {
        i.work[p] = time_of(i.table.work[p]);
        if (i.work[p] > 0) i.asks.add(static_cast<Pipe>(p), i.work[p], i.work[p]);
      }
    }
}

}  // namespace bitwell::timing
