#include "verify/session/weigh.h"

#include <algorithm>

namespace bitwell::session {

std::vector<Weighed> weigh(const findings::Watch& watch) {
  std::vector<Weighed> out;
  for (const findings::Found& found : watch.findings())
    out.push_back({found, {}, nullptr, findings::level_of(found.finding, nullptr, {}, false)});
  return out;
}

const Weighed* first_error(const std::vector<Weighed>& all) {
  const auto at =
      std::find_if(all.begin(), all.end(), [](const Weighed& w) { return w.level == Level::error; });
  return at == all.end() ? nullptr : &*at;
}

Site site_of(const Weighed& weighed) {
  const hazard::Finding& f = weighed.found.finding;
  return {weighed.found.later->number - 1, f.kind, f.earlier.site.ptx_line, f.later.site.ptx_line};
}

}  // namespace bitwell::session
