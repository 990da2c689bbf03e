#include "verify/session/orders.h"

#include <algorithm>

#include "verify/session/session.h"

namespace bitwell::session {

std::optional<schedules::Disagreement> compare(launch::Launch& launch, const run::Options& options,
                                               size_t schedules,
                                               const schedules::SchedulesProgress& progress) {
  std::optional<launch::Ran> first;
  auto out = schedules::disagreement(launch::Start(launch), options,
                                     launch::schedules(schedules, order_kept(options)), progress, &first);
  if (first) first->keep(launch);
  return out;
}

const schedules::Ended* EveryOrder::first() const {
  return all.ends.empty() || !all.ends[0].fault.empty() ? nullptr : all.ends.data();
}

EveryOrder::Difference EveryOrder::difference(const schedules::Ended& end,
                                              const launch::Launch& launch) const {
  const schedules::Ended& other = *first();
  for (size_t i = 0; i < end.buffers.size(); ++i) {
    const auto [here, there] =
        std::mismatch(end.buffers[i].begin(), end.buffers[i].end(), other.buffers[i].begin());
    if (here != end.buffers[i].end())
      return {launch.buffers[i].name, static_cast<uint64_t>(here - end.buffers[i].begin()), *here, *there};
  }
  return {};
}

void EveryOrder::keep(launch::Launch& launch) const {
  const schedules::Ended& end = *first();
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (!end.buffers[i].empty()) {
      launch.buffers[i].bytes = end.buffers[i];
      launch.buffers[i].blank = 0;
    }
  for (size_t i = 0; i < launch.variables.size(); ++i) launch.variables[i].after = end.variables[i];
}

EveryOrder every_order(const launch::Launch& launch, const run::Options& options, uint64_t most,
                       const std::function<void(uint64_t runs, uint64_t pruned)>& progress) {
  EveryOrder out{schedules::exhaust(launch, options, most, progress)};
  std::stable_partition(out.all.ends.begin(), out.all.ends.end(),
                        [](const schedules::Ended& e) { return e.fault.empty(); });
  return out;
}

}  // namespace bitwell::session
