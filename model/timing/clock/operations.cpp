// Copies and products of matrices under way: when their next step is done.
#include <algorithm>
#include <bit>
#include <cmath>

#include "model/timing/clock/state.h"

namespace bitwell::timing {

using machine::Task;

// To shared memory.
Time Clock::load(const Task& task, Multiprocessor& sm, Time start, Cause& cause) {
  cause = Cause::copy;
  const auto bytes = static_cast<double>(task.bytes);
  const double wait = value(Key::mbarrier_wait) + value(Key::copy_beside);  // that the probe has in it
  if (task.global == 0) {  // from another CTA's, or all of it is filled
    const double way =
        task.tensor_map ? device_.copy_latency(0, false, true) - wait : value(Key::remote_latency);
    return start + time_of(way + bytes / value(Key::remote_copy_rate));
  }
  const auto lines = static_cast<double>(task.lines);
  if (const double line = value(Key::copy_line); line > 0)
    start = sm.copies.take(start, time_of(lines * line));
  // What several CTAs get is read once; each has a port of its own. That it is written hinders no product: a
  // B200's tensor core reads operands at its whole rate meanwhile (SemiAnalysis, tiles of 128x128x128 bytes).
  const Latency latency{time_of(device_.copy_latency(task.bytes, false, task.tensor_map) - wait),
                        time_of(device_.copy_latency(task.bytes, true, task.tensor_map) - wait)};
  return copied(task.global, amounts(static_cast<double>(task.sectors * kSector)), sm, start, latency, cause);
}

// The tensor core reads so many wavefronts of operands from shared memory, evenly while it multiplies.
// Returns how long that takes, with all others that reach it.
Time Clock::operands(Multiprocessor& sm, Time begin, Time interval, double fronts) {
  constexpr Time kPiece = 16 * kCycle;
  const Time pieces = (interval + kPiece - 1) / kPiece;
  const Time a_piece = time_of(fronts / static_cast<double>(pieces));
  Time end = begin + interval;
  for (Time k = 0; k < pieces; ++k) {
    const Time asked = begin + k * kPiece;
    // A piece that comes late holds back what follows it.
    end = std::max(end, sm.memory.take(asked, a_piece) + interval - (k + 1) * kPiece);
  }
  return end - begin;
}

// To global memory: until it has been read.
Time Clock::store(const Task& task, Time start) {
  const auto bytes = static_cast<double>(task.bytes);
  const double fixed = value(Key::store_read) - value(Key::store_beside);
  constexpr double kProbed = 32768;
  const double rate = kProbed / (value(Key::store_rate) - value(Key::store_read));
  if (Region* const region = region_of(task.global); region != nullptr) region->asked->written += bytes;
  return std::max({start + time_of(fixed + bytes / rate), l2_.take(start, l2_.amount(bytes)) + time_of(fixed),
                   dram_.take(start, dram_.amount(bytes))});
}

// wgmma: when all four warps have issued it, and those before it are through.
Time Clock::multiply(const machine::Agent& agent, const Task& task, uint32_t rank, Operation& o) {
  Multiprocessor& sm = sm_of(*at_, rank);
  constexpr size_t kWarpgroup = 4;
  const auto first = static_cast<size_t>(agent.issuer) / kWarpgroup * kWarpgroup;
  Time issued = 0;
  for (size_t i = 0; i < kWarpgroup; ++i) {
    WarpTime& w = at_->warps[rank * warps_ + first + i];
    if (!w.some_issued()) continue;
    const Time at = w.next_issue();
    issued = std::max(issued, at);
    if (issued == at) o.issued_by = w.link;
  }
  const Time begin = std::max(issued, sm.tensor_free);
  const double fronts = (task.a_elsewhere ? 0 : value(Key::wgmma_a)) + task.n / 4.0;
  const Time interval =
      operands(sm, begin, time_of(device_.wgmma_interval(task.n, task.a_elsewhere)), fronts);
  if (begin > issued) o.issued_by = Path::kNone;
  sm.tensor_free = begin + interval;
  sm.tensor_busy += interval;
  o.role = Role::multiplies;
  o.cause = Cause::tensor;
  // Until its wait is past, as it is probed.
  const Time end = begin + time_of(device_.wgmma_latency(task.n, task.a_elsewhere) - value(Key::wait_group));
  for (size_t i = 0; i < kWarpgroup; ++i) {
    WarpTime& w = at_->warps[rank * warps_ + first + i];
    w.done[w.products++ % WarpTime::kMost] = sm.tensor_free;
  }
  return end;
}

// tcgen05.mma, cp and shift, which go through the tensor core in the order of their issue.
Time Clock::in_tensor_memory(const machine::Agent& agent, const Task& task, uint32_t rank, Operation& o) {
  WarpTime& w = at_->warps[rank * warps_ + static_cast<size_t>(agent.issuer)];
  const Time issued = w.some_issued() ? w.next_issue() : now_;
  Multiprocessor* sms[] = {&sm_of(*at_, rank), task.ctas == 2 ? &sm_of(*at_, rank ^ 1) : nullptr};
  Time begin = issued;
  // A copy goes on beside the products before it; a product waits for the copies before it.
  const bool multiplies = task.kind == Task::Kind::tensor_multiply;
  for (const Multiprocessor* sm : sms)
    if (sm != nullptr) begin = std::max({begin, sm->copied, multiplies ? sm->tensor_free : Time{0}});
  Time interval = 0, latency = 0;
  if (multiplies) {
    const TensorMmaCost cost = device_.tensor_mma(task.ctas, task.m, task.n);
    interval = time_of(task.a_elsewhere ? cost.elsewhere : cost.interval);
    const double fronts = ((task.a_elsewhere ? 0 : task.m) + task.n) / 4.0 / task.ctas;
    const Time alone = interval;
    for (Multiprocessor* sm : sms)
      if (sm != nullptr) interval = std::max(interval, operands(*sm, begin, alone, fronts));
    latency = std::max(interval, time_of(cost.latency) - time(Key::tensor_commit) + interval - alone);
  } else {
    interval = time_of(static_cast<double>(task.bytes) / task.ctas / value(Key::tensor_copy_rate));
    latency = std::max(interval, time(Key::tensor_copy_first) - time(Key::tensor_commit));
  }
  if (begin == issued) o.issued_by = w.link;
  for (Multiprocessor* sm : sms) {
    if (sm == nullptr) continue;
    (multiplies ? sm->tensor_free : sm->copied) = begin + interval;
    if (multiplies) sm->tensor_busy += interval;
  }
  o.role = Role::multiplies;
  o.cause = Cause::tensor;
  return begin + latency;
}

void Clock::schedule(const machine::Agent& agent, Operation& o) {
  const Task task = agent.task();
  const auto& ctas = at_->cluster->ctas;
  uint32_t rank = 0;
  while (rank + 1 < ctas.size() && ctas[rank]->index != agent.place.cta) ++rank;
  Multiprocessor& sm = sm_of(*at_, rank);
  o.line = agent.place.ptx_line;
  const Time start = o.steps == 0 ? o.issued : now_;
  switch (task.kind) {
    case Task::Kind::load: {
      o.at = load(task,
                  sm_of(*at_, task.ranks != 0 ? static_cast<uint32_t>(std::countr_zero(task.ranks)) : rank),
                  start, o.cause);
      for (uint32_t others = task.ranks & (task.ranks - 1); others != 0; others &= others - 1) {
        Server<32>& port = sm_of(*at_, static_cast<uint32_t>(std::countr_zero(others))).l2;
        port.take(start, port.amount(static_cast<double>(task.bytes)));
      }
      break;
    }
    case Task::Kind::store:
      o.cause = Cause::store;
      o.at = o.steps == 0 ? store(task, start) : start + time(Key::small_step);
      break;
    case Task::Kind::lanes: {
      const Time beside = time(Key::cp_async_latency);
      if (task.global == 0) {
        o.at = start + time(Key::remote_latency);
      } else {
        // It looks for a line a cycle, and keeps the port meanwhile from what stands behind it; a line of L2
        // comes in a cycle too, unless all multiprocessors ask.
        const Time lines = static_cast<Time>(task.lines) * kCycle;
        const Time looked = sm.memory.take(start, lines);
        Amounts of = amounts(static_cast<double>(task.sectors * kSector));
        of.port = std::min(of.port, static_cast<Time>(task.lines) * a_line_);
        Latency latency{time(Key::l2_latency) + beside, time(Key::dram_latency) + beside, task.lines};
        if (task.lines > 1)
          latency.apart =
              static_cast<int64_t>(task.last - task.global) / static_cast<int64_t>(task.lines - 1);
        o.at = copied(task.global, of, sm, looked, latency, o.cause);
      }
      break;
    }
    case Task::Kind::commit:
      o.at = start + std::max(time(Key::tensor_commit), time(Key::small_step));
      o.role = Role::multiplies;
      o.cause = Cause::tensor;
      break;
    case Task::Kind::multiply:
      if (is_of(Key::wgmma_wait, device_.sm)) {
        o.at = multiply(agent, task, rank, o);
        break;
      }
      [[fallthrough]];
    case Task::Kind::tensor_multiply:
    case Task::Kind::tensor_copy:
      if (task.kind != Task::Kind::multiply && !device_.tensors.empty()) {
        o.at = in_tensor_memory(agent, task, rank, o);
        break;
      }
      [[fallthrough]];
    default:
      o.at = start + time(Key::small_step);
      if (task.kind == Task::Kind::other && agent.ending == machine::Ending::none) break;
      ++without_row_[agent.describe().substr(0, agent.describe().find(" of "))];
  }
}

}  // namespace bitwell::timing
