#include "verify/cli/run_sarif.h"

#include <map>
#include <nlohmann/json.hpp>

#include "verify/cli/review_place.h"

namespace bitwell::cli {
namespace {

using nlohmann::json;

// Of the PTX files of a list, each read once.
class Places {
 public:
  ReviewPlace of(const std::string& ptx, int line) {
    return files_.try_emplace(ptx, ptx).first->second.of(line);
  }

 private:
  std::map<std::string, ReviewPlaces> files_;
};

json location(const hazard::Party& party, const verify::Launched& launch, Places& places) {
  const ReviewPlace place = places.of(launch.ptx, party.site.ptx_line);
  const isa::Line* line = verify::line_of(party.site.ptx_line, launch.program);
  json out{{"physicalLocation",
            {{"artifactLocation", {{"uri", place.uri}}}, {"region", {{"startLine", place.line}}}}}};
  out["message"]["text"] = (launch.of > 1 ? verify::name_of(launch) + ": " : "") + "PTX line " +
                           std::to_string(party.site.ptx_line) + (line == nullptr ? "" : ": " + line->text);
  return out;
}

std::string_view name_of(hazard::Level level) { return level == hazard::Level::error ? "error" : "note"; }

}  // namespace

std::string sarif(const verify::Sifted& found, const Explain& explain) {
  Places places;
  json rules = json::array(), results = json::array();
  std::map<std::string_view, size_t> numbers;
  const auto add = [&](const verify::Found& told, bool known) {
    const hazard::Finding& f = told.finding;
    const hazard::KindRow& row = hazard::row_of(f.kind);
    const hazard::Level level = known ? row.level : explain(told).level;
    if (level == hazard::Level::nothing) return;
    const auto [at, fresh] = numbers.try_emplace(row.name, rules.size());
    if (fresh)
      rules.push_back({{"id", row.name},
                       {"shortDescription", {{"text", row.what}}},
                       {"fullDescription",
                        {{"text", std::string(row.what) +
                                      ". What would order them, or be right: " + std::string(row.remedy)}}},
                       {"help", {{"text", row.remedy}}},
                       {"defaultConfiguration", {{"level", name_of(row.level)}}}});
    json earlier = location(f.earlier, *told.earlier, places);
    earlier["id"] = 1;
    results.push_back({{"ruleId", row.name},
                       {"ruleIndex", at->second},
                       {"level", name_of(level)},
                       {"message", {{"text", verify::describe(told)}}},
                       {"locations", json::array({location(f.later, *told.later, places)})},
                       {"relatedLocations", json::array({earlier})},
                       {"occurrenceCount", f.count},
                       {"partialFingerprints", {{"instructions/v2", verify::fingerprint(told).text}}}});
    // A result without the key says nothing; an empty list, that it was not suppressed.
    results.back()["suppressions"] = known ? json::array({{{"kind", "external"}}}) : json::array();
  };
  for (const verify::Found& f : found.fresh) add(f, false);
  for (const verify::Found& f : found.known) add(f, true);
  json run{{"results", results}};
  run["tool"]["driver"] = {{"name", "bitwell"}, {"semanticVersion", BITWELL_VERSION}, {"rules", rules}};
  const json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", json::array({run})}};
  return log.dump(2) + "\n";
}

}  // namespace bitwell::cli
