// bitwell init
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "verify/cli/command.h"
#include "verify/cli/report/short_names.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/init/launch_template.h"
#include "verify/launch/launch.h"
#include "verify/launch/output/output_files.h"

namespace bitwell::cli {

void add_init(CLI::App& app) {
  struct InitOptions {
    std::string path, entry, out;
    bool verbose = false;
    bool force = false;
  };
  CLI::App* command = app.add_subcommand("init", "Write the LAUNCH.json that fits an entry of a PTX file");
  auto options = std::make_shared<InitOptions>();
  command
      ->add_option("FILE.ptx", options->path,
                   "The PTX, or a cubin, fat binary, object file or program that holds it")
      ->required();
  command->add_option("ENTRY", options->entry,
                      "Its name, or a part of it that no other has, mangled or not; without it the only one");
  CLI::Option* out =
      command->add_option("--out", options->out, "Write to this file, instead of the standard output");
  command->add_flag("--force", options->force, "Replace that file where it is there already")->needs(out);
  command->add_flag("-v,--verbose", options->verbose, kVerboseHelp);
  command->footer(
      "Parameters, block and cluster are the entry's. Where its name is that of a C++ function, types are "
      "known\n"
      "and what is const is read-only; else they are what the instructions show. What only the host knows\n"
      "(grid, sizes, numbers) is null, and to be filled in; members \"//\" say with what. bitwell run "
      "refuses a\n"
      "file where null stands.");
  command->callback([options] {
    namespace fs = std::filesystem;
    if (!options->force && fs::exists(options->out))
      throw machine::InputError("--out: '" + options->out + "' is there already; --force replaces it");
    const std::string text = launch::read_ptx(options->path, options->entry);
    const fs::path folder = fs::absolute(options->out.empty() ? "x" : options->out).parent_path();
    const std::string ptx = fs::absolute(options->path).lexically_relative(folder).string();
    const std::string launch = naming_shortly(options->verbose, [&] {
      return launch::naming(options->path,
                            [&] { return launch::launch_template(text, ptx, options->entry); });
    });
    if (options->out.empty())
      fmt::print("{}", launch);
    else
      launch::replace_file(options->out, "--out", launch);
  });
}

}  // namespace bitwell::cli
