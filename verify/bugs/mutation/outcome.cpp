#include "verify/bugs/mutation/outcome.h"

#include <fmt/format.h>

#include "verify/terminal/table.h"

namespace bitwell::bugs {
namespace {

using terminal::grouped;
using Row = std::vector<std::string>;

Row planted_row(const std::string& kernel, const std::string& kind, const Count& c) {
  Row out{kernel, kind};
  for (const size_t n : {c.sites, c.planted, c.named, c.wrong_bits, c.runs_on, c.race, c.noted, c.unsupported,
                         c.not_ptx, c.missed, c.equivalent, c.gap})
    out.push_back(grouped(n));
  return out;
}

struct Scored {
  std::string of, name;  // "kernel" or "kind"; or "all"
  Count count;
};

std::vector<Scored> scored(const std::vector<Outcome>& outcomes) {
  std::vector<Scored> out;
  std::map<std::string, Count> kinds;
  Count all;
  for (const Outcome& o : outcomes) {
    out.push_back({"kernel", o.kernel, o.total()});
    for (const auto& [kind, c] : o.by_kind) kinds[kind].add(c);
    all.add(o.total());
  }
  for (const auto& [kind, c] : kinds) out.push_back({"kind", kind, c});
  out.push_back({"all", "", all});
  return out;
}

}  // namespace

Count Outcome::total() const {
  Count out;
  for (const auto& [kind, c] : by_kind) out.add(c);
  return out;
}

std::string tables(const std::vector<Outcome>& outcomes) {
  std::vector<Row> rows, scores;
  for (const Outcome& o : outcomes)
    for (const auto& [kind, c] : o.by_kind) rows.push_back(planted_row(o.kernel, kind, c));
  for (const Scored& s : scored(outcomes)) {
    const Count& c = s.count;
    if (s.of == "all") rows.push_back(planted_row("all", "", c));
    scores.push_back({s.of == "all" ? "all" : s.name, grouped(c.failed()), grouped(c.race), grouped(c.noted),
                      grouped(c.gap), grouped(c.missed), grouped(c.not_equivalent()), percent_killed(c)});
  }
  return terminal::table({{"kernel"},
                          {"planted"},
                          {"sites", true},
                          {"planted", true},
                          {"named", true},
                          {"wrong bits", true},
                          {"runs for ever", true},
                          {"race check", true},
                          {"noted", true},
                          {"unsupported", true},
                          {"not PTX", true},
                          {"missed", true},
                          {"equivalent", true},
                          {"gap", true}},
                         rows) +
         "\n" +
         terminal::table({{"kernel, then kind"},
                          {"suite", true},
                          {"race check", true},
                          {"noted", true},
                          {"gap", true},
                          {"missed", true},
                          {"not equivalent", true},
                          {"score", true}},
                         scores);
}

std::string scores_csv(const std::vector<Outcome>& outcomes) {
  std::string out = "of,name,planted,not a program,equivalent,suite,race check,noted,gap,missed,score\n";
  for (const Scored& s : scored(outcomes)) {
    const Count& c = s.count;
    out +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", s.of, s.name, c.planted, c.unsupported + c.not_ptx,
                    c.equivalent, c.failed(), c.race, c.noted, c.gap, c.missed, percent_killed(c));
  }
  return out;
}

}  // namespace bitwell::bugs
