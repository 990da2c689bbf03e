#include "verify/cli/report/trace.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "model/strict_json/write.h"

namespace bitwell::cli {
namespace {

constexpr size_t kMost = 1'000'000;  // events: about 200 MB of JSON

}  // namespace

std::string operation_kind(const std::string& instruction) {
  size_t end = 0;
  while (end < instruction.size()) {
    const size_t next = std::min(instruction.find('.', end + 1), instruction.size());
    const std::string part = instruction.substr(end, next - end);
    const bool detail = part.find("::") != std::string::npos || part == ".shared" || part == ".global" ||
                        part == ".sync" || (part.size() > 1 && part[1] >= '0' && part[1] <= '9');
    if (detail) break;
    end = next;
  }
  return instruction.substr(0, end);
}

Trace::Trace(const isa::Program& program) {
  for (const isa::Function& f : program.functions)
    for (const isa::Line& l : f.lines) lines_.emplace(l.ptx, l);
}

machine::Observer Trace::observer() {
  return {[this](const machine::Event& event) {
    if (events_.size() >= kMost) {
      ++left_out_;
      return;
    }
    events_.push_back(event);
    if (now_) times_.push_back(now_());
  }};
}

std::string Trace::text() const {
  using nlohmann::json;
  json events = json::array();
  std::map<std::array<uint32_t, 3>, int> processes;
  std::set<std::pair<int, int>> threads;
  constexpr int kMbarriers = 1000;  // a thread of its own for them
  // An event of that CTA and thread, which get names when they first come.
  const auto begin = [&](const std::array<uint32_t, 3>& cta, int tid, const json& time) {
    const auto [at, is_new] = processes.try_emplace(cta, static_cast<int>(processes.size()) + 1);
    const int pid = at->second;
    if (is_new)
      events.push_back({{"ph", "M"},
                        {"name", "process_name"},
                        {"pid", pid},
                        {"args", {{"name", fmt::format("CTA ({},{},{})", cta[0], cta[1], cta[2])}}}});
    if (threads.insert({pid, tid}).second)
      events.push_back(
          {{"ph", "M"},
           {"name", "thread_name"},
           {"pid", pid},
           {"tid", tid},
           {"args", {{"name", tid == kMbarriers ? "mbarriers" : fmt::format("warp {}", tid - 1)}}}});
    return json{{"pid", pid}, {"tid", tid}, {"ts", time}};
  };
  std::map<std::pair<std::array<uint32_t, 3>, std::string>, int> under_way;  // by CTA and kind
  for (size_t i = 0; i < events_.size(); ++i) {
    const machine::Event& event = events_[i];
    const timing::Launches::Instant* const at = times_.empty() ? nullptr : &times_[i];
    const auto time = [&](uint64_t logical) { return at != nullptr ? json(at->now) : json(logical); };
    json j;
    if (const auto* turn = std::get_if<machine::Turn>(&event.what)) {
      j = begin(turn->cta, turn->warp + 1, at != nullptr ? json(at->begin) : json(turn->begin));
      j["ph"] = "X";
      j["dur"] = at != nullptr ? json(at->now - at->begin) : json(turn->end - turn->begin);
      j["name"] = turn->ptx_line == 0 ? "to its end"
                                      : fmt::format("to line {} {}", turn->ptx_line, turn->instruction);
      if (const auto line = lines_.find(turn->ptx_line); line != lines_.end() && line->second.cuda != nullptr)
        j["args"]["CUDA line"] = line->second.cuda->words;
    } else if (const auto* over = std::get_if<machine::PhaseOver>(&event.what)) {
      j = begin(over->cta, kMbarriers, time(over->time));
      j["ph"] = "i";
      j["s"] = "t";
      j["name"] = "phase over: " + over->barrier;
    } else {
      using Kind = machine::OperationStep::Kind;
      const auto& step = std::get<machine::OperationStep>(event.what);
      j = begin(step.cta, step.warp + 1, time(step.time));
      j["ph"] = step.kind == Kind::issued ? "b" : step.kind == Kind::moved ? "n" : "e";
      j["cat"] = "operation";
      j["id"] = fmt::format("{} {}", machine::triple(event.first_cta), step.id);
      // One name a kind: a viewer puts what has the same name into the same rows.
      const auto known = lines_.find(step.ptx_line);
      const isa::Line line = known == lines_.end() ? isa::Line{} : known->second;
      j["name"] = operation_kind(line.text);
      j["args"] = {{"state", step.state}, {"PTX line", step.ptx_line}, {"instruction", line.text}};
      if (line.cuda != nullptr) j["args"]["CUDA line"] = line.cuda->words;
      if (at != nullptr && step.kind != Kind::moved) {
        int& count = under_way[{step.cta, j["name"]}];
        count += step.kind == Kind::issued ? 1 : -1;
        events.push_back({{"ph", "C"},
                          {"pid", j["pid"]},
                          {"ts", j["ts"]},
                          {"name", j["name"].get<std::string>() + " under way"},
                          {"args", {{"operations", count}}}});
      }
    }
    events.push_back(std::move(j));
  }
  return strict_json::dumped(json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}});
}

}  // namespace bitwell::cli
