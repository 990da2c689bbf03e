// bitwell check
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "model/isa/compile/compile.h"
#include "model/isa/compile/instructions.h"
#include "model/isa/compile/module.h"
#include "model/machine/arch.h"
#include "model/strict_json/write.h"
#include "verify/capture/captures.h"
#include "verify/cli/check_file.h"
#include "verify/cli/command.h"
#include "verify/cli/report/evidence.h"
#include "verify/cli/report/short_names.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/file/names.h"
#include "verify/launch/launch.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::grouped;
using terminal::table;
namespace {

std::string name(isa::Finding::Kind kind) {
  switch (kind) {
    case isa::Finding::Kind::invalid: return "invalid";
    case isa::Finding::Kind::unsupported: return "unsupported";
    case isa::Finding::Kind::contractible: return "contractible";
    default: return "approximate";
  }
}

struct CheckOptions {
  std::string path, entry;
  bool json = false, verbose = false;
};

// Those that are one to a reader: sums that may be fused, and approximate instructions of one name, by CUDA
// line.
struct Row {
  const isa::Finding* first;
  size_t count = 1;
};
std::vector<Row> rows_of(const std::vector<isa::Finding>& findings) {
  std::vector<Row> out;
  std::map<std::string, size_t> lines;
  for (const isa::Finding& f : findings) {
    const bool sum = f.kind == isa::Finding::Kind::contractible;
    if ((sum || f.kind == isa::Finding::Kind::approximate) && f.cuda != nullptr) {
      const auto [at, fresh] = lines.try_emplace((sum ? "sum" : f.what) + " " + f.cuda->words, out.size());
      if (!fresh) {
        ++out[at->second].count;
        continue;
      }
    }
    out.push_back({&f});
  }
  return out;
}

// What to do about sums that may be fused; empty without any.
std::string advice(const std::vector<isa::Finding>& findings) {
  const auto open = std::count_if(findings.begin(), findings.end(), [](const isa::Finding& f) {
    return f.kind == isa::Finding::Kind::contractible;
  });
  if (open == 0) return "";
  return fmt::format(
      "{} of a product that ptxas may fuse: to keep them apart, nvcc -fmad=false or __fmul_rn and __fadd_rn; "
      "to "
      "fuse them for sure, fmaf. bitwell runs them as they are written, apart; with --fmad as ptxas fuses "
      "them.\n",
      open == 1 ? "1 sum" : fmt::format("{} sums", grouped(static_cast<uint64_t>(open))));
}

std::string text_of(const std::vector<isa::Finding>& findings, bool verbose) {
  const bool lines =
      std::any_of(findings.begin(), findings.end(), [](const isa::Finding& f) { return f.cuda != nullptr; });
  std::vector<std::vector<std::string>> rows;
  for (const Row& r : rows_of(findings)) {
    rows.push_back({std::to_string(r.first->line), name(r.first->kind),
                    named(r.first->what, verbose) +
                        (r.count == 1 ? ""
                                      : fmt::format("; {} such {} on this line", r.count,
                                                    r.first->kind == isa::Finding::Kind::contractible
                                                        ? "sums"
                                                        : "instructions"))});
    if (lines) rows.back().push_back(machine::words_of(r.first->cuda));
  }
  std::vector<Column> columns{{"PTX line", true}, {"finding"}, {"what"}};
  if (lines) columns.push_back({"CUDA line"});
  return table(columns, rows) + advice(findings);
}

// Of what is approximate, where it goes.
std::vector<capture::ApproximateWay> ways_of(const std::vector<capture::Evidence>& evidence,
                                             const std::string& text, const std::string& path,
                                             const std::vector<std::string>& entries) {
  std::vector<capture::ApproximateWay> out;
  if (std::none_of(evidence.begin(), evidence.end(),
                   [](const capture::Evidence& e) { return e.how == "approximate"; }))
    return out;  // nothing need be compiled
  const isa::Module module(text, path);
  for (const std::string& entry : entries)
    for (capture::ApproximateWay& way : capture::approximate_ways(*module.program(entry), evidence))
      if (std::none_of(out.begin(), out.end(), [&](const capture::ApproximateWay& w) {
            return w.to == way.to && w.ptx_line == way.ptx_line;
          }))
        out.push_back(std::move(way));
  return out;
}

}  // namespace

