#include "verify/cli/exec/exec_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "verify/cli/command.h"
#include "verify/cli/report/short_names.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {
namespace {

using nlohmann::json;
using terminal::grouped;
using terminal::table;

// C++ names of kernels may have thousands of characters.
std::string short_name(const std::string& kernel, bool verbose) {
  constexpr size_t most = 60;
  std::string out = named(kernel, verbose);
  if (!verbose && out.size() > most) out = out.substr(0, most - 3) + "...";
  return out;
}

std::string shape(const json& launch, const char* key) {
  std::string out;
  if (!launch.contains(key)) return out;
  for (const json& n : launch[key]) out += (out.empty() ? "" : "x") + std::to_string(n.get<uint64_t>());
  while (out.ends_with("x1")) out.resize(out.size() - 2);
  return out;
}

}  // namespace

size_t ProgramRun::errors() const {
  size_t out = mistakes.size();
  for (const json& l : launches) out += l.value("errors", size_t{0});
  return out;
}

size_t ProgramRun::with_status(int status) const {
  return static_cast<size_t>(std::count_if(launches.begin(), launches.end(),
                                           [&](const json& l) { return l.value("status", 0) == status; }));
}

size_t ProgramRun::kept() const {
  return static_cast<size_t>(
      std::count_if(launches.begin(), launches.end(), [](const json& l) { return l.contains("folder"); }));
}

size_t ProgramRun::known() const {
  size_t out = 0;
  for (const json& l : launches)
    for (const json& count : l.value("known", json::object())) out += count.get<size_t>();
  return out;
}

std::vector<findings::KnownFinding> ProgramRun::stale(const findings::Baseline& baseline) const {
  std::vector<findings::KnownFinding> out;
  for (findings::KnownFinding k : baseline.known) {
    bool judged = false;
    uint64_t found = 0;  // by the launch that has the most
    for (const json& l : launches)
      if (l.value("kernel", "") == k.entry && l.value("judged", false) && l.contains("errors")) {
        judged = true;
        found = std::max(found, l.value("known", json::object()).value(k.hash, uint64_t{0}));
      }
    if (!judged || found >= k.findings) continue;
    k.findings -= found;
    out.push_back(std::move(k));
  }
  return out;
}

ProgramRun read_told(const std::string& file) {
  ProgramRun out;
  bool runtime = false;  // NVIDIA's own asked for what is not there
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    json told = json::parse(line, nullptr, false);
    if (told.is_discarded()) continue;
    if (told.contains("missing")) {
      out.unrunnable |= told.value("status", 0) == unsupported;
      // Each process names what it misses.
      const std::string missing = told["missing"];
      if (std::find(out.missing.begin(), out.missing.end(), missing) == out.missing.end())
        out.missing.push_back(missing);
    } else if (told.contains("mistake")) {
      out.mistakes.push_back(told["mistake"]);
    } else if (told.contains("bug")) {
      out.bugs.push_back(told["bug"]);
    } else if (told.contains("runtime")) {
      runtime = true;
    } else if (told.contains("stopped")) {
      out.stopped = told["stopped"];
    } else {
      out.launches.push_back(std::move(told));
    }
  }
  if (runtime && out.launches.empty()) out.unrunnable = true;  // its kernels are launched by that runtime
  return out;
}

std::string table_of(const ProgramRun& run, bool verbose) {
  std::vector<std::vector<std::string>> rows;
  for (const json& l : run.launches) {
    const bool counted = l.contains("lane_instructions");
    rows.push_back({std::to_string(l.value("launch", 0)), short_name(l.value("kernel", ""), verbose),
                    shape(l, "grid"), shape(l, "block"),
                    counted ? grouped(l["lane_instructions"].get<uint64_t>()) : "",
                    counted ? fmt::format("{:.2f}", 1000 * l["seconds"].get<double>()) : "",
                    l.value("verdict", "") + (l.value("judged", true) ? "" : ", not judged")});
  }
  std::string out = table({{"launch", true},
                           {"kernel"},
                           {"grid"},
                           {"block"},
                           {"lane instructions", true},
                           {"ms", true},
                           {"verdict"}},
                          rows);
  if (!run.mistakes.empty()) out += fmt::format("errors of the host's part: {}\n", run.mistakes.size());
  for (const std::string& m : run.missing) out += "not supported: " + m + "\n";
  for (const std::string& b : run.bugs) out += "a bug in bitwell: " + b + "\n";
  return out + fmt::format("the program ended with {}\n", run.program);
}

json json_of(const ProgramRun& run) {
  json out{{"program", run.program}, {"missing", run.missing}, {"launches", run.launches}};
  if (!run.mistakes.empty()) out["mistakes"] = run.mistakes;
  if (!run.bugs.empty()) out["bugs"] = run.bugs;
  if (!run.stopped.empty()) out["stopped"] = run.stopped;
  return out;
}

int worst(const ProgramRun& run) {
  if (!run.stopped.empty()) return unusable;
  if (!run.bugs.empty()) return model_bug;
  int out = held;
  for (const int status : {int{unusable}, int{unsupported}, int{failed}, int{model_bug}})
    if (run.with_status(status) != 0 || (status == failed && !run.mistakes.empty())) out = status;
  if (out == held && run.unrunnable) return unsupported;
  if (out != held || run.program == 0) return out;
  return run.missing.empty() ? failed : unsupported;
}

}  // namespace bitwell::cli
