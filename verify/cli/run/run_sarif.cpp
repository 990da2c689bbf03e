#include "verify/cli/run/run_sarif.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "model/strict_json/write.h"
#include "verify/cli/report/cuda_source.h"
#include "verify/launch/file/names.h"

namespace bitwell::cli {
namespace {

using nlohmann::json;

json location(const std::string& uri, int line, const std::string& says) {
  return {{"physicalLocation", {{"artifactLocation", {{"uri", uri}}}, {"region", {{"startLine", line}}}}},
          {"message", {{"text", says}}}};
}

// Where code review shows a place, outermost first: on the CUDA line of the kernel, then in each function
// that was inlined or called there; without CUDA lines in the PTX file.
std::vector<json> locations(const machine::CudaPlace& cuda, const std::string& ptx, int ptx_line,
                            const std::string& says) {
  if (cuda == nullptr) return {location(review_uri(ptx), std::max(ptx_line, 1), says)};
  std::vector<json> out;
  for (const machine::CudaLine::At& at : cuda->chain)
    out.insert(out.begin(), location(review_uri(at, ptx), at.line, says));
  for (size_t i = 1; i < out.size(); ++i)
    out[i]["message"]["text"] =
        says + (cuda->chain[out.size() - i].called ? ", called there" : ", inlined there");
  return out;
}
std::vector<json> locations(const session::Act& act) {
  const std::string says = (act.of.empty() ? "" : act.of + ": ") + "PTX line " +
                           std::to_string(act.ptx_line) + (act.instruction ? ": " + *act.instruction : "");
  return locations(act.cuda, act.ptx, act.ptx_line, says);
}

// The others of those than the first, with numbers of their own.
json related_to(const std::vector<json>& places) {
  json out = json::array();
  for (size_t i = 1; i < places.size(); ++i) {
    out.push_back(places[i]);
    out.back()["id"] = i;
  }
  return out;
}

constexpr std::string_view kFault = "fault";
json fault_rule() {
  return {{"id", kFault},
          {"shortDescription", {{"text", "The run ended there"}}},
          {"fullDescription",
           {{"text", "An access, a wait or a value that no device does right: the run ended there."}}},
          {"help", {{"text", "The message says what is wrong; bitwell run shows the lines around it."}}},
          {"defaultConfiguration", {{"level", "error"}}}};
}
json fault_result(const machine::Fault& fault, const std::string& ptx, size_t rule) {
  const std::vector<json> places = locations(fault.place.cuda, ptx, fault.place.ptx_line,
                                             "PTX line " + std::to_string(fault.place.ptx_line));
  return {{"ruleId", kFault},
          {"ruleIndex", rule},
          {"level", "error"},
          {"message", {{"text", launch::as_written(fault.what())}}},
          {"locations", json::array({places.front()})},
          {"relatedLocations", related_to(places)},
          {"occurrenceCount", 1},
          {"suppressions", json::array()}};
}

std::string_view level_name(session::Level level) {
  return level == session::Level::error ? "error" : "note";
}

std::string text_of(const session::Told& told) {
  std::string out;
  for (const session::Told::Line& line : told.lines) out += (out.empty() ? "" : "\n") + line.text;
  return launch::as_written(out);
}

}  // namespace

std::string sarif(const session::Findings& found, const machine::Fault* fault, const std::string& ptx) {
  json rules = json::array(), results = json::array();
  std::map<std::string_view, size_t> numbers;
  const auto add = [&](const session::Finding& group, bool known) {
    const session::Told& told = group.pairs.front();
    if (group.level == session::Level::nothing) return;
    const auto [at, fresh] = numbers.try_emplace(told.kind, rules.size());
    if (fresh)
      rules.push_back({{"id", told.kind},
                       {"shortDescription", {{"text", told.what}}},
                       {"fullDescription",
                        {{"text", std::string(told.what) + ". What would order them, or be right: " +
                                      std::string(told.remedy_of_kind)}}},
                       {"help", {{"text", told.remedy_of_kind}}},
                       {"defaultConfiguration", {{"level", level_name(told.own)}}}});
    const std::vector<json> later = locations(told.later);
    json related = json::array();
    const auto relate = [&](const json& place) {
      related.push_back(place);
      related.back()["id"] = related.size();
    };
    for (const json& place : locations(told.earlier)) relate(place);
    for (size_t i = 1; i < later.size(); ++i) relate(later[i]);
    results.push_back({{"ruleId", told.kind},
                       {"ruleIndex", at->second},
                       {"level", level_name(group.level)},
                       {"message", {{"text", text_of(told)}}},
                       {"locations", json::array({later.front()})},
                       {"relatedLocations", related},
                       {"occurrenceCount", group.times},
                       {"partialFingerprints", {{"instructions/v2", told.fingerprint.text}}}});
    // A result without the key says nothing; an empty list, that it was not suppressed.
    results.back()["suppressions"] = known ? json::array({{{"kind", "external"}}}) : json::array();
  };
  for (const session::Finding& f : found.fresh) add(f, false);
  for (const session::Finding& f : found.known) add(f, true);
  if (fault != nullptr) {
    results.push_back(fault_result(*fault, ptx, rules.size()));
    rules.push_back(fault_rule());
  }
  json run{{"results", results}};
  run["tool"]["driver"] = {{"name", "bitwell"}, {"semanticVersion", BITWELL_VERSION}, {"rules", rules}};
  const json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", json::array({run})}};
  return strict_json::dumped(log, 2) + "\n";
}

}  // namespace bitwell::cli