Judged check_file(const std::string& path, const std::string& entry, bool verbose, int& status) {
  const std::string text = launch::read_ptx(path, entry);
  std::vector<std::string> entries;
  std::set<std::string> instructions;
  std::string target;
  const std::vector<isa::Finding> findings = launch::naming(path, [&] {
    const ptx::Module module = ptx::parse(text);
    target = module.target;
    entries = isa::entries(module);
    std::string one;
    if (!entry.empty()) {
      one = entries[launch::name_among(entries, entry, "entry")];
      entries = {one};
    }
    std::vector<isa::Finding> found = isa::check(module, one);
    instructions = isa::instructions(module, one);
    return found;
  });
  Judged out;
  out.facts = {{"file", path}, {"entries", entries}, {"findings", nlohmann::json::array()}};
  status = held;
  for (const isa::Finding& f : findings) {
    out.facts["findings"].push_back({{"line", f.line}, {"kind", name(f.kind)}, {"what", f.what}});
    if (f.cuda != nullptr) out.facts["findings"].back()["source"] = f.cuda->words;
    if (f.kind == isa::Finding::Kind::unsupported) status = std::max<int>(status, unsupported);
  }
  for (const isa::Finding& f : findings)
    if (f.kind == isa::Finding::Kind::invalid) status = unusable;
  out.held = status == held;
  if (findings.empty())
    out.text = fmt::format("{}: {} {}, everything is supported and every bit is fixed by the PTX\n", path,
                           entries.size(), entries.size() == 1 ? "entry" : "entries");
  else
    out.text = text_of(findings, verbose);
  if (out.held) {  // of what runs at all
    const std::vector<capture::Evidence> evidence = capture::evidence_of(
        instructions, machine::find_target(target).arch->sm, capture::share_folder("captures"));
    const std::vector<capture::ApproximateWay> ways = ways_of(evidence, text, path, entries);
    out.facts["evidence"] = evidence_facts(evidence, ways);
    out.text += evidence_text(evidence, target, ways);
  }
  return out;
}

namespace {

int check(const CheckOptions& options) {
  int status = held;
  const Judged out = check_file(options.path, options.entry, options.verbose, status);
  fmt::print("{}", options.json ? strict_json::dumped(out.facts, 2) + "\n" : out.text);
  return status;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "check",
      "List what in a PTX file is unsupported, contractible or approximate, and how the rest is known");
  auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("FILE.ptx", options->path,
                   "The PTX, or a cubin, fat binary, object file or program that holds it")
      ->required();
  command->add_option(
      "--entry", options->entry,
      "Only this entry and what it calls: its name, or a part of it that no other has, mangled or not");
  command->add_flag("--json", options->json, "Findings as JSON");
  command->add_flag("-v,--verbose", options->verbose, kVerboseHelp);
  command->footer(
      "invalid       not legal PTX for its version and target (exit status 2)\n"
      "unsupported   legal, but bitwell does not model it (exit status 3)\n"
      "approximate   has an error bound in the manual, not bits: it runs with an H200's, see run "
      "--approximate\n"
      "contractible  a sum of a product, neither with a rounding modifier: ptxas may fuse them, so that the "
      "bits\n"
      "              depend on ptxas\n"
      "Where everything is supported it ends with how bitwell knows the results: device, published, manual "
      "or\n"
      "approximate (`bitwell help evidence`), with the names of the operations.");
  command->callback(
      [options, &status] { status = naming_shortly(options->verbose, [&] { return check(*options); }); });
}

}  // namespace bitwell::cli
