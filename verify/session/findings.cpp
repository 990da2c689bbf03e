#include "verify/session/findings.h"

#include <algorithm>

#include "verify/findings/between.h"
#include "verify/findings/groups.h"
#include "verify/findings/remedy.h"
#include "verify/session/races.h"

namespace bitwell::session {
namespace {

Act act_of(const hazard::Party& p, const findings::Launched& launch) {
  constexpr std::string_view kAccesses[] = {"read", "write", "update"};  // by machine::AccessKind
  Act out{launch.number,   launch.of > 1 ? findings::name_of(launch) : "",
          launch.entry(),  launch.ptx,
          p.site.ptx_line, std::nullopt,
          nullptr,         kAccesses[static_cast<size_t>(p.site.kind)],
          p.cta,           p.warp,
          p.lane,          p.site.actor != hazard::Actor::thread};
  if (const isa::Line* line = findings::line_of(p.site.ptx_line, launch.program); line != nullptr) {
    out.instruction = line->text;
    out.cuda = line->cuda;
  }
  return out;
}

Told told_of(const findings::Found& found, const Weighed& weighed, Level level, size_t number) {
  constexpr std::string_view kEnds[] = {"nothing", "output", "branch", "address"};  // by hazard::Way::End
  const hazard::Finding& f = found.finding;
  const hazard::KindRow& row = hazard::row_of(f.kind);
  const isa::Program& program = findings::asked_of(found).launch.program;
  Told out{row.name,
           row.what,
           row.remedy,
           row.level,
           level,
           act_of(f.earlier, *found.earlier),
           act_of(f.later, *found.later),
           found.numbers,
           f.address,
           f.bytes,
           f.count,
           findings::remedy(found),
           findings::fingerprint(found),
           {},
           std::nullopt,
           kEnds[static_cast<size_t>(weighed.way.end)],
           weighed.way.lines,
           findings::describe(weighed.way, program),
           std::nullopt,
           number};
  for (const findings::Said& line : findings::said_of(found))
    out.lines.push_back({line.text, line.cuda, line.launch == nullptr ? "" : line.launch->ptx});
  if (found.between != nullptr) {
    out.does_not_count.emplace();
    for (const findings::Between::Passed& p : found.between->passed)
      out.does_not_count->push_back({p.ptx_line, p.why});
  }
  if (weighed.followed != nullptr)
    out.on_this_run = {*weighed.followed, findings::describe(*weighed.followed, f, program)};
  return out;
}

std::vector<Finding> grouped(const std::vector<findings::Found>& all, const Races& races,
                             const std::function<Level(const findings::Found&)>& level_of) {
  std::vector<Finding> out;
  for (const findings::Group& group : findings::groups_of(all, level_of)) {
    Finding& to = out.emplace_back(Finding{group.level, {}, group.count(), group.pairs()});
    for (const findings::Found* f : group.findings)
      to.pairs.push_back(told_of(*f, races.weighed(*f), group.level, static_cast<size_t>(f - all.data())));
  }
  return out;
}

std::vector<findings::Found> all_of(const Answer& answer) {
  std::vector<findings::Found> out;
  for (const Weighed& w : answer.findings) out.push_back(w.found);
  return out;
}

}  // namespace

std::vector<const Told*> Findings::known_pairs() const {
  std::vector<const Told*> out;
  for (const Finding& f : known)
    for (const Told& t : f.pairs) out.push_back(&t);
  std::sort(out.begin(), out.end(), [](const Told* a, const Told* b) { return a->number < b->number; });
  return out;
}

Findings findings_of(const Answer& answer, const findings::Baseline& known) {
  const findings::Sifted sifted = findings::sift(all_of(answer), answer.entries, known);
  const Races& races = *answer.races;
  Findings out;
  out.fresh = grouped(sifted.fresh, races, [&](const findings::Found& f) { return races.weighed(f).level; });
  out.known = grouped(sifted.known, races,
                      [](const findings::Found& f) { return hazard::row_of(f.finding.kind).level; });
  out.stale = sifted.stale;
  for (const Finding& f : out.fresh)
    ++(f.level == Level::error ? out.errors : f.level == Level::note ? out.notes : out.silent);
  return out;
}

std::string baseline_with(const findings::Baseline& before, const Answer& answer) {
  return findings::baseline_with(before, all_of(answer), answer.entries);
}

}  // namespace bitwell::session
