// bitwell completion, bitwell man
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "model/machine/failure.h"
#include "verify/cli/command.h"
#include "verify/cli/shell/completion.h"
#include "verify/cli/shell/manual.h"
#include "verify/cli/shell/tree.h"
#include "verify/launch/output/output_files.h"
#include "verify/schema/json_schema.h"
#include "verify/schema/nearest.h"

namespace bitwell::cli {
namespace {

namespace fs = std::filesystem;

// All that packages install beside the program, in the places where shells, man and editors look for it.
void write_shared(const CLI::App& app, const fs::path& folder) {
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories((folder / name).parent_path());
    launch::replace_file((folder / name).string(), "--write", text);
  };
  write("bash-completion/completions/bitwell", completion(app, "bash"));
  write("zsh/site-functions/_bitwell", completion(app, "zsh"));
  write("fish/vendor_completions.d/bitwell.fish", completion(app, "fish"));
  write("bitwell/launch.schema.json", schema::json_schema());
  write("man/man1/" + manual_name(app) + ".1", manual(app));
  for (const CLI::App* command : commands_of(app))
    write("man/man1/" + manual_name(*command) + ".1", manual(*command));
}

const CLI::App& command_called(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_name() == name) return *command;
    known.push_back(command->get_name());
  }
  throw machine::InputError("there is no command '" + name + "'" + schema::did_you_mean(name, known));
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("completion", "Print what a shell completes bitwell's commands from");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(kShells.begin(), kShells.end())));
  command->footer(
      "bash:  source <(bitwell completion bash), in ~/.bashrc\n"
      "zsh:   source <(bitwell completion zsh), in ~/.zshrc behind compinit\n"
      "fish:  bitwell completion fish > ~/.config/fish/completions/bitwell.fish");
  command->callback([&app, shell] { fmt::print("{}", completion(app, *shell)); });
}

void add_man(CLI::App& app) {
  struct ManOptions {
    std::string name, folder;
  };
  CLI::App* command = app.add_subcommand("man", "Print the man page of bitwell or of a command");
  auto options = std::make_shared<ManOptions>();
  CLI::Option* name =
      command->add_option("COMMAND", options->name, "The command; without it bitwell's own page");
  command
      ->add_option("--write", options->folder,
                   "Write all pages, the completions and launch.schema.json below this folder, as a package "
                   "has them below share")
      ->type_name("DIR")
      ->excludes(name);
  command->footer("Example:  bitwell man run | man -l -");
  command->callback([&app, options] {
    if (!options->folder.empty()) return write_shared(app, options->folder);
    fmt::print("{}", manual(options->name.empty() ? app : command_called(app, options->name)));
  });
}

}  // namespace bitwell::cli
