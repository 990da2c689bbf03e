// The bitwell command line.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "model/machine/failure.h"
#include "verify/cli/command.h"
#include "verify/cli/large_pages.h"
#include "verify/cli/shell/mistake.h"
#include "verify/cli/shell/quiet.h"
#include "verify/cli/shell/version.h"
#include "verify/launch/output/partial_files.h"

namespace cli = bitwell::cli;

namespace {

void check_whole_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_type_name() == "UINT") option->check(cli::whole(0, UINT64_MAX));
  for (CLI::App* command : app.get_subcommands({})) check_whole_numbers(*command);
}

constexpr int reader_gone = 141;  // as a shell shows a process that SIGPIPE ended

// To stderr; where that is full too, the exit status has to say it.
int say(const std::string& text, int status) {
  std::fputs(("bitwell: " + text + "\n").c_str(), stderr);
  return status;
}

// What help lists together.
struct Group {
  const char* title;
  std::vector<std::string> commands;
};
const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"A kernel of yours", {"judge", "run", "time", "exec", "capture", "init", "check"}},
      {"What bitwell rests on", {"verify", "merge", "prove"}},
      {"Formats, layouts, descriptors", {"formats", "mma", "layout", "descriptor", "budget"}},
      {"Studies and problems", {"study", "problem"}},
      {"Help", {"help", "schema", "completion", "man"}}};
  return all;
}
void group(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({}))
    for (const Group& g : groups())
      for (const std::string& name : g.commands)
        if (command->get_name() == name) command->group(g.title);
}

// Of the rest the exit status tells whether all holds, so that there is a --quiet.
constexpr std::array<std::string_view, 6> kTellsOnly{"formats",    "mma",     "layout",
                                                     "descriptor", "problem", "time"};

// What every command has: exit statuses where it has none of its own, and --quiet where it judges.
void finish(CLI::App& command) {
  constexpr const char* statuses =
      "Exit status: 0 held, 1 a verdict failed or the kernel is at fault, 2 unusable input, 3 unsupported, 4 "
      "a bug in bitwell.";
  const std::string footer = command.get_footer();
  if (footer.find("Exit status: ") == std::string::npos)
    command.footer(footer + (footer.empty() ? "" : "\n\n") + statuses);
  const std::vector<CLI::App*> inner = command.get_subcommands({});
  for (CLI::App* c : inner) finish(*c);
  const CLI::App* top = &command;
  while (top->get_parent() != nullptr && top->get_parent()->get_parent() != nullptr) top = top->get_parent();
  const bool judges = std::find(kTellsOnly.begin(), kTellsOnly.end(), top->get_name()) == kTellsOnly.end();
  if (!inner.empty() || !judges || command.get_option_no_throw("--json") == nullptr) return;
  command
      .add_flag_callback("-q,--quiet", cli::keep_back,
                         "Say nothing where all holds, which the exit status tells, and show no progress")
      ->excludes("--json");
}

// `status`, once all that was printed is out.
int printed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  if (errno == EPIPE) return reader_gone;
  return say("cannot write to the standard output" +
                 (errno == 0 ? "" : ": " + std::generic_category().message(errno)),
             cli::unusable);
}

int run(int argc, char** argv) {
  cli::grow_by_large_pages();
  CLI::App app{"bitwell runs compiled CUDA kernels on a CPU, bit for bit, and says what is wrong with them.",
               "bitwell"};
  app.require_subcommand(1);
  app.set_version_flag("--version", cli::version());
  int status = cli::held;
  cli::add_run(app, status);
  cli::add_judge(app, status);
  cli::add_exec(app, status);
  cli::add_time(app);
  cli::add_capture(app, status);
  cli::add_init(app);
  cli::add_check(app, status);
  cli::add_verify(app, status);
  cli::add_merge(app, status);
  cli::add_prove(app, status);
  cli::add_formats(app, status);
  cli::add_mma(app, status);
  cli::add_layout(app, status);
  cli::add_descriptor(app);
  cli::add_budget(app, status);
  cli::add_study(app, status);
  cli::add_problem(app);
  cli::add_schema(app);
  cli::add_completion(app);
  cli::add_man(app);
  cli::add_help(app);
  group(app);
  finish(app);
  check_whole_numbers(app);
  if (argc < 2) {
    std::fputs(cli::overview().c_str(), stdout);
    return printed(cli::held);
  }
  try {
    const std::vector<char*> words = cli::without_mark(app, argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& e) {
    std::ostringstream text;  // CLI11 would not look whether it gets out
    const int success = app.exit(e, text, text);
    errno = 0;
    std::fputs(text.str().c_str(), stdout);
    return printed(success);
  } catch (const CLI::ParseError& e) {
    return say(cli::mistake(app, e), cli::unusable);
  } catch (const bitwell::machine::Fault& e) {
    return say(std::string("fault: ") + e.what(), cli::failed);
  } catch (const bitwell::machine::Unsupported& e) {
    return say(std::string("unsupported: ") + e.what(), cli::unsupported);
  } catch (const bitwell::machine::InputError& e) {
    return say(e.what(), cli::unusable);
  } catch (const std::bad_alloc&) {
    return say("it needs more memory than there is", cli::unusable);
  } catch (const std::length_error&) {
    return say("it needs more memory than there is", cli::unusable);
  } catch (const std::system_error& e) {
    if (e.code() == std::errc::broken_pipe) return reader_gone;
    if (std::ferror(stdout) != 0)  // fmt::print says no more than that a file could not be written
      return say("cannot write to the standard output: " + e.code().message(), cli::unusable);
    return say(e.what(), cli::unusable);  // threads, files: the system's limits, not the model's
  } catch (const std::exception& e) {
    return say(std::string("a bug in bitwell: ") + e.what(), cli::model_bug);
  }
  return printed(status);
}

}  // namespace

int main(int argc, char** argv) {
  // A pipe that nobody reads and a limit on the size of files are then errors of write(2), after which no
  // file is left half-written.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  bitwell::launch::remove_partial_files_when_stopped();
  const int status = run(argc, argv);
  return cli::let_out(status) ? status : reader_gone;
}
