#include "verify/cli/trace.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace bitwell::cli {
namespace {

constexpr size_t kMost = 1'000'000;  // events: about 200 MB of JSON

}  // namespace

machine::Observer Trace::observer() {
  return [this](const machine::Event& event) {
    if (events_.size() < kMost)
      events_.push_back(event);
    else
      ++left_out_;
  };
}

std::string Trace::text() const {
  using Kind = machine::Event::Kind;
  using nlohmann::json;
  json events = json::array();
  std::map<std::array<uint32_t, 3>, int> processes;
  std::set<std::pair<int, int>> threads;
  // Clusters run one after another, each with a clock of its own: they are laid out one after another too.
  uint64_t shift = 0;
  uint64_t last = 0;
  for (size_t i = 0; i < events_.size(); ++i) {
    const machine::Event& e = events_[i];
    if (i != 0 && e.first_cta != events_[i - 1].first_cta) shift += last;
    last = e.end;
    const auto [at, is_new] = processes.try_emplace(e.cta, static_cast<int>(processes.size()) + 1);
    const int pid = at->second;
    if (is_new)
      events.push_back({{"ph", "M"},
                        {"name", "process_name"},
                        {"pid", pid},
                        {"args", {{"name", fmt::format("CTA ({},{},{})", e.cta[0], e.cta[1], e.cta[2])}}}});
    const bool of_warp = e.kind == Kind::turn;
    const int tid = e.kind == Kind::phase_over ? 1000 : e.warp + 1;
    if (threads.insert({pid, tid}).second)
      events.push_back({{"ph", "M"},
                        {"name", "thread_name"},
                        {"pid", pid},
                        {"tid", tid},
                        {"args", {{"name", tid == 1000 ? "mbarriers" : fmt::format("warp {}", e.warp)}}}});
    json j{{"pid", pid}, {"tid", tid}, {"ts", shift + e.begin}};
    if (of_warp) {
      j["ph"] = "X";
      j["dur"] = e.end - e.begin;
      j["name"] = e.ptx_line == 0 ? "to its end" : fmt::format("to line {} {}", e.ptx_line, e.name);
    } else if (e.kind == Kind::phase_over) {
      j["ph"] = "i";
      j["s"] = "t";
      j["name"] = "phase over: " + e.name;
    } else {
      j["ph"] = e.kind == Kind::issued ? "b" : e.kind == Kind::moved ? "n" : "e";
      j["cat"] = "operation";
      j["id"] = fmt::format("{}.{}", shift, e.id);
      j["name"] = fmt::format("operation of line {}", e.ptx_line);
      j["args"] = {{"state", e.name}};
    }
    events.push_back(std::move(j));
  }
  return json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump();
}

}  // namespace bitwell::cli
