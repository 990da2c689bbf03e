// bitwell time
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/cli/memory_guard.h"
#include "verify/cli/picture/time_picture.h"
#include "verify/cli/report/trace.h"
#include "verify/launch/file/launch_json.h"
#include "verify/launch/file/names.h"
#include "verify/launch/modules.h"
#include "verify/launch/output/output_files.h"
#include "verify/session/time.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::grouped;
using terminal::table;
namespace {

struct TimeOptions {
  std::string path;
  std::string device;   // empty: by the code's target
  std::string trace;    // path, or empty
  std::string picture;  // likewise
  bool what_if = false;
  bool ptx_alone = false;
  std::optional<uint32_t> clusters;
  uint32_t rows = 12;
  bool all = false;
  bool json = false;
};

// "kernel.cu:12", or "PTX line 40".
std::string place_of(const isa::Program& program, int ptx_line) {
  for (const isa::Function& f : program.functions)
    for (const isa::Line& line : f.lines)
      if (line.ptx == ptx_line) {
        const std::string& words = machine::words_of(line.cuda);
        const std::string cuda = words.empty() ? "" : words + ", ";
        return fmt::format("{}PTX line {}, {}", cuda, ptx_line, line.text);
      }
  return fmt::format("PTX line {}", ptx_line);
}

// "kernel.cu:12", or nothing.
std::string source_of(const isa::Program& program, int ptx_line) {
  for (const isa::Function& f : program.functions)
    for (const isa::Line& line : f.lines)
      if (line.ptx == ptx_line) return machine::words_of(line.cuda);
  return {};
}

std::string who(const session::LaunchTime& l, const timing::Path::Part& p) {
  const std::string out(timing::kRoles[static_cast<size_t>(p.role)]);
  return l.epilogue.count(p.line) != 0 ? out + ", epilogue" : out;
}

nlohmann::json facts(const session::LaunchTime& l) {
  const timing::Seen& s = l.launch.seen;
  nlohmann::json out{
      {"entry", l.launch.entry},
      {"us", l.estimate.us},
      {"low_us", l.estimate.low},
      {"high_us", l.estimate.high},
      {"alone_us", l.estimate.alone},
      {"bound_by", l.estimate.kind},
      {"made_of", l.estimate.made},
      {"cycles", l.launch.cycles},
      {"machine_code", l.launch.code == nullptr ? nlohmann::json() : nlohmann::json(l.launch.code->by)},
      {"shares",
       {{"tensor", s.tensor},
        {"issue", s.issue},
        {"shared_memory", s.memory},
        {"l2", s.l2},
        {"dram", s.dram}}}};
  for (const timing::Path::Part& p : s.path)
    out["path"].push_back({{"who", who(l, p)},
                           {"epilogue", l.epilogue.count(p.line) != 0},
                           {"source", source_of(*l.program, p.line)},
                           {"what", timing::kCauses[static_cast<size_t>(p.cause)]},
                           {"ptx_line", p.line},
                           {"cycles", p.cycles},
                           {"times", p.times}});
  for (const auto& [name, times] : s.without_row) out["without_a_row"][name] = times;
  out["loops"] = nlohmann::json::array();
  for (const timing::LoopBound& b : s.loops)
    out["loops"].push_back({{"first_ptx_line", b.first},
                            {"last_ptx_line", b.last},
                            {"source", source_of(*l.program, b.first)},
                            {"warps_of_a_cta", b.warps},
                            {"rounds", b.times},
                            {"resource_cycles", b.resource},
                            {"resource", b.by},
                            {"recurrence_cycles", b.recurrence},
                            {"modelled_cycles", b.modelled}});
  return out;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// A second opinion, without the run: how fast loops could go round.
void print_loops(const session::LaunchTime& l, const TimeOptions& o) {
  std::vector<std::vector<std::string>> rows;
  for (const timing::LoopBound& b : l.launch.seen.loops) {
    if (rows.size() == o.rows) break;
    const std::string cuda = source_of(*l.program, b.first);
    rows.push_back({fmt::format("{}PTX lines {} to {}", cuda.empty() ? "" : cuda + ", ", b.first, b.last),
                    std::to_string(b.warps), grouped(b.times), fmt::format("{:.0f}", b.resource),
                    std::string(b.by), fmt::format("{:.0f}", b.recurrence),
                    b.modelled > 0 ? fmt::format("{:.0f}", b.modelled) : "-"});
  }
  if (rows.empty()) return;
  fmt::print("\nLoops, in cycles from one round to the next\n{}", table({{"where"},
                                                                         {"warps of a CTA", true},
                                                                         {"rounds", true},
                                                                         {"bound by resources", true},
                                                                         {"resource"},
                                                                         {"bound by recurrence", true},
                                                                         {"modelled", true}},
                                                                        rows));
}

// What a GPU took for a launch, as the model counts: without what two events themselves take.
double kernel_us(const launch::Measured& m, const timing::Device& device) {
  return m.us - m.empty + device.value(timing::Key::launch);
}
// Whether it is a GPU as the table is of.
bool is_same(const launch::Measured& m, const timing::Device& device) {
  return m.device.find(device.called) != std::string::npos;
}

nlohmann::json facts(const launch::Measured& m, const timing::Device& device) {
  return {{"device", m.device},
          {"us", m.us},
          {"least_us", m.least},
          {"most_us", m.most},
          {"empty_us", m.empty},
          {"launches", m.launches},
          {"kernel_us", kernel_us(m, device)},
          {"same_device", is_same(m, device)}};
}

void print(const launch::Measured& m, const session::LaunchTime& first, const timing::Device& device) {
  fmt::print(
      "  measured: {}, {:.1f} us between two events ({:.1f} to {:.1f}, {} launches, caches cold), where an "
      "empty kernel has {:.1f}\n",
      m.device, m.us, m.least, m.most, m.launches, m.empty);
  const double there = kernel_us(m, device), more = 100 * (first.estimate.alone / there - 1);
  if (m.us <= m.empty)
    fmt::print("  so less than two events can tell\n");
  else if (is_same(m, device))
    fmt::print("  so {:.1f} us as the model counts, which says {:.0f} % {}\n", there, std::abs(more),
               more < 0 ? "less" : "more");
  else
    fmt::print("  so {:.1f} us as the model counts, which is of a {}\n", there, device.called);
}

void print(const session::LaunchTime& l, const std::optional<launch::Measured>& measured,
           const timing::Device& device, const TimeOptions& o) {
  const timing::Seen& s = l.launch.seen;
  fmt::print("{}: {:.1f} us, between {:.1f} and {:.1f}\n", launch::shortened(l.launch.entry), l.estimate.us,
             l.estimate.low, l.estimate.high);
  constexpr double kTold = 0.97;  // of the other figure
  if (l.estimate.alone < kTold * l.estimate.us)
    fmt::print(
        "  {:.1f} us as one launch among others: launch behind launch, power lowers the clock of busy tensor "
        "cores further\n",
        l.estimate.alone);
  if (measured) print(*measured, l, device);
  fmt::print("  bound by {}; made of {}\n", l.estimate.kind, l.estimate.made);
  if (!l.launch.sure_of_residents)
    fmt::print(
        "  {} on a multiprocessor at once, if registers allow it: the launch does not say how many a "
        "thread has (\"registers\")\n",
        l.launch.extent.residents == 1 ? std::string("1 cluster")
                                       : fmt::format("{} clusters", l.launch.extent.residents));
  fmt::print("  busy: tensor cores {}, issue of instructions {}, shared memory {}, L2 {}, DRAM {}\n",
             percent(s.tensor), percent(s.issue), percent(s.memory), percent(s.l2), percent(s.dram));
  std::string unknown;
  for (const auto& [name, times] : s.without_row)
    unknown += fmt::format("{}{} ({} times)", unknown.empty() ? "" : ", ", name, grouped(times));
  if (!unknown.empty())
    fmt::print("  without a row in the table, so guessed, and the range is wider for it: {}\n", unknown);
  double all = 0;
  for (const timing::Path::Part& p : s.path) all += p.cycles;
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min<size_t>(o.rows, s.path.size()); ++i) {
    const timing::Path::Part& p = s.path[i];
    rows.push_back({percent(p.cycles / std::max(all, 1.0)), grouped(static_cast<uint64_t>(p.cycles)),
                    grouped(p.times), who(l, p), std::string(timing::kCauses[static_cast<size_t>(p.cause)]),
                    place_of(*l.program, p.line)});
  }
  if (!rows.empty())
    fmt::print(
        "\nWhat the end waited for\n{}",
        table({{"share", true}, {"cycles", true}, {"times", true}, {"who"}, {"what"}, {"where"}}, rows));
  print_loops(l, o);
}

// "of PTX, not of machine code", or whose machine code it is of.
std::string made_of(const session::TimeAnswer& answer) {
  std::set<std::string> by;
  for (const session::LaunchTime& l : answer.launches)
    by.insert(l.launch.code == nullptr ? "" : l.launch.code->by);
  if (by.size() == 1 && !by.begin()->empty()) return "of the instructions that " + *by.begin() + " makes";
  if (by.size() == 1) return "of PTX, not of machine code";
  return "some launches of machine code, some of PTX";
}

void time(const TimeOptions& o) {
  const launch::MemoryWatch watch = stopped_before_the_machine("the launch");
  launch::LaunchFile file = launch::read_launch(o.path);
  if (file.launch.module == nullptr)
    file.launch.module = launch::load_module(file.launch.ptx, file.launch.entry);
  launch::Modules().load(file.launch);
  session::TimeQuestion question = session::time_question(file.launch);
  if (!o.device.empty()) question.device = o.device;
  const std::shared_ptr<const isa::Program> program = launch::program_of(file.launch);
  Trace trace(*program);
  TimePicture picture(*program);
  launch::OutputFiles files;
  if (!o.trace.empty()) files.plan(o.trace, "--trace");
  if (!o.picture.empty()) files.plan(o.picture, "--picture");
  if (!o.trace.empty() || !o.picture.empty())
    question.observer = [&](const timing::Launches& clocks) {
      trace.tell_time_by([&clocks] { return clocks.instant(); });
      const auto traced = trace.observer().tell;
      const auto drawn = picture.observer([&clocks] { return clocks.instant().now; }).tell;
      return machine::Observer{[&o, traced, drawn](const machine::Event& e) {
        if (!o.trace.empty()) traced(e);
        if (!o.picture.empty()) drawn(e);
      }};
    };
  question.what_if = o.what_if;
  question.asks_ptxas = !o.ptx_alone;
  question.most = o.all ? 0 : o.clusters.value_or(question.most);
  if (o.clusters) question.whole_up_to = 0;
  const session::TimeAnswer answer = session::time_of(question);
  if (!o.trace.empty()) files.write(o.trace, trace.text());
  if (!o.picture.empty())
    files.write(o.picture, picture.document(fmt::format(
                               "{}: {:.1f} us on {}", launch::shortened(answer.launches.at(0).launch.entry),
                               answer.launches[0].estimate.us, answer.device->called)));
  files.commit();
  if (o.json) {
    nlohmann::json out{{"device", answer.device->name},
                       {"runs_there", answer.foreign.empty()},
                       {"us", answer.us},
                       {"low_us", answer.low},
                       {"high_us", answer.high},
                       {"launches", nlohmann::json::array()}};
    if (!answer.why_no_code.empty()) out["why_no_machine_code"] = answer.why_no_code;
    for (const session::LaunchTime& l : answer.launches) out["launches"].push_back(facts(l));
    if (file.launch.measured) out["launches"][0]["measured"] = facts(*file.launch.measured, *answer.device);
    for (const session::WhatIf& w : answer.what_if)
      out["what_if"].push_back({{"name", w.name}, {"if", w.words}, {"us", w.us}});
    fmt::print("{}\n", strict_json::dumped(out, 2));
    return;
  }
  const std::string_view name = answer.device->called;
  fmt::print("A model of {} {}, not a measurement: {}.\n", name[0] == 'H' ? "an" : "a", name,
             made_of(answer));
  if (!answer.why_no_code.empty()) fmt::print("No machine code: {}\n", answer.why_no_code);
  if (name == timing::b200().called)
    fmt::print("Its costs are published by others, or guessed: none of them is a probe of ours.\n");
  for (const std::string& target : answer.foreign)
    fmt::print("This code is for {}, which no {} runs: what it would cost there is no forecast.\n", target,
               name);
  if (answer.whole) fmt::print("Clusters wait for one another, so all of them were run.\n");
  for (const session::LaunchTime& l : answer.launches)
    print(l, &l == &answer.launches[0] ? file.launch.measured : std::nullopt, *answer.device, o);
  if (answer.launches.size() > 1)
    fmt::print("All {} launches: {:.1f} us, between {:.1f} and {:.1f}\n", answer.launches.size(), answer.us,
               answer.low, answer.high);
  if (answer.what_if.empty()) return;
  fmt::print("\nWhat would change it, each by a run of the model\n");
  std::vector<std::vector<std::string>> rows;
  for (const session::WhatIf& w : answer.what_if)
    rows.push_back({"if " + std::string(w.words), fmt::format("{:.1f}", w.us),
                    fmt::format("{:+.0f} %", 100 * (w.us / answer.us - 1))});
  fmt::print("{}", table({{""}, {"us", true}, {"change", true}}, rows));
}

}  // namespace

