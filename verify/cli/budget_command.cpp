// bitwell budget
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/budget/search.h"
#include "model/layout/tensor_memory.h"
#include "model/machine/failure.h"
#include "model/strict_json/write.h"
#include "verify/capture/captures.h"
#include "verify/cli/command.h"
#include "verify/cli/picture/budget_picture.h"
#include "verify/launch/launch.h"
#include "verify/launch/output/output_files.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::grouped;
using terminal::note;
using terminal::table;
namespace {

using budget::Audit;
using budget::Fit;
using budget::Line;
using budget::Per;
using budget::Spec;
using budget::Verdict;

struct BudgetOptions {
  std::vector<std::string> specs;
  std::vector<std::string> set;
  std::string svg;
  bool search = false;
  bool everything = false;
  bool json = false;
};

std::vector<std::string> shipped() {
  std::vector<std::string> out;
  std::error_code absent;  // an executable without its share folder has no specs to offer
  for (const auto& file : std::filesystem::directory_iterator(capture::share_folder("budgets"), absent))
    if (file.path().extension() == ".json") out.push_back(file.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

// A file, or the name of a shipped spec.
Spec read_spec(const std::string& what, launch::OutputFiles& files) {
  std::string path = what;
  const std::vector<std::string> names = shipped();
  std::error_code unreadable;
  if (!std::filesystem::exists(what, unreadable) && !unreadable) {
    if (std::find(names.begin(), names.end(), what) == names.end())
      throw machine::InputError(
          fmt::format("no file and no shipped budget '{}'; there are {}", what, fmt::join(names, ", ")));
    path = capture::share_folder("budgets") + "/" + what + ".json";
  }
  files.reads(path);
  try {
    return budget::parse_spec(launch::read_file(path));
  } catch (const budget::BudgetError& e) {
    throw machine::InputError("'" + path + "': " + e.what());
  }
}

budget::Names overrides(const BudgetOptions& o) {
  budget::Names out;
  for (const std::string& s : o.set) {
    const size_t at = s.find('=');
    int64_t v = 0;
    const char* first = at == std::string::npos ? s.data() : s.data() + at + 1;
    const auto r = std::from_chars(first, s.data() + s.size(), v);
    if (at == std::string::npos || at == 0 || r.ec != std::errc() || r.ptr != s.data() + s.size())
      throw machine::InputError("--set '" + s + "': expected NAME=INTEGER");
    out[s.substr(0, at)] = v;
  }
  return out;
}

const char* name(Verdict v) {
  switch (v) {
    case Verdict::agrees: return "agrees";
    case Verdict::too_large: return "TOO LARGE";
    case Verdict::too_small: return "TOO SMALL";
    default: return "no layout given";
  }
}

std::string ratio(const Line& l) {
  if (!l.layout || l.formula == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(*l.layout) / static_cast<double>(l.formula));
}

const char* per(const Line& l, bool tensor) {
  if (tensor || l.item.per == Per::cta) return "CTA";
  return l.item.per == Per::stage ? "stage" : "epilogue stage";
}

std::string bytes(int64_t n) { return (n < 0 ? "-" : "") + grouped(static_cast<uint64_t>(n < 0 ? -n : n)); }

void fit_line(const char* label, const Fit& f) {
  fmt::print("  {:<12} {} main-loop stages of {} B, {} epilogue stages of {} B, {} B fixed: {} of {} B{}\n",
             label, f.stages, bytes(f.stage), f.epilogue_stages, bytes(f.epilogue), bytes(f.fixed),
             bytes(f.used), bytes(f.capacity), f.fits ? "" : "  DOES NOT FIT");
}

void report(const Spec& spec, const Audit& a) {
  fmt::print("{}\n{}\n\n", spec.name, spec.source);
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::vector<Line>& lines, bool tensor) {
    for (const Line& l : lines)
      rows.push_back({l.item.name, tensor ? "columns" : "bytes", per(l, tensor), std::to_string(l.count),
                      l.item.size, bytes(l.formula), l.layout ? bytes(*l.layout) : "-", ratio(l),
                      name(l.verdict)});
  };
  add(a.shared, false);
  add(a.tensor, true);
  fmt::print("{}", table({{"operand"},
                          {"unit"},
                          {"per"},
                          {"count", true},
                          {"formula"},
                          {"written", true},
                          {"laid out", true},
                          {"laid out / written", true},
                          {"verdict"}},
                         rows));
  fmt::print("\n");
  fit_line("as written:", a.written);
  if (!a.agrees) fit_line("as laid out:", a.laid_out);
  if (a.written.columns > 0) {
    fmt::print("  tensor memory: {} of {} columns", a.written.columns, layout::kTensorColumns);
    if (a.written.allocated > 0)
      fmt::print(", {} allocated", a.written.allocated);
    else
      fmt::print("  DOES NOT FIT");
    fmt::print("\n");
  }
  if (a.agrees) return;
  for (const std::vector<Line>* list : {&a.shared, &a.tensor})
    for (const Line& l : *list) {
      if (l.fixes.empty()) continue;
      fmt::print("\n{}: '{}' gives {}, its layout {} has {}. Nearest fixes: {}", l.item.name, l.item.size,
                 bytes(l.formula), l.layout_text, bytes(*l.layout), l.fixes[0]);
      for (size_t i = 1; i < l.fixes.size(); ++i) fmt::print("; or {}", l.fixes[i]);
      if (!l.item.why.empty()) fmt::print(" ({})", l.item.why);
      fmt::print("\n");
    }
  if (a.idle < 0)
    fmt::print("The difference: the stages as written need {} B more than there is.\n", bytes(-a.idle));
  else if (a.laid_out.stages != a.written.stages)
    fmt::print("The difference: stages {} -> {}, with {} B that nothing occupies today.\n", a.written.stages,
               a.laid_out.stages, bytes(a.idle));
  else
    fmt::print("The difference costs no stage; {} B are occupied by nothing.\n", bytes(a.idle));
}

nlohmann::json fit_json(const Fit& f) {
  return {{"capacity_bytes", f.capacity},
          {"fixed_bytes", f.fixed},
          {"stage_bytes", f.stage},
          {"epilogue_bytes", f.epilogue},
          {"stages", f.stages},
          {"epilogue_stages", f.epilogue_stages},
          {"used_bytes", f.used},
          {"tensor_columns", f.columns},
          {"allocated_columns", f.allocated},
          {"fits", f.fits}};
}

nlohmann::json report_json(const Spec& spec, const Audit& a) {
  nlohmann::json j{{"spec", spec.name},
                   {"names", a.names},
                   {"agrees", a.agrees},
                   {"idle_bytes", a.idle},
                   {"written", fit_json(a.written)},
                   {"laid_out", fit_json(a.laid_out)}};
  for (const auto& [key, list] : {std::pair{"shared", &a.shared}, std::pair{"tensor", &a.tensor}})
    for (const Line& l : *list) {
      nlohmann::json item{{"name", l.item.name},  {"per", per(l, std::string(key) == "tensor")},
                          {"count", l.count},     {"formula", l.item.size},
                          {"written", l.formula}, {"verdict", name(l.verdict)},
                          {"fixes", l.fixes}};
      if (l.layout) {
        item["laid_out"] = *l.layout;
        item["layout"] = l.layout_text;
      }
      j[key].push_back(std::move(item));
    }
  return j;
}

void report_search(const Spec& spec, const BudgetOptions& o) {
  const budget::SearchResult r = budget::search(spec, overrides(o));
  if (o.json) {
    nlohmann::json j{{"spec", spec.name},
                     {"tried", r.tried},
                     {"illegal", r.illegal},
                     {"fitting", nlohmann::json::array()}};
    for (const budget::Choice& c : r.fitting)
      j["fitting"].push_back(
          {{"chosen", c.chosen}, {"fit", fit_json(c.fit)}, {"scores", c.scores}, {"front", c.front}});
    fmt::print("{}\n", strict_json::dumped(j, 2));
    return;
  }
  fmt::print("{}: {} choices tried, {} that no hardware or kernel has, {} fit\n\n", spec.name, r.tried,
             r.illegal, r.fitting.size());
  std::vector<Column> titles;
  for (const auto& [key, choices] : spec.search) titles.push_back({key, true});
  titles.insert(titles.end(), {{"stages", true}, {"epilogue", true}, {"used (B)", true}, {"columns", true}});
  for (const auto& [label, formula] : spec.maximise) titles.push_back({label, true});
  titles.push_back({"front"});
  std::vector<std::vector<std::string>> rows;
  for (const budget::Choice& c : r.fitting) {
    if (!c.front && !o.everything) continue;
    std::vector<std::string> row;
    for (const auto& [key, choices] : spec.search) row.push_back(std::to_string(c.chosen.at(key)));
    for (const int64_t v : {c.fit.stages, c.fit.epilogue_stages}) row.push_back(std::to_string(v));
    row.push_back(bytes(c.fit.used));
    row.push_back(std::to_string(c.fit.columns));
    for (const int64_t s : c.scores) row.push_back(bytes(s));
    row.emplace_back(c.front ? "Pareto" : "");
    rows.push_back(std::move(row));
  }
  fmt::print("{}", table(titles, rows));
  if (!o.everything)
    fmt::print("\nShown: what no other choice beats in every score (--all shows all that fit)\n");
}

int run(const BudgetOptions& o) {
  const std::vector<std::string> specs = o.specs.empty() ? shipped() : o.specs;
  const budget::Names set = overrides(o);
  int status = held;
  std::vector<Spec> read;
  launch::OutputFiles files;
  for (const std::string& s : specs) read.push_back(read_spec(s, files));
  if (!o.svg.empty()) files.plan(o.svg, "--svg");
  std::vector<NamedAudit> drawn;
  for (size_t i = 0; i < read.size(); ++i) {
    try {
      if (o.search) {
        report_search(read[i], o);
        continue;
      }
      const Audit a = budget::audit(read[i], set);
      if (!a.agrees || !a.written.fits) status = failed;
      if (o.json)
        fmt::print("{}\n", strict_json::dumped(report_json(read[i], a), 2));
      else
        report(read[i], a);
      if (i + 1 < read.size() && !o.json) fmt::print("\n{}\n\n", std::string(80, '-'));
      drawn.push_back({read[i].name, a});
    } catch (const budget::BudgetError& e) {
      throw machine::InputError("'" + specs[i] + "': " + e.what());
    }
  }
  if (!o.svg.empty()) {
    files.write(o.svg, picture(drawn));
    files.commit();
    note("picture -> " + o.svg);
  }
  return status;
}

}  // namespace

void add_budget(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "budget", "Audit shared- and tensor-memory budgets against the layouts they stand for");
  auto o = std::make_shared<BudgetOptions>();
  command->add_option("SPEC", o->specs, "Spec files, or names of shipped specs (default: all shipped ones)");
  command->add_option("--set", o->set, "Another value for a name of the spec: --set lora_stages=3")
      ->allow_extra_args(false);
  CLI::Option* search = command->add_flag("--search", o->search,
                                          "Try the spec's choices and list the Pareto front of what fits");
  command->add_flag("--all", o->everything, "With --search: everything that fits")->needs(search);
  command->add_option("--svg", o->svg, "Write a picture of audits: bars as written and as laid out")
      ->excludes(search);
  command->add_flag("--json", o->json, "As JSON");
  std::string names;
  for (const std::string& s : shipped()) names += " " + s;
  command->footer(
      "Exit status 1 where a formula and its layout disagree, or where the stages do not fit.\n"
      "Shipped specs:" +
      names +
      "\n\n"
      "A spec:\n"
      "  {\"name\": \"my kernel\",\n"
      "   \"names\": {\"tile_m\": 256, \"tile_n\": 128, \"tile_k\": 256, \"ctas\": 2},\n"
      "   \"least_stages\": 2,\n"
      "   \"shared\": [\n"
      "     {\"name\": \"barriers\", \"bytes\": 1024},\n"
      "     {\"name\": \"B\", \"per\": \"stage\", \"bytes\": \"tile_n * tile_k / 2\",\n"
      "      \"layout\": {\"name\": \"operand-smem\", \"rows\": \"tile_n / ctas\", \"k\": \"tile_k\", "
      "\"bits\": 4}},\n"
      "     {\"name\": \"D\", \"per\": \"epilogue\", \"bytes\": \"128 * 32 * 2\",\n"
      "      \"layout\": {\"expression\": \"(128,32):(32,1)\", \"bits\": 16}}],\n"
      "   \"tensor\": [{\"name\": \"accumulator\", \"columns\": \"tile_n\"}],\n"
      "   \"search\": {\"tile_n\": [64, 128, 256]}, \"maximise\": {\"stages\": \"stages\"}}\n"
      "Formulas are C's integer arithmetic with min, max, ceil_div, round_up and if(c, a, b). A layout is "
      "one of\n"
      "'bitwell layout --help', with formulas as parameters, or an expression in which {formula} is filled "
      "in.");
  command->callback([o, &status] { status = run(*o); });
}

}  // namespace bitwell::cli
