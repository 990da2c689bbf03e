#include "verify/findings/groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "verify/findings/report.h"

namespace bitwell::findings {
namespace {

std::string place_of(const hazard::Party& p, const Launched& launch) {
  const isa::Line* line = line_of(p.site.ptx_line, launch.program);
  if (line == nullptr || line->cuda == nullptr) return "PTX " + std::to_string(p.site.ptx_line);
  std::string out;
  for (const machine::CudaLine::At& at : line->cuda->chain)
    out += at.file + ":" + std::to_string(at.line) + ";";
  return out;
}

}  // namespace

uint64_t Group::count() const {
  uint64_t out = 0;
  for (const Found* f : findings) out += f->finding.count;
  return out;
}

size_t Group::pairs() const {
  std::set<std::pair<int, int>> lines;
  for (const Found* f : findings)
    lines.insert(std::minmax({f->finding.earlier.site.ptx_line, f->finding.later.site.ptx_line}));
  return lines.size();
}

std::vector<Group> groups_of(const std::vector<Found>& findings,
                             const std::function<hazard::Level(const Found&)>& level_of) {
  using Key = std::tuple<hazard::Kind, hazard::Level, hazard::Side, const Launched*, const Launched*,
                         std::string, std::string>;
  std::map<Key, size_t> known;
  std::vector<Group> out;
  for (const Found& f : findings) {
    const hazard::Level level = level_of(f);
    std::string earlier = place_of(f.finding.earlier, *f.earlier),
                later = place_of(f.finding.later, *f.later);
    if (hazard::row_of(f.finding.kind).either_first && f.earlier == f.later && later < earlier)
      std::swap(earlier, later);
    const Key key{f.finding.kind,     level,           f.finding.side, f.earlier, f.later,
                  std::move(earlier), std::move(later)};
    const auto [at, fresh] = known.try_emplace(key, out.size());
    if (fresh) out.push_back({{}, level});
    out[at->second].findings.push_back(&f);
  }
  return out;
}

}  // namespace bitwell::findings