void add_time(CLI::App& app) {
  auto options = std::make_shared<TimeOptions>();
  CLI::App* command = app.add_subcommand(
      "time", "How long a launch would take on a device, and what it waits for, by a model of time");
  command->add_option("launch", options->path, "Launch as JSON, as bitwell run takes it")->required();
  command->add_option(
      "--device", options->device,
      "Whose costs: h200, or b200, of which others measured what is known; h200@1300: with its "
      "clock locked at 1,300 MHz. Default: the one that runs the code");
  command
      ->add_option(
          "--clusters", options->clusters,
          "Clusters that are run on a multiprocessor, one after the other; the others count as like them. "
          "Unless it is given, launches of few instructions are run whole")
      ->check(whole(1, 1000000))
      ->default_str("8");
  command->add_flag("--ptx-alone", options->ptx_alone,
                    "Do not ask ptxas what it makes of the kernel and how many registers that takes");
  command->add_flag("--all", options->all, "Run every cluster, on every multiprocessor");
  command->add_option("--rows", options->rows, "Rows of what the end waited for")
      ->check(whole(0, 1000000))
      ->capture_default_str();
  command->add_option(
      "--trace", options->trace,
      "Also write what was run as a trace for Perfetto or chrome://tracing, in microseconds of "
      "the model");
  command
      ->add_option(
          "--picture", options->picture,
          "Also draw what the first CTA has under way over time, and when stages are handed over, as SVG")
      ->type_name("FILE.svg");
  command->add_flag("--what-if", options->what_if,
                    "Also what would change it most: the model is run again with DRAM, L2, latencies, tensor "
                    "cores, arithmetic and the epilogue twice as fast, and with barriers and launching free");
  command->add_flag("--json", options->json, "One object, with every row");
  command->callback([options] { time(*options); });
}

}  // namespace bitwell::cli
