#include "verify/cli/run_hazards.h"

#include <fmt/format.h>

#include "verify/cli/colour.h"

namespace bitwell::cli {

namespace {

constexpr const char* kLevels[] = {"error", "note", "nothing"};              // by hazard::Level
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

nlohmann::json facts_of(const verify::Followed& followed, const hazard::Finding& f) {
  nlohmann::json out{{"places", followed.places},
                     {"of", f.count},
                     {"outputs", nlohmann::json::array()},
                     {"uses", nlohmann::json::array()}};
  if (!followed.why_not.empty()) out["not_followed"] = followed.why_not;
  for (const isa::Follow::Output& o : followed.outputs)
    out["outputs"].push_back({{"buffer", o.buffer},
                              {"bytes", o.bytes()},
                              {"first_byte", o.runs.begin()->first},
                              {"ptx_line", o.ptx_line}});
  if (followed.others) {
    out["with_bits_inverted"] = nlohmann::json::array();
    for (const verify::Followed::Other& o : *followed.others)
      out["with_bits_inverted"].push_back(
          {{"buffer", o.buffer}, {"bytes", o.bytes}, {"first_byte", o.first}});
  }
  for (const isa::Follow::Use& u : followed.uses)
    out["uses"].push_back({{"ptx_line", u.ptx_line}, {"as", u.as}, {"times", u.times}});
  return out;
}

// Lines behind what is said of a finding.
std::string in_words(const Explained& e, const verify::Found& found) {
  const isa::Program& program = verify::asked_of(found).launch.program;
  std::string out = "\n  " + verify::describe(e.way, program);
  if (e.followed != nullptr) out += "\n  " + verify::describe(*e.followed, found.finding, program);
  return out;
}

}  // namespace

Hazards hazards(const verify::Sifted& found, const std::string& launch, const std::string& entry,
                const std::string& baseline, const std::string& error_on, const Explain& explain, bool all) {
  Hazards out;
  for (const verify::Found& told : found.fresh) {
    const hazard::Finding& f = told.finding;
    const hazard::KindRow& row = hazard::row_of(f.kind);
    const Explained e = explain(told);
    const bool error = e.level == hazard::Level::error;
    ++(error ? out.errors : e.level == hazard::Level::note ? out.notes : out.silent);
    if (e.level == hazard::Level::nothing && !all) continue;
    const std::string level = kLevels[static_cast<size_t>(e.level)];
    const std::string head = level + " " + std::string(row.name);
    std::string words = verify::describe(told);
    words = head + words.substr(words.find(row.name) + row.name.size());
    if (all || (e.followed != nullptr && e.level != row.level)) words += in_words(e, told);
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
                         {"remedy", remedy_of(f.kind, f.side)},
                         {"count", f.count},
                         {"fingerprint", print.hash},
                         {"text", words}});
    if (all)
      out.facts.back()["reaches"] = {{"end", kEnds[static_cast<size_t>(e.way.end)]}, {"lines", e.way.lines}};
    if (e.followed != nullptr) out.facts.back()["on_this_run"] = facts_of(*e.followed, f);
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
  if (!out.facts.empty()) out.text += fmt::format("  replay: bitwell run {} --races\n", launch);
  out.known = found.known.size();
  out.stale = found.stale;
  const auto findings = [](uint64_t n) { return fmt::format("{} finding{}", n, n == 1 ? "" : "s"); };
  if (out.silent != 0 && !all)
    out.text +=
        fmt::format("  {} of values that come to no output, no branch and no address: --explain lists {}\n",
                    findings(out.silent), out.silent == 1 ? "it" : "them");
  if (out.known != 0) out.text += fmt::format("  {} known, by {}\n", findings(out.known), baseline);
  for (const verify::KnownFinding& k : out.stale)
    out.text += fmt::format("  stale: {} has {} more of {} than there {}: {}\n", baseline,
                            findings(k.findings), k.hash, k.findings == 1 ? "is" : "are", k.text);
  return out;
}

}  // namespace bitwell::cli
