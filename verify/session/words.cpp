#include "verify/session/words.h"

#include <cstdio>

#include "verify/launch/file/names.h"

namespace bitwell::session {

std::string describe(const Weighed& weighed) {
  const hazard::KindRow& row = hazard::row_of(weighed.found.finding.kind);
  std::string out = findings::describe(weighed.found);
  out = std::string(name_of(weighed.level)) + " " + out.substr(out.find(row.name));
  if (weighed.followed != nullptr) {
    const isa::Program& program = findings::asked_of(weighed.found).launch.program;
    out += "\n  " + findings::describe(weighed.way, program) + "\n  " +
           findings::describe(*weighed.followed, weighed.found.finding, program);
  }
  return launch::as_written(out);
}

std::string describe(const Parting& parting) {
  std::string out = "under schedule " + parting.second;
  if (!parting.fault.empty()) return out + ": " + launch::as_written(parting.fault);
  char text[96];
  std::snprintf(text, sizeof text, " differs at byte %llu: 0x%02x under %s, 0x%02x under %s",
                static_cast<unsigned long long>(parting.byte), static_cast<unsigned>(parting.of_first),
                parting.first.c_str(), static_cast<unsigned>(parting.of_second), parting.second.c_str());
  return out + " '" + launch::as_written(parting.buffer) + "'" + text;
}

std::string describe(const Answer& answer) {
  std::string out =
      answer.fault ? "fault: " + launch::as_written(answer.fault->what()) + "\n"
                   : std::to_string(answer.result.lane_instructions) + " lane instructions, to its end\n";
  for (const run::Note& n : answer.result.notes)
    out += "note: " + launch::as_written(machine::describe(n.place, n.text)) + "\n";
  if (answer.parting) out += describe(*answer.parting) + "\n";
  for (const Weighed& w : answer.findings)
    if (w.level != hazard::Level::nothing) out += describe(w) + "\n";
  return out;
}

}  // namespace bitwell::session
