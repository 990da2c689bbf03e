#include "verify/prove/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/strict_json/parse.h"
#include "model/strict_json/write.h"
#include "verify/launch/launch.h"

namespace bitwell::prove {
namespace {

using nlohmann::json;

constexpr int kFormat = 2;

// The field of a report, which is of one type.
template <class T>
T field(const json& report, const char* key, bool fits, const std::string& path) {
  const std::string head = "'" + path + "' is no report of bitwell prove: ";
  if (!report.contains(key)) throw machine::InputError(head + "it has no '" + key + "'");
  if (!fits) throw machine::InputError(head + "its '" + key + "' is not what prove writes there");
  return report.at(key).get<T>();
}
std::string text(const json& report, const char* key, const std::string& path) {
  return field<std::string>(report, key, report.contains(key) && report.at(key).is_string(), path);
}
std::map<std::string, std::string> texts(const json& report, const char* key, const std::string& path) {
  const auto all_texts = [](const json& j) {
    return j.is_object() &&
           std::all_of(j.begin(), j.end(), [](const json& value) { return value.is_string(); });
  };
  return field<std::map<std::string, std::string>>(report, key,
                                                   report.contains(key) && all_texts(report.at(key)), path);
}

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
  return strict_json::dumped(json{{"bitwell_prove", kFormat},
                                  {"version", r.version},
                                  {"device", r.device},
                                  {"driver", r.driver},
                                  {"compute_capability", r.compute_capability},
                                  {"digests", r.digests},
                                  {"differs", r.differs}},
                             2) +
         "\n";
}

Report read_report(const std::string& path) {
  try {
    const json j = strict_json::parse(launch::read_file(path));
    if (!j.is_object()) throw machine::InputError("'" + path + "' is no report of bitwell prove");
    if (field<json>(j, "bitwell_prove", true, path) != kFormat)
      throw machine::InputError("'" + path + "' is a report of format " +
                                strict_json::dumped(j.at("bitwell_prove")) + ", this bitwell reads format " +
                                std::to_string(kFormat));
    const bool number = j.contains("compute_capability") && j.at("compute_capability").is_number_unsigned();
    return {text(j, "device", path),
            text(j, "driver", path),
            field<int>(j, "compute_capability", number, path),
            text(j, "version", path),
            texts(j, "digests", path),
            texts(j, "differs", path)};
  } catch (const strict_json::JsonError& e) {
    throw machine::InputError("'" + path + "' is not JSON that can be used: " + e.what());
  }
}

void check_is_a_gpus(const Report& report, const std::string& path) {
  const std::string not_read;  // their names alone are asked
  if (report.driver.empty() || report.driver == "none")
    throw machine::InputError("'" + path + "' has no driver: a GPU's answers come through one");
  for (const Part& part : parts(not_read)) {
    const std::string head = answer_name(part, "");
    const auto first = report.digests.lower_bound(head);
    if (first == report.digests.end() || !first->first.starts_with(head)) continue;
    if (part.compute_capability != report.compute_capability)
      throw machine::InputError("'" + path + "' has answers to '" + part.name + "' for " + part.target +
                                ", which " + report.device + " of compute capability " +
                                std::to_string(report.compute_capability) + " does not run");
  }
}

capture::Capture evidence_of(const Report& report, const std::string& by, const std::string& kernels,
                             const AskProgress& progress, int threads, std::vector<std::string>& others) {
  capture::Capture out{report.device + ", reported by " + by, report.driver, "bitwell " + report.version, {}};
  std::map<std::string, std::string> left = report.digests;
  for (const Part& part : parts(kernels)) {
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

}  // namespace bitwell::prove
