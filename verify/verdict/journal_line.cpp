#include "verify/verdict/journal_line.h"

#include <nlohmann/json.hpp>

#include "verify/capture/digest.h"

namespace bitwell::verdict {
namespace {

using nlohmann::json;

// The runs of what is set: [[first, behind the last], ...].
template <class Bits>
json runs(const Bits& bits, size_t size) {
  json out = json::array();
  for (size_t i = 0; i < size;) {
    if (!bits[i]) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < size && bits[end]) ++end;
    out.push_back({i, end});
    i = end;
  }
  return out;
}
template <class Bits>
void set_runs(const json& from, Bits& bits, size_t size) {
  for (const json& run : from)
    for (size_t i = run.at(0); i < run.at(1).get<size_t>(); ++i) {
      if (i >= size) throw json::other_error::create(501, "a run beyond the end", &run);
      bits[i] = 1;
    }
}

}  // namespace

json as_json(const Judged& j, const std::string& folder) {
  json out{{"case", suite::text_of(j.of)},
           {"outputs", j.outputs},
           {"worst_error_ulp", j.worst_ulp},
           {"outputs_beyond_range", j.beyond_range},
           {"published_outputs", j.published_outputs},
           {"approximates", j.approximates},
           {"shared_bytes", j.touched.shared.size()},
           {"shared", runs(j.touched.shared, j.touched.shared.size())},
           {"columns_allocated", runs(j.touched.tensor.allocated, j.touched.tensor.allocated.size())},
           {"columns_written", runs(j.touched.tensor.written, j.touched.tensor.written.size())},
           {"lane_instructions", j.lane_instructions},
           {"seconds", j.seconds}};
  if (j.recorded) out["recorded"] = digest_of(*j.recorded);
  if (!j.failure) return out;
  std::string replay = j.failure->replay;
  if (replay.starts_with(folder + "/")) replay.erase(0, folder.size() + 1);
  out["failure"] = {{"wrong", j.failure->wrong},
                    {"what", j.failure->what},
                    {"replay", replay},
                    {"replay_options", j.failure->replay_options},
                    {"replay_error", j.failure->replay_error}};
  return out;
}

Judged judged_of(const json& line, const std::string& folder) {
  Judged out{suite::read_case(line.at("case").get<std::string>())};
  out.outputs = line.at("outputs");
  out.worst_ulp = line.at("worst_error_ulp");
  out.beyond_range = line.at("outputs_beyond_range");
  out.published_outputs = line.at("published_outputs");
  out.approximates = line.at("approximates");
  out.touched.shared.resize(line.at("shared_bytes").get<size_t>());
  set_runs(line.at("shared"), out.touched.shared, out.touched.shared.size());
  set_runs(line.at("columns_allocated"), out.touched.tensor.allocated, out.touched.tensor.allocated.size());
  set_runs(line.at("columns_written"), out.touched.tensor.written, out.touched.tensor.written.size());
  out.lane_instructions = line.at("lane_instructions");
  out.seconds = line.at("seconds");
  if (line.contains("recorded")) out.recorded.emplace();
  if (!line.contains("failure")) return out;
  const json& failure = line.at("failure");
  out.failure = {failure.at("wrong"), failure.at("what"), failure.at("replay"), failure.at("replay_options"),
                 failure.at("replay_error")};
  if (!out.failure->replay.empty()) out.failure->replay = folder + "/" + out.failure->replay;
  return out;
}

std::string digest_of(const std::vector<std::byte>& bytes) {
  capture::Digest out;
  out.add(bytes);
  return out.hex();
}

}  // namespace bitwell::verdict
