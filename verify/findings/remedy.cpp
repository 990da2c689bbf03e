#include "verify/findings/remedy.h"

#include "model/machine/memory/memory.h"
#include "verify/findings/between.h"
#include "verify/findings/report.h"

namespace bitwell::findings {
namespace {

using hazard::Actor;
using hazard::Party;
using Fix = hazard::KindRow::Fix;

bool same_thread(const Party& a, const Party& b) {
  return a.cta == b.cta && a.warp == b.warp && a.lane == b.lane && a.lane >= 0;
}

bool in_shared_memory(const hazard::Finding& f) {
  return f.where.empty() && f.address - machine::kSharedWindow < machine::kWindowSize;
}

// What both threads can reach, "" where nothing but memory is between them.
std::string barrier(const hazard::Finding& f) {
  if (f.earlier.cta == f.later.cta) return "__syncthreads (bar.sync)";
  return in_shared_memory(f) ? "a barrier of the cluster (barrier.cluster.arrive.release and wait.acquire)"
                             : "";
}

// Which wait a cp.async needs, and what behind it; `then`: ", then ...", or empty.
std::string wait_for_copy(const Found& found, const std::string& then) {
  const Between* seen = found.between;
  if (seen == nullptr)
    return "cp.async.wait_group N (N: the groups committed behind this copy's that may be left; 0 or "
           "wait_all "
           "waits for all) by the thread that issued the copy" +
           then;
  if (seen->waited && !then.empty())
    return std::string(then.substr(std::string_view(", then ").size())) + " behind the wait of " +
           place_of(*seen->waited, found.earlier->program);
  const std::string behind = std::to_string(seen->committed_behind.value_or(0));
  return (seen->committed_behind ? "" : "cp.async.commit_group behind the copy, ") +
         std::string("cp.async.wait_group ") + behind + (behind == "0" ? "" : " or less") +
         " by the thread that issued the copy" + then;
}

// Who waits for an operation of that kind, and how; `other`: the thread of the other act.
std::string wait_for(const Party& operation, const Party& other, const Found& found) {
  const hazard::Finding& f = found.finding;
  const bool own = same_thread(operation, other);
  const std::string then =
      own ? "" : ", then " + (barrier(f).empty() ? "a release and an acquire" : barrier(f));
  const bool reads = operation.site.kind == machine::AccessKind::read;
  switch (operation.site.actor) {
    case Actor::copy: return wait_for_copy(found, then);
    case Actor::bulk_copy:
      return std::string("cp.async.bulk.wait_group") + (reads ? ".read" : "") +
             " by the thread that issued and committed the copy" + then;
    case Actor::mbarrier_copy:
      return "a wait for the mbarrier phase that the copy completes (mbarrier.try_wait), by this thread or "
             "by one "
             "that a barrier orders before it";
    case Actor::wgmma: return "wgmma.commit_group and wgmma.wait_group by the warps that issued it" + then;
    case Actor::tcgen05:
      return "tcgen05.commit behind the operation and a wait for its mbarrier (mbarrier.try_wait)";
    case Actor::tensor_load: return "tcgen05.wait::ld by the warp that issued it" + then;
    case Actor::tensor_store: return "tcgen05.wait::st by the warp that issued it" + then;
    case Actor::thread: break;
  }
  return "";
}

// Of an operation that comes second: who must have done what before it is issued.
std::string issue_behind(const hazard::Finding& f) {
  const Party &first = f.earlier, &operation = f.later;
  const std::string act = first.site.kind == machine::AccessKind::read ? "read" : "write";
  if (same_thread(first, operation))
    return "the " + act + " before the instruction that issues the operation";
  const std::string how = barrier(f).empty() ? "a release and an acquire" : barrier(f);
  return how + ", or an 'empty' mbarrier that every thread arrives at behind its " + act +
         ", before the operation is issued";
}

}  // namespace

std::string remedy(const Found& found) {
  const hazard::Finding& f = found.finding;
  const std::string general(hazard::remedy_of(f.kind, f.side));
  if (found.earlier != found.later) return general;
  const Fix fix = hazard::row_of(f.kind).fix;
  if (fix == Fix::wait && f.earlier.site.actor != Actor::thread) return wait_for(f.earlier, f.later, found);
  if (fix == Fix::wait && f.later.site.actor != Actor::thread) return issue_behind(f);
  if (fix == Fix::barrier) {
    const std::string both = barrier(f);
    return both.empty() ? "a release and an acquire in the scope of both (.gpu; no barrier spans clusters), "
                          "or two launches"
                        : both + " that both reach, between them";
  }
  return general;
}

}  // namespace bitwell::findings
