#include "verify/schedules/exhaust.h"

#include <algorithm>

#include "model/explore/explorer.h"
#include "model/run/turns/residency.h"
#include "verify/launch/start.h"

namespace bitwell::schedules {
namespace {

using machine::InputError;

// Of one run: what is small enough to be enumerated takes far fewer.
constexpr size_t kMostTurns = 1 << 14;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void refuse_waiting_clusters(const isa::Program& program, const run::Shape& shape,
                             const run::Options& options) {
  const run::Residency held = run::residency(program, shape);
  const uint64_t most = options.residents.value_or(std::max<uint64_t>(held.clusters, 1));
  if (held.all > most)
    throw InputError("every schedule of a launch of " + std::to_string(held.all) + " clusters, of which " +
                     std::to_string(most) + " are resident at once: all of them must be");
}

void count(Exhausted& out, Ended now, const explore::Explorer& explorer) {
  for (Ended& end : out.ends)
    if (first_line(end.fault) == first_line(now.fault) && end.buffers == now.buffers &&
        end.variables == now.variables) {
      ++end.runs;
      return;
    }
  now.runs = 1;
  now.order = explorer.order();
  out.ends.push_back(std::move(now));
}

}  // namespace

Exhausted exhaust(const launch::Launch& launch, run::Options options, uint64_t most,
                  const std::function<void(const Exhausted& so_far)>& progress) {
  launch::Launch alone = launch;
  alone.then.clear();
  const launch::Start start(alone);
  const run::Shape shape = run::full_shape(start.program(), launch.shape);
  refuse_waiting_clusters(start.program(), shape, options);
  explore::Explorer explorer(shape, kMostTurns);
  options.schedule = {};
  options.chooser = &explorer;
  options.observers.push_back(explorer.observer());
  const bool all = std::none_of(launch.buffers.begin(), launch.buffers.end(),
                                [](const launch::Buffer& b) { return b.output; });
  Exhausted out;
  while (!out.complete && out.runs + out.pruned < most) {
    if (!explorer.next()) {
      out.complete = true;
      break;
    }
    Ended end;
    try {
      const launch::Ran ran = start.run(options, true);
      for (size_t i = 0; i < alone.buffers.size(); ++i) {
        const launch::Buffer& b = alone.buffers[i];
        const uint64_t bytes = b.output ? b.size() : all ? b.bytes.size() : 0;
        end.buffers.push_back(ran.buffer(alone, i, bytes));
      }
      for (size_t i = 0; i < alone.variables.size(); ++i)
        end.variables.push_back(alone.variables[i].output ? ran.variable(alone, i)
                                                          : std::vector<std::byte>());
    } catch (const machine::Fault& fault) {
      end.fault = fault.what();
    } catch (const explore::Explorer::Pruned&) {
      ++out.pruned;
      explorer.end();
      continue;
    } catch (const explore::Explorer::TooLong& what) {
      throw InputError(std::string("every schedule: ") + what.what() + ", the launch is too large for that");
    }
    options.print = nullptr;
    explorer.end();
    ++out.runs;
    out.turns = std::max(out.turns, explorer.turns());
    count(out, std::move(end), explorer);
    if (progress) progress(out);
  }
  return out;
}

std::string schedule_of(const Ended& end) { return "order:" + explore::text_of(end.order); }

}  // namespace bitwell::schedules
