#include "verify/session/fault.h"

#include <algorithm>

#include "verify/launch/file/names.h"

namespace bitwell::session {
namespace {

using nlohmann::json;

json place_facts(const machine::Place& place) {
  json out = json::object();
  if (place.ptx_line > 0) out["ptx_line"] = place.ptx_line;
  if (place.cuda != nullptr) {
    const auto& chain = place.cuda->chain;
    out["source"] = chain.front().words();
    // Behind the first that is called from a place, the calls.
    const auto call = std::find_if(chain.begin() + 1, chain.end(), [](const auto& at) { return at.called; });
    for (auto at = chain.begin() + 1; at != chain.end(); ++at)
      out[at < call ? "inlined_at" : "called_from"].push_back(at->words());
  }
  if (!place.has_thread) return out;
  out["cta"] = place.cta;
  out["thread"] = place.thread;
  return out;
}

}  // namespace

json fault_facts(const machine::Fault& fault) {
  json out = place_facts(fault.place);
  out["kind"] = !fault.waiters.empty() ? "deadlock" : fault.access ? "access" : "fault";
  out["message"] = launch::as_written(fault.what());
  if (fault.access) {
    const machine::Fault::Access& a = *fault.access;
    out["access"] = {{"kind", a.kind}, {"space", a.space}, {"address", a.address}, {"bytes", a.bytes}};
    if (!a.object.empty()) out["access"]["buffer"] = launch::as_written(a.object);
  }
  for (const machine::Fault::Waiter& w : fault.waiters) {
    json one = place_facts(w.place);
    one["instruction"] = w.instruction;
    one["threads"] = w.threads;
    one["waits"] = launch::as_written(w.on);
    out["waiters"].push_back(std::move(one));
  }
  return out;
}

}  // namespace bitwell::session
