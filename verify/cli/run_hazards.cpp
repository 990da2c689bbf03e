#include "verify/cli/run_hazards.h"

#include <fmt/format.h>

#include "verify/cli/colour.h"

namespace bitwell::cli {

namespace {

constexpr const char* kEnds[] = {"nothing", "output", "branch", "address"};  // by hazard::Way::End

nlohmann::json facts_of(const hazard::Party& p, const verify::Launched& launch) {
  constexpr const char* kKinds[] = {"read", "write", "update"};
  nlohmann::json out{{"launch", launch.number},
                     {"entry", launch.entry()},
                     {"ptx", launch.ptx},
                     {"ptx_line", p.site.ptx_line},
                     {"access", kKinds[static_cast<size_t>(p.site.kind)]},
                     {"cta", p.cta},
                     {"operation", p.site.actor != hazard::Actor::thread}};
  if (p.warp >= 0) out["warp"] = p.warp;
  if (p.lane >= 0) out["lane"] = p.lane;
  if (const isa::Line* line = verify::line_of(p.site.ptx_line, launch.program); line != nullptr) {
    out["instruction"] = line->text;
    if (!line->source.empty()) out["source"] = line->source;
  }
  return out;
}

}  // namespace

Hazards hazards(const verify::Sifted& found, const std::string& launch, const std::string& entry,
                const std::string& baseline, const std::string& error_on, const WaysOf& ways_of) {
  Hazards out;
  for (const verify::Found& told : found.fresh) {
    const hazard::Finding& f = told.finding;
    const hazard::KindRow& row = hazard::row_of(f.kind);
    const bool error = row.level == hazard::Level::error;
    std::string words = verify::describe(told);
    const verify::Asked asked = verify::asked_of(told);
    const hazard::Ways* const ways = ways_of(asked.launch);
    const hazard::Way way = ways == nullptr ? hazard::Way{} : ways->from(asked.ptx_line);
    if (ways != nullptr) words += "\n  " + verify::describe(way, asked.launch.program);
    const std::string level = error ? "error" : "note";
    const std::string head = level + " " + std::string(row.name);
    ++(error ? out.errors : out.notes);
    out.text += in(error ? Colour::red : Colour::yellow, head) + words.substr(head.size()) + "\n";
    const verify::Fingerprint print = verify::fingerprint(told);
    out.facts.push_back({{"kind", row.name},
                         {"level", level},
                         {"lines", {f.earlier.site.ptx_line, f.later.site.ptx_line}},
                         {"earlier", facts_of(f.earlier, *told.earlier)},
                         {"later", facts_of(f.later, *told.later)},
                         {"launches", told.numbers},
                         {"address", f.address},
                         {"bytes", f.bytes},
                         {"remedy", row.remedy},
                         {"count", f.count},
                         {"fingerprint", print.hash},
                         {"text", words}});
    if (ways != nullptr)
      out.facts.back()["reaches"] = {{"end", kEnds[static_cast<size_t>(way.end)]}, {"lines", way.lines}};
    TestCase test{print.text, told.later->entry(), 0, {}, "", ""};
    if (error ? error_on != "none" : error_on == "note")
      test.failure = {std::string(row.name), words};
    else
      test.output = words;
    out.tests.push_back(std::move(test));
  }
  for (const verify::Found& f : found.known)
    out.tests.push_back({verify::fingerprint(f).text, f.later->entry(), 0, {}, "known: " + baseline, ""});
  if (out.tests.empty()) out.tests.push_back({"races and the like", entry, 0, {}, "", ""});
  if (!found.fresh.empty()) out.text += fmt::format("  replay: bitwell run {} --races\n", launch);
  out.known = found.known.size();
  out.stale = found.stale;
  const auto findings = [](uint64_t n) { return fmt::format("{} finding{}", n, n == 1 ? "" : "s"); };
  if (out.known != 0) out.text += fmt::format("  {} known, by {}\n", findings(out.known), baseline);
  for (const verify::KnownFinding& k : out.stale)
    out.text += fmt::format("  stale: {} has {} more of {} than there {}: {}\n", baseline,
                            findings(k.findings), k.hash, k.findings == 1 ? "is" : "are", k.text);
  return out;
}

}  // namespace bitwell::cli
