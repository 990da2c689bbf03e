#include "verify/cli/run/run_hazards.h"

#include <fmt/format.h>

#include "verify/cli/report/colour.h"
#include "verify/cli/report/cuda_source.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/report/table.h"
#include "verify/hazard/between.h"
#include "verify/hazard/groups.h"
#include "verify/hazard/remedy.h"

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
    if (line->cuda != nullptr) {
      const auto& chain = line->cuda->chain;
      out["source"] = chain.front().words();
      for (size_t i = 1; i < chain.size(); ++i) out["inlined_at"].push_back(chain[i].words());
    }
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
std::string in_words(const session::Weighed& e, const verify::Found& found) {
  const isa::Program& program = verify::asked_of(found).launch.program;
  std::string out = "\n  " + verify::describe(e.way, program);
  if (e.followed != nullptr) out += "\n  " + verify::describe(*e.followed, found.finding, program);
  return verify::as_written(out);
}

nlohmann::json facts_of(const verify::Found& found, const session::Weighed& e, const std::string& level,
                        const std::string& words, size_t group, bool explained) {
  const hazard::Finding& f = found.finding;
  nlohmann::json out{{"kind", hazard::row_of(f.kind).name},
                     {"level", level},
                     {"lines", {f.earlier.site.ptx_line, f.later.site.ptx_line}},
                     {"group", group},
                     {"earlier", facts_of(f.earlier, *found.earlier)},
                     {"later", facts_of(f.later, *found.later)},
                     {"launches", found.numbers},
                     {"address", f.address},
                     {"bytes", f.bytes},
                     {"remedy", verify::remedy(found)},
                     {"count", f.count},
                     {"fingerprint", verify::fingerprint(found).hash},
                     {"text", words}};
  if (found.between != nullptr) {
    out["does_not_count"] = nlohmann::json::array();
    for (const verify::Between::Passed& p : found.between->passed)
      out["does_not_count"].push_back({{"ptx_line", p.ptx_line}, {"why", p.why}});
  }
  if (explained) out["reaches"] = {{"end", kEnds[static_cast<size_t>(e.way.end)]}, {"lines", e.way.lines}};
  if (e.followed != nullptr) out["on_this_run"] = facts_of(*e.followed, f);
  return out;
}

}  // namespace

std::string in_words(const verify::Found& found, bool verbose) {
  std::string out;
  for (const verify::Said& line : verify::said_of(found)) {
    out += named(line.text, verbose) + "\n";
    if (line.launch != nullptr) out += source_lines(line.cuda, line.launch->ptx, "    ");
  }
  out.pop_back();
  return out;
}

Hazards hazards(const verify::Sifted& found, const std::string& launch, const std::string& entry,
                const std::string& baseline, const std::string& error_on, const Explain& explain,
                const Telling& told) {
  Hazards out;
  const std::vector<verify::Group> groups =
      verify::groups_of(found.fresh, [&](const verify::Found& f) { return explain(f).level; });
  for (size_t number = 0; number < groups.size(); ++number) {
    const verify::Group& group = groups[number];
    const bool error = group.level == hazard::Level::error;
    const bool silent = group.level == hazard::Level::nothing;
    ++(error ? out.errors : silent ? out.silent : out.notes);
    if (silent && !told.explained) continue;
    const verify::Found& first = group.first();
    const hazard::KindRow& row = hazard::row_of(first.finding.kind);
    const std::string level = kLevels[static_cast<size_t>(group.level)];
    const std::string head = level + " " + std::string(row.name);
    std::string all;
    for (const verify::Found* one : group.findings) {
      const session::Weighed e = explain(*one);
      std::string words = in_words(*one, told.verbose);
      words = head + words.substr(words.find(row.name) + row.name.size());
      if (told.explained || (e.followed != nullptr && e.level != row.level)) words += in_words(e, *one);
      out.facts.push_back(facts_of(*one, e, level, words, number, told.explained));
      if (!told.all && one != &first) continue;
      out.text += in(error ? Colour::red : Colour::yellow, head) + words.substr(head.size()) + "\n";
      all += (all.empty() ? "" : "\n") + words;
    }
    if (group.findings.size() != 1 && !told.all) {
      const std::string more =
          fmt::format("  {} pair{} of instructions of these lines, {} times in all; --all shows each",
                      grouped(group.pairs()), group.pairs() == 1 ? "" : "s", grouped(group.count()));
      out.text += more + "\n";
      all += "\n" + more;
    }
    TestCase test{verify::as_written(verify::fingerprint(first).text),
                  verify::as_written(first.later->entry()),
                  0,
                  {},
                  "",
                  ""};
    if (error ? error_on != "none" : error_on == "note")
      test.failure = {std::string(row.name), all};
    else
      test.output = all;
    out.tests.push_back(std::move(test));
  }
  for (const verify::Found& f : found.known)
    out.tests.push_back({verify::as_written(verify::fingerprint(f).text),
                         verify::as_written(f.later->entry()),
                         0,
                         {},
                         "known: " + baseline,
                         ""});
  if (out.tests.empty())
    out.tests.push_back({"races and the like", verify::as_written(entry), 0, {}, "", ""});
  if (!out.facts.empty()) out.text += fmt::format("  replay: bitwell run {} --races\n", launch);
  out.known = found.known.size();
  out.stale = found.stale;
  const auto findings = [](uint64_t n) { return fmt::format("{} finding{}", n, n == 1 ? "" : "s"); };
  if (out.silent != 0 && !told.explained)
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
