#include "verify/cli/run/run_hazards.h"

#include <fmt/format.h>

#include "verify/cli/report/colour.h"
#include "verify/cli/report/cuda_source.h"
#include "verify/cli/report/short_names.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {
using terminal::grouped;

namespace {

using session::Level;
using session::Told;

nlohmann::json facts_of(const session::Act& a) {
  nlohmann::json out{{"launch", a.launch},      {"entry", a.entry},   {"ptx", a.ptx},
                     {"ptx_line", a.ptx_line},  {"access", a.access}, {"cta", a.cta},
                     {"operation", a.operation}};
  if (a.warp >= 0) out["warp"] = a.warp;
  if (a.lane >= 0) out["lane"] = a.lane;
  if (a.instruction) out["instruction"] = *a.instruction;
  if (a.cuda != nullptr) {
    const auto& chain = a.cuda->chain;
    out["source"] = chain.front().words();
    for (size_t i = 1; i < chain.size(); ++i) out["inlined_at"].push_back(chain[i].words());
  }
  return out;
}

nlohmann::json facts_of(const findings::Followed& followed, uint64_t of) {
  nlohmann::json out{{"places", followed.places},
                     {"of", of},
                     {"outputs", nlohmann::json::array()},
                     {"uses", nlohmann::json::array()}};
  if (!followed.why_not.empty()) out["not_followed"] = followed.why_not;
  for (const run::Follow::Output& o : followed.outputs)
    out["outputs"].push_back({{"buffer", o.buffer},
                              {"bytes", o.bytes()},
                              {"first_byte", o.runs.begin()->first},
                              {"ptx_line", o.ptx_line}});
  if (followed.others) {
    out["with_bits_inverted"] = nlohmann::json::array();
    for (const findings::Followed::Other& o : *followed.others)
      out["with_bits_inverted"].push_back(
          {{"buffer", o.buffer}, {"bytes", o.bytes}, {"first_byte", o.first}});
  }
  for (const run::Follow::Use& u : followed.uses)
    out["uses"].push_back({{"ptx_line", u.ptx_line}, {"as", u.as}, {"times", u.times}});
  return out;
}

nlohmann::json facts_of(const Told& told, const std::string& words, size_t group, bool explained) {
  nlohmann::json out{{"kind", told.kind},
                     {"level", session::name_of(told.level)},
                     {"lines", {told.earlier.ptx_line, told.later.ptx_line}},
                     {"group", group},
                     {"earlier", facts_of(told.earlier)},
                     {"later", facts_of(told.later)},
                     {"launches", told.launches},
                     {"address", told.address},
                     {"bytes", told.bytes},
                     {"remedy", told.remedy},
                     {"count", told.count},
                     {"fingerprint", told.fingerprint.hash},
                     {"text", words}};
  if (told.does_not_count) {
    out["does_not_count"] = nlohmann::json::array();
    for (const Told::Passed& p : *told.does_not_count)
      out["does_not_count"].push_back({{"ptx_line", p.ptx_line}, {"why", p.why}});
  }
  if (explained) out["reaches"] = {{"end", told.end}, {"lines", told.way}};
  if (told.on_this_run) out["on_this_run"] = facts_of(told.on_this_run->followed, told.count);
  return out;
}

// From its kind on, with the lines of CUDA source under the accesses.
std::string in_words(const Told& told, bool verbose) {
  std::string out;
  for (const Told::Line& line : told.lines) {
    out += named(line.text, verbose) + "\n";
    if (!line.ptx.empty()) out += source_lines(line.cuda, line.ptx, "    ");
  }
  out.pop_back();
  return out.substr(out.find(told.kind) + told.kind.size());
}

// Lines behind that: what can come of it.
std::string explanation(const Told& told) {
  std::string out = "\n  " + told.way_words;
  if (told.on_this_run) out += "\n  " + told.on_this_run->words;
  return launch::as_written(out);
}

TestCase test_of(const Told& told) {
  return {launch::as_written(told.fingerprint.text), launch::as_written(told.later.entry), 0, {}, "", ""};
}

}  // namespace

Hazards hazards(const session::Findings& found, const std::string& launch, const std::string& entry,
                const std::string& baseline, const std::string& error_on, const Telling& telling) {
  Hazards out;
  for (size_t number = 0; number < found.fresh.size(); ++number) {
    const session::Finding& group = found.fresh[number];
    const bool error = group.level == Level::error;
    if (group.level == Level::nothing && !telling.explained) continue;
    const Told& first = group.pairs.front();
    const std::string head = std::string(session::name_of(group.level)) + " " + std::string(first.kind);
    std::string all;
    for (const Told& one : group.pairs) {
      std::string words = head + in_words(one, telling.verbose);
      if (telling.explained || (one.on_this_run && one.level != one.own)) words += explanation(one);
      out.facts.push_back(facts_of(one, words, number, telling.explained));
      if (!telling.all && &one != &first) continue;
      out.text += in(error ? Colour::red : Colour::yellow, head) + words.substr(head.size()) + "\n";
      all += (all.empty() ? "" : "\n") + words;
    }
    if (group.pairs.size() != 1 && !telling.all) {
      const std::string more =
          fmt::format("  {} pair{} of instructions of these lines, {} times in all; --all shows each",
                      grouped(group.instructions), group.instructions == 1 ? "" : "s", grouped(group.times));
      out.text += more + "\n";
      all += "\n" + more;
    }
    TestCase test = test_of(first);
    if (error ? error_on != "none" : error_on == "note")
      test.failure = {std::string(first.kind), all};
    else
      test.output = all;
    out.tests.push_back(std::move(test));
  }
  const std::vector<const Told*> known = found.known_pairs();
  for (const Told* one : known) {
    out.tests.push_back(test_of(*one));
    out.tests.back().skipped = "known: " + baseline;
  }
  if (out.tests.empty())
    out.tests.push_back({"races and the like", launch::as_written(entry), 0, {}, "", ""});
  if (!out.facts.empty()) out.text += fmt::format("  replay: bitwell run {} --races\n", launch);
  const auto findings = [](uint64_t n) { return fmt::format("{} finding{}", n, n == 1 ? "" : "s"); };
  if (found.silent != 0 && !telling.explained)
    out.text +=
        fmt::format("  {} of values that come to no output, no branch and no address: --explain lists {}\n",
                    findings(found.silent), found.silent == 1 ? "it" : "them");
  if (!known.empty()) out.text += fmt::format("  {} known, by {}\n", findings(known.size()), baseline);
  for (const findings::KnownFinding& k : found.stale)
    out.text += fmt::format("  stale: {} has {} more of {} than there {}: {}\n", baseline,
                            findings(k.findings), k.hash, k.findings == 1 ? "is" : "are", k.text);
  return out;
}

}  // namespace bitwell::cli
