#include "verify/prove/report.h"

#include <nlohmann/json.hpp>

#include "model/json/parse.h"
#include "verify/launch/launch.h"

namespace bitwell::verify {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;

}  // namespace

std::string answer_name(const Part& part, const std::string& question) {
  return part.name + ", " + part.target + ": " + question;
}

void add(Report& report, const Part& part, const std::vector<Reply>& replies) {
  for (const Reply& r : replies) {
    const std::string name = answer_name(part, r.name);
    if (!r.digest.empty()) report.digests[name] = r.digest;
    if (r.kind != Reply::Kind::agrees && r.kind != Reply::Kind::not_asked) report.differs[name] = r.detail;
  }
}

std::string text_of(const Report& r) {
  return json{{"bitwell_prove", kFormat}, {"version", r.version}, {"device", r.device},
              {"driver", r.driver},       {"digests", r.digests}, {"differs", r.differs}}
             .dump(2) +
         "\n";
}

Report read_report(const std::string& path) {
  try {
    const json j = strict_json::parse(read_file(path));
    if (j.at("bitwell_prove") != kFormat)
      throw machine::InputError("'" + path + "' is a report of format " + j.at("bitwell_prove").dump() +
                                ", this bitwell reads format " + std::to_string(kFormat));
    return {j.at("device"), j.at("driver"), j.at("version"), j.at("digests"), j.at("differs")};
  } catch (const strict_json::JsonError& e) {
    throw machine::InputError("'" + path + "' is not JSON that can be used: " + e.what());
  } catch (const json::exception& e) {
    throw machine::InputError("'" + path + "' is no report of bitwell prove: " + e.what());
  }
}

Capture evidence_of(const Report& report, const std::string& by, const AskProgress& progress, int threads,
                    std::vector<std::string>& others) {
  Capture out{report.device + ", reported by " + by, report.driver, "bitwell " + report.version, {}};
  std::map<std::string, std::string> left = report.digests;
  for (const Part& part : parts()) {
    const std::string head = answer_name(part, "");
    const auto first = left.lower_bound(head);
    if (first == left.end() || !first->first.starts_with(head)) continue;  // the report has nothing of it
    for (const Reply& ours : prove(part, {}, progress, threads)) {
      const auto theirs = left.find(answer_name(part, ours.name));
      if (theirs == left.end()) continue;
      if (!ours.digest.empty() && ours.digest == theirs->second) {
        out.digests.insert(*theirs);
        left.erase(theirs);
      }
    }
  }
  for (const auto& [name, digest] : left) others.push_back(name);
  return out;
}

}  // namespace bitwell::verify
