// Copies and products of matrices under way: when their next step is done.
#include <algorithm>

#include "model/timing/clock_state.h"

namespace bitwell::timing {

using machine::Task;

void Clock::schedule(const machine::Agent& agent, Operation& o) {
  const Task task = agent.task();
  const auto& ctas = at_->cluster->ctas;
  uint32_t rank = 0;
  while (rank + 1 < ctas.size() && ctas[rank]->index != agent.place.cta) ++rank;
  Multiprocessor& sm = sm_of(*at_, rank);
  o.line = agent.place.ptx_line;
  const double start = o.steps == 0 ? o.issued : now_;
  switch (task.kind) {
    case Task::Kind::load: {
      const double wait = device_.value(Key::mbarrier_wait);
      o.at = from_l2(task.global, static_cast<double>(task.bytes), sm, start,
                     device_.copy_latency(task.bytes, false) - wait,
                     device_.copy_latency(task.bytes, true) - wait, &o.cause);
      break;
    }
    case Task::Kind::store: {
      if (o.steps != 0) {
        o.at = start + device_.value(Key::small_step);
        break;
      }
      const auto bytes = static_cast<double>(task.bytes);
      const double fixed = device_.value(Key::store_read);
      constexpr double kProbed = 32768;
      const double rate = kProbed / (device_.value(Key::store_rate) - fixed);
      o.cause = Cause::store;
      o.at =
          std::max({start + fixed + bytes / rate, l2_.take(start, bytes) + fixed, dram_.take(start, bytes)});
      Asked* asked = nullptr;
      part_from_dram(task.global, &asked);
      if (asked != nullptr) asked->written += bytes;
      break;
    }
    case Task::Kind::lanes: {
      const auto bytes = static_cast<double>(task.bytes);
      const double beside = device_.value(Key::cp_async_latency);
      if (task.global == 0)
        o.at = start + device_.value(Key::remote_latency);
      else
        o.at = from_l2(task.global, bytes, sm, start, device_.value(Key::l2_latency) + beside,
                       device_.value(Key::dram_latency) + beside, &o.cause);
      break;
    }
    case Task::Kind::multiply: {
      constexpr size_t kWarpgroup = 4;
      const auto first = static_cast<size_t>(agent.issuer) / kWarpgroup * kWarpgroup;
      const size_t warps = ctas.front()->warps.size();
      double issued = 0;
      for (size_t i = 0; i < kWarpgroup; ++i) {
        WarpTime& w = at_->warps[rank * warps + first + i];
        if (w.multiplies.empty()) continue;
        issued = std::max(issued, w.multiplies.front());
        if (issued == w.multiplies.front()) o.issued_by = w.link;
        w.multiplies.pop_front();
      }
      const double begin = std::max(issued, sm.tensor_free);
      const double interval = Device::wgmma_interval(task.n, task.from_registers);
      if (begin > issued) o.issued_by = Path::kNone;
      sm.tensor_free = begin + interval;
      sm.tensor_busy += interval;
      o.role = Role::multiplies;
      o.cause = Cause::tensor;
      o.at = begin + device_.wgmma_latency(task.n, task.from_registers);
      break;
    }
    default:
      o.at = start + device_.value(Key::small_step);
      if (agent.ending == machine::Ending::none) break;
      ++without_row_[agent.describe().substr(0, agent.describe().find(" of "))];
  }
}

}  // namespace bitwell::timing
