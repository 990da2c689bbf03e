// bitwell check
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "model/isa/compile/compile.h"
#include "verify/cli/command.h"
#include "verify/cli/short_names.h"
#include "verify/cli/table.h"
#include "verify/launch/launch.h"
#include "verify/launch/names.h"

namespace bitwell::cli {
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

int check(const CheckOptions& options) {
  const std::string& path = options.path;
  const std::string text = verify::read_file(path);
  std::vector<std::string> entries;
  const std::vector<isa::Finding> findings = verify::naming(path, [&] {
    const ptx::Module module = ptx::parse(text);
    entries = isa::entries(module);
    if (options.entry.empty()) return isa::check(module);
    entries = {entries[verify::name_among(entries, options.entry, "entry")]};
    return isa::check(module, entries.front());
  });
  int status = held;
  nlohmann::json j{{"file", path}, {"entries", entries}, {"findings", nlohmann::json::array()}};
  std::vector<std::vector<std::string>> rows;
  for (const isa::Finding& f : findings) {
    rows.push_back({std::to_string(f.line), name(f.kind), named(f.what, options.verbose)});
    j["findings"].push_back({{"line", f.line}, {"kind", name(f.kind)}, {"what", f.what}});
    if (f.kind == isa::Finding::Kind::unsupported) status = std::max<int>(status, unsupported);
  }
  for (const isa::Finding& f : findings)
    if (f.kind == isa::Finding::Kind::invalid) status = unusable;
  if (options.json) {
    fmt::print("{}\n", j.dump(2));
    return status;
  }
  if (rows.empty())
    fmt::print("{}: {} {}, everything is supported and every bit is fixed by the PTX\n", path, entries.size(),
               entries.size() == 1 ? "entry" : "entries");
  else
    fmt::print("{}", table({{"PTX line", true}, {"finding"}, {"what"}}, rows));
  return status;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("check", "List what in a PTX file is unsupported, contractible or approximate");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE.ptx", options->path, "The PTX text")->required();
  command->add_option(
      "--entry", options->entry,
      "Only this entry and what it calls: its name, or a part of it that no other has, mangled or not");
  command->add_flag("--json", options->json, "Findings as JSON");
  command->add_flag("--verbose", options->verbose, kVerboseHelp);
  command->footer(
      "invalid       not legal PTX for its version and target (exit status 2)\n"
      "unsupported   legal, but bitwell does not model it (exit status 3)\n"
      "approximate   has an error bound in the manual, not bits: it runs with an H200's, see run "
      "--approximate\n"
      "contractible  mul, add or sub without a rounding: ptxas may fuse it, so its bits depend on ptxas");
  command->callback(
      [options, &status] { status = naming_shortly(options->verbose, [&] { return check(*options); }); });
}

}  // namespace bitwell::cli
