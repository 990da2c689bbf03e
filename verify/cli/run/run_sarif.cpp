#include "verify/cli/run/run_sarif.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "verify/cli/report/cuda_source.h"
#include "verify/hazard/groups.h"
#include "verify/launch/file/names.h"

namespace bitwell::cli {
namespace {

using nlohmann::json;

json location(const std::string& uri, int line, const std::string& says) {
  return {{"physicalLocation", {{"artifactLocation", {{"uri", uri}}}, {"region", {{"startLine", line}}}}},
          {"message", {{"text", says}}}};
}

// Where code review shows an access, outermost first: on the CUDA line of the kernel, then in each function
// that was inlined there; without CUDA lines in the PTX file.
std::vector<json> locations(const hazard::Party& party, const verify::Launched& launch) {
  const isa::Line* line = verify::line_of(party.site.ptx_line, launch.program);
  const std::string says = (launch.of > 1 ? verify::name_of(launch) + ": " : "") + "PTX line " +
                           std::to_string(party.site.ptx_line) + (line == nullptr ? "" : ": " + line->text);
  if (line == nullptr || line->cuda == nullptr)
    return {location(review_uri(launch.ptx), std::max(party.site.ptx_line, 1), says)};
  std::vector<json> out;
  for (const machine::CudaLine::At& at : line->cuda->chain)
    out.insert(out.begin(), location(review_uri(at, launch.ptx), at.line, says));
  for (size_t i = 1; i < out.size(); ++i) out[i]["message"]["text"] = says + ", inlined there";
  return out;
}

std::string_view name_of(hazard::Level level) { return level == hazard::Level::error ? "error" : "note"; }

}  // namespace

std::string sarif(const verify::Sifted& found, const Explain& explain) {
  json rules = json::array(), results = json::array();
  std::map<std::string_view, size_t> numbers;
  const auto add = [&](const verify::Group& group, bool known) {
    const verify::Found& told = group.first();
    const hazard::Finding& f = told.finding;
    const hazard::KindRow& row = hazard::row_of(f.kind);
    if (group.level == hazard::Level::nothing) return;
    const auto [at, fresh] = numbers.try_emplace(row.name, rules.size());
    if (fresh)
      rules.push_back({{"id", row.name},
                       {"shortDescription", {{"text", row.what}}},
                       {"fullDescription",
                        {{"text", std::string(row.what) +
                                      ". What would order them, or be right: " + std::string(row.remedy)}}},
                       {"help", {{"text", row.remedy}}},
                       {"defaultConfiguration", {{"level", name_of(row.level)}}}});
    const std::vector<json> later = locations(f.later, *told.later);
    json related = json::array();
    const auto relate = [&](const json& place) {
      related.push_back(place);
      related.back()["id"] = related.size();
    };
    for (const json& place : locations(f.earlier, *told.earlier)) relate(place);
    for (size_t i = 1; i < later.size(); ++i) relate(later[i]);
    results.push_back({{"ruleId", row.name},
                       {"ruleIndex", at->second},
                       {"level", name_of(group.level)},
                       {"message", {{"text", verify::as_written(verify::describe(told))}}},
                       {"locations", json::array({later.front()})},
                       {"relatedLocations", related},
                       {"occurrenceCount", group.count()},
                       {"partialFingerprints", {{"instructions/v2", verify::fingerprint(told).text}}}});
    // A result without the key says nothing; an empty list, that it was not suppressed.
    results.back()["suppressions"] = known ? json::array({{{"kind", "external"}}}) : json::array();
  };
  for (const verify::Group& g :
       verify::groups_of(found.fresh, [&](const verify::Found& f) { return explain(f).level; }))
    add(g, false);
  for (const verify::Group& g : verify::groups_of(
           found.known, [](const verify::Found& f) { return hazard::row_of(f.finding.kind).level; }))
    add(g, true);
  json run{{"results", results}};
  run["tool"]["driver"] = {{"name", "bitwell"}, {"semanticVersion", BITWELL_VERSION}, {"rules", rules}};
  const json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", json::array({run})}};
  return log.dump(2) + "\n";
}

}  // namespace bitwell::cli
