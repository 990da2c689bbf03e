#include "verify/python/answer_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/isa/form/variable.h"
#include "model/strict_json/write.h"
#include "verify/launch/file/names.h"
#include "verify/session/fault.h"
#include "verify/session/findings.h"
#include "verify/session/words.h"

namespace bitwell::python {
namespace {

using nlohmann::json;

json source_of(const machine::CudaPlace& place) {
  if (place == nullptr) return nullptr;
  return {{"file", place->chain.front().file}, {"line", place->chain.front().line}, {"text", place->words}};
}

json place_of(const machine::Place& p) {
  return {{"ptx_line", p.ptx_line},
          {"source", source_of(p.cuda)},
          {"cta", p.cta},
          {"thread", p.has_thread ? json(p.thread) : json()}};
}

// As every front door has it, with places as objects, and what is not known as null.
json fault_of(const machine::Fault& f) {
  const json facts = session::fault_facts(f);
  json out = place_of(f.place);
  if (!f.placed) out["cta"] = nullptr;
  out["text"] = facts["message"];
  out["access"] = nullptr;
  if (facts.contains("access")) {
    out["access"] = facts["access"];
    out["access"]["object"] = facts["access"].value("buffer", "");
    out["access"].erase("buffer");
  }
  out["waiters"] = json::array();
  for (size_t i = 0; i < f.waiters.size(); ++i) {
    const json& of = facts["waiters"][i];
    json one = place_of(f.waiters[i].place);
    one["instruction"] = of["instruction"];
    one["threads"] = of["threads"];
    one["on"] = of["waits"];
    out["waiters"].push_back(std::move(one));
  }
  return out;
}

json act_of(const session::Act& a) {
  return {{"ptx_line", a.ptx_line},
          {"source", source_of(a.cuda)},
          {"instruction", a.instruction ? json(*a.instruction) : json()},
          {"access", a.access},
          {"cta", a.cta},
          {"warp", a.warp},
          {"lane", a.lane},
          {"operation", a.operation},
          {"launch", a.launch},
          {"entry", launch::as_written(a.entry)}};
}

json finding_of(const session::Finding& f) {
  const session::Told& t = f.pairs.front();
  std::string text(session::name_of(f.level));
  for (size_t i = 0; i < t.lines.size(); ++i) {
    const std::string& line = t.lines[i].text;
    text += i == 0 ? " " + line.substr(line.find(t.kind)) : "\n" + line;
  }
  json out{{"kind", t.kind},
           {"level", session::name_of(f.level)},
           {"what", t.what},
           {"remedy", t.remedy},
           {"earlier", act_of(t.earlier)},
           {"later", act_of(t.later)},
           {"address", t.address},
           {"bytes", t.bytes},
           {"times", f.times},
           {"instructions", f.instructions},
           {"launches", t.launches},
           {"can_come_to", t.end},
           {"on_this_run", t.on_this_run ? json(launch::as_written(t.on_this_run->words)) : json()},
           {"text", launch::as_written(text)}};
  return out;
}

json number_of(double v) {
  return std::isfinite(v) ? json(v) : json(std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

json loss_of(const run::Loss& l) {
  json operands = json::array();
  for (const float v : l.operands) operands.push_back(number_of(v));
  json out{{"count", l.count}, {"operands", operands}, {"result", number_of(l.result)}, {"bits", l.bits}};
  out["first"] = place_of(l.first);
  return out;
}

json parting_of(const session::Parting& p) {
  return {{"first", p.first},
          {"second", p.second},
          {"fault", launch::as_written(p.fault)},
          {"buffer", launch::as_written(p.buffer)},
          {"address", p.address},
          {"byte", p.byte},
          {"of_first", static_cast<unsigned>(p.of_first)},
          {"of_second", static_cast<unsigned>(p.of_second)},
          {"text", session::describe(p)}};
}

}  // namespace

std::string json_of(const session::Answer& answer, size_t launch, const std::string& printed) {
  json out{{"entry", launch::as_written(answer.entry())},
           {"launch", launch},
           {"fault", answer.fault ? fault_of(*answer.fault) : json()},
           {"parting", answer.parting ? parting_of(*answer.parting) : json()},
           {"lane_instructions", answer.result.lane_instructions},
           {"warp_instructions", answer.result.warp_instructions},
           {"holds", answer.holds()},
           {"printed", printed},
           {"text", session::describe(answer)}};
  out["notes"] = json::array();
  for (const run::Note& n : answer.result.notes) {
    json one = place_of(n.place);
    one["text"] = launch::as_written(machine::describe(n.place, n.text));
    one["times"] = n.times;
    out["notes"].push_back(std::move(one));
  }
  out["findings"] = json::array();
  for (const session::Finding& f : session::findings_of(answer, {}).fresh)
    if (f.level != session::Level::nothing) out["findings"].push_back(finding_of(f));
  out["losses"] = json::array();
  for (const run::Losses& l : answer.losses)
    out["losses"].push_back({{"ptx_line", l.ptx_line},
                             {"instruction", l.instruction},
                             {"results", l.results},
                             {"overflowed", loss_of(l.overflowed)},
                             {"absorbed", loss_of(l.absorbed)},
                             {"shortened", loss_of(l.shortened)}});
  return strict_json::dumped(out);
}

std::string json_of(isa::Context& context, isa::ModuleHandle module) {
  const std::shared_ptr<const isa::Module> of = context.module(module);
  const ptx::Module& heads = of->heads();
  json out{{"target", heads.target}, {"entries", json::array()}};
  for (const ptx::Function& f : heads.functions) {
    if (!f.is_entry) continue;
    json parameters = json::array();
    for (const ptx::Variable& p : f.params) {
      parameters.push_back({{"name", p.name},
                            {"type", p.type.substr(1)},
                            {"bytes", isa::size_of(p)},
                            {"struct", !p.dims.empty() || p.vector != 1}});
    }
    out["entries"].push_back(
        {{"name", f.name}, {"written", launch::as_written(f.name)}, {"parameters", parameters}});
  }
  out["variables"] = json::array();
  for (const isa::GlobalVariable& v : context.variables(module))
    out["variables"].push_back({{"name", v.name}, {"address", v.address}, {"bytes", v.size}});
  return strict_json::dumped(out);
}

}  // namespace bitwell::python
