#include "verify/schedules/exhaust.h"

#include <algorithm>

#include "model/explore/explorer.h"
#include "model/run/turns/residency.h"
#include "verify/launch/start.h"
#include "verify/schedules/search.h"

namespace bitwell::schedules {
namespace {

using machine::InputError;

// Of one run: what is small enough to be enumerated takes far fewer.
constexpr size_t kMostTurns = 1 << 14;

void refuse_waiting_clusters(const isa::Program& program, const run::Shape& shape,
                             const run::Options& options) {
  const run::Residency held = run::residency(program, shape);
  const uint64_t most = options.residents.value_or(std::max<uint64_t>(held.clusters, 1));
  if (held.all > most)
    throw InputError("every schedule of a launch of " + std::to_string(held.all) + " clusters, of which " +
                     std::to_string(most) + " are resident at once: all of them must be");
}

// What a run left: of the outputs, or of everything where none is one.
Ended left_by(const launch::Ran& ran, const launch::Launch& launch) {
  const bool all = std::none_of(launch.buffers.begin(), launch.buffers.end(),
                                [](const launch::Buffer& b) { return b.output; });
  Ended out;
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    const launch::Buffer& b = launch.buffers[i];
    out.buffers.push_back(ran.buffer(launch, i, b.output ? b.size() : all ? b.bytes.size() : 0));
  }
  for (size_t i = 0; i < launch.variables.size(); ++i)
    out.variables.push_back(launch.variables[i].output ? ran.variable(launch, i) : std::vector<std::byte>());
  return out;
}

}  // namespace

Exhausted exhaust(const launch::Launch& launch, run::Options options, uint64_t most,
                  const std::function<void(uint64_t runs, uint64_t pruned)>& progress) {
  launch::Launch alone = launch;
  alone.then.clear();
  const launch::Start start(alone);
  const run::Shape shape = run::full_shape(start.program(), launch.shape);
  refuse_waiting_clusters(start.program(), shape, options);
  options.schedule = {};
  const unsigned threads = options.observers.empty() ? std::max(options.threads, 1u) : 1;
  options.threads = 1;  // each run has one
  const auto run = [&](explore::Explorer& explorer, bool first) -> std::optional<Ended> {
    run::Options now = options;
    now.chooser = &explorer;
    now.observers.push_back(explorer.observer());
    if (!first) now.print = nullptr;
    try {
      return left_by(start.run(now, true), alone);
    } catch (const machine::Fault& fault) {
      Ended end;
      end.fault = fault.what();
      return end;
    } catch (const explore::Explorer::Pruned&) {
      return std::nullopt;
    } catch (const explore::Explorer::TooLong& what) {
      throw InputError(std::string("every schedule: ") + what.what() + ", the launch is too large for that");
    }
  };
  return Search(most, run, progress).run(std::make_unique<explore::Explorer>(shape, kMostTurns), threads);
}

std::string schedule_of(const Ended& end) { return "order:" + explore::text_of(end.order); }

}  // namespace bitwell::schedules
