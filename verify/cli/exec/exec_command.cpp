// bitwell exec, and bitwell capture, which is the same with a table
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "model/machine/failure.h"
#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/cli/exec/exec_options.h"
#include "verify/cli/exec/exec_report.h"
#include "verify/cli/exec/exec_xml.h"
#include "verify/launch/output/output_files.h"

namespace bitwell::cli {
namespace {

using machine::InputError;
namespace fs = std::filesystem;

// The user's folder for launches, which is new or empty.
void make_record_folder(const std::string& wanted, const char* option) {
  if (wanted.empty()) return;
  std::error_code failed;
  if (fs::exists(wanted) && !fs::is_empty(wanted, failed))
    throw InputError(std::string(option) + " '" + wanted + "' is there and not empty");
  fs::create_directories(wanted, failed);
  if (failed) throw InputError(std::string(option) + " '" + wanted + "': " + failed.message());
}

void write_text(const std::string& path, const std::string& text, const char* option,
                std::ios::openmode mode = std::ios::trunc) {
  std::ofstream out(path, mode);
  out << text;
  if (!out.flush()) throw InputError(fmt::format("{}: cannot write '{}'", option, path));
}

// With compute-sanitizer's marks: %p this process, %q{NAME} the environment's, %% one %.
std::string expanded(const std::string& path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      out += path[i];
      continue;
    }
    const char mark = i + 1 < path.size() ? path[i + 1] : 0;
    const size_t end = mark == 'q' && path.substr(i + 2, 1) == "{" ? path.find('}', i) : std::string::npos;
    if (mark == 'p') {
      out += std::to_string(getpid());
    } else if (mark == '%') {
      out += '%';
    } else if (end != std::string::npos) {
      const std::string name = path.substr(i + 3, end - i - 3);
      const char* const value = std::getenv(name.c_str());
      if (value == nullptr) throw InputError("--log-file: the environment has no '" + name + "'");
      out += value;
      i = end - 1;
    } else {
      throw InputError("--log-file: '" + path + "' has a % without p, q{NAME} or % behind it");
    }
    ++i;
  }
  return out;
}

// The file that execvp takes, or where it would be.
std::string file_of(const std::string& program) {
  const char* const path = std::getenv("PATH");
  if (program.find('/') != std::string::npos || path == nullptr) return program;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return program;
}

// Refuses outputs that would replace what the command reads, or each other.
void plan_outputs(const ExecOptions& options) {
  launch::OutputFiles outputs;
  outputs.reads(file_of(options.program.front()));
  for (const std::string& read : {options.asked.baseline, options.asked.driver})
    if (!read.empty()) outputs.reads(read);
  if (!options.asked.log.empty()) outputs.plan(options.asked.log, "--log-file");
  if (!options.save.empty()) outputs.plan(options.save, "--save");
}

// What the libraries read and write, gone when the program has ended.
class Files {
 public:
  Files() {
    std::string name = (fs::temp_directory_path() / "bitwell-exec-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw InputError("cannot make a folder '" + name + "'");
    path_ = name;
  }
  ~Files() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  std::string asked() const { return path_ / "asked.json"; }
  std::string told() const { return path_ / "told.jsonl"; }

 private:
  fs::path path_;
};

// Those that were named, or those beside the executable, as they are built and installed.
fs::path libraries(const std::string& named) {
  const fs::path folder =
      !named.empty() ? fs::path(fs::absolute(named))
                     : fs::canonical("/proc/self/exe").parent_path().parent_path() / "lib" / "bitwell";
  if (!fs::exists(folder / "libcudart.so.13"))
    throw InputError("'" + (folder / "libcudart.so.13").string() + "' is not there: it belongs to bitwell");
  return folder;
}

std::string in_front(const char* variable, const std::string& value) {
  const char* const there = std::getenv(variable);
  return there == nullptr || *there == 0 ? value : value + ":" + there;
}

// The machine's own driver: a file that was named, or the one that programs find.
std::string driver_of_gpu(const std::string& named) {
  if (!named.empty()) {
    if (!fs::exists(named)) throw InputError("--driver: '" + named + "' is not there");
    return fs::absolute(named);
  }
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) throw InputError(std::string("--gpu: this machine has no driver: ") + dlerror());
  if (dlsym(library, "bitwell_libcuda") != nullptr)
    throw InputError("--gpu: the libcuda.so.1 that programs find is bitwell's; --driver FILE names another");
  link_map* at = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&at)) != 0)
    throw InputError(std::string("--gpu: ") + dlerror());
  return at->l_name;
}

// In the child, which becomes the program.
void set_environment(const fs::path& library, const Files& files, bool gpu) {
  setenv(driver::kAskedVariable, files.asked().c_str(), 1);
  setenv(driver::kChildVariable, std::to_string(getpid()).c_str(), 1);
  if (gpu) {
    setenv("LD_LIBRARY_PATH", in_front("LD_LIBRARY_PATH", library / "record").c_str(), 1);
    return;
  }
  setenv("LD_LIBRARY_PATH", in_front("LD_LIBRARY_PATH", library).c_str(), 1);
  setenv("LD_PRELOAD", in_front("LD_PRELOAD", library / "libcudart.so.13").c_str(), 1);
  setenv("CUTE_DSL_LIBS", (library / "libcudart.so.13").c_str(), 1);  // the CuTe DSL's programs ask for it so
  setenv("PATH", in_front("PATH", library / "bin").c_str(), 1);       // nvidia-smi
}

// What ends this command ends the program, so that what is left is cleared away behind it.
volatile sig_atomic_t the_program = 0, ended_by = 0;
extern "C" void pass_on(int signal) {
  ended_by = signal;
  if (the_program > 0) kill(the_program, signal);
}
constexpr std::array kPassedOn{SIGTERM, SIGHUP};

// Its exit status, or 128 and the signal that ended it.
int run_program(const ExecOptions& options, const Files& files) {
  const fs::path library = libraries(options.libraries);
  std::vector<std::string> words = options.program;
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  std::array<int, 2> trouble{};  // the child's errno, where it could not become the program
  if (pipe2(trouble.data(), O_CLOEXEC) != 0) throw InputError(std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  for (const int signal : kPassedOn) std::signal(signal, pass_on);
  const pid_t child = fork();
  if (child < 0) throw InputError(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    for (const int signal : kPassedOn) std::signal(signal, SIG_DFL);
    set_environment(library, files, options.gpu);
    std::signal(SIGPIPE, SIG_DFL);  // what this command ignores
    std::signal(SIGXFSZ, SIG_DFL);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    if (write(trouble[1], &error, sizeof error) != sizeof error) _exit(126);
    _exit(127);
  }
  the_program = child;
  if (ended_by != 0) kill(child, ended_by);
  close(trouble[1]);
  int error = 0;
  const bool failed = read(trouble[0], &error, sizeof error) == sizeof error;
  close(trouble[0]);
  std::signal(SIGINT, SIG_IGN);  // the program's matter
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, SIG_DFL);
  the_program = 0;
  for (const int signal : kPassedOn) std::signal(signal, SIG_DFL);
  if (failed) throw InputError("cannot run '" + words[0] + "': " + std::strerror(error));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void say(const ExecOptions& options, const std::string& text) {
  if (!options.asked.log.empty()) return write_text(options.asked.log, text, "--log-file", std::ios::app);
  // A file that both go to has them in the order in which they came.
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
  std::fputs(text.c_str(), stderr);
}

// By the baseline, if there is one: how much is known, and a line for each of what is not found any more.
struct Known {
  std::string count;
  std::vector<std::string> stale;
};
Known known_of(const ExecOptions& options, const ProgramRun& run) {
  Known out;
  if (options.asked.baseline.empty() || !options.asked.races) return out;
  const std::string file = fs::path(options.asked.baseline).filename();
  const auto count = [](uint64_t n) { return fmt::format("{} finding{}", n, n == 1 ? "" : "s"); };
  out.count = fmt::format("{} known by {}", count(run.known()), file);
  for (const findings::KnownFinding& k : run.stale(findings::read_baseline(options.asked.baseline)))
    out.stale.push_back(fmt::format("stale: {} has {} more of {} than there {}: {}", file, count(k.findings),
                                    k.hash, k.findings == 1 ? "is" : "are", k.text));
  return out;
}

void say_end(const ExecOptions& options, const ProgramRun& run) {
  std::string text;
  if (options.asked.sanitizer_words)
    text = fmt::format("========= ERROR SUMMARY: {} error{}\n", run.errors(), run.errors() == 1 ? "" : "s");
  else if (run.launches.empty() && run.missing.empty() && run.mistakes.empty() && run.bugs.empty())
    return;  // a program without CUDA
  else
    text = fmt::format(
        "bitwell: {} launch{}, {} error{}{}{}\n", run.launches.size(), run.launches.size() == 1 ? "" : "es",
        run.errors(), run.errors() == 1 ? "" : "s", options.gpu ? fmt::format(", {} kept", run.kept()) : "",
        run.with_status(unsupported) != 0 ? fmt::format(", {} not supported", run.with_status(unsupported))
        : run.unrunnable                  ? ", there are kernels that cannot be run"
                                          : "");
  if (!options.asked.sanitizer_words) {
    const Known known = known_of(options, run);
    if (!known.count.empty()) text.insert(text.size() - 1, ", " + known.count);
    for (const std::string& line : known.stale) text += "bitwell: " + line + "\n";
  }
  say(options, text);
}

void check_launches(const ExecOptions& options, const ProgramRun& run) {
  if (!options.launches_needed || !run.launches.empty() || !run.missing.empty() || !run.mistakes.empty() ||
      !run.bugs.empty() || !run.stopped.empty())
    return;
  throw InputError("'" + options.program[0] + "' launched nothing through CUDA's runtime or driver" +
                   (run.program == 0 ? "" : fmt::format(" (it ended with {})", run.program)));
}

int status_of(const ExecOptions& options, const ProgramRun& run) {
  if (options.launches_needed) return worst(run);
  if (!run.stopped.empty()) return unusable;
  if (!run.bugs.empty() || run.with_status(model_bug) != 0) return model_bug;
  if (run.errors() != 0 && options.error_exitcode != 0) return options.error_exitcode;
  if (run.with_status(unusable) != 0) return unusable;
  if (run.unrunnable || run.with_status(unsupported) != 0) return unsupported;
  return run.program;
}

void exec(ExecOptions& options, int& status, const char* record_option) {
  settle(options);
  driver::Asked& asked = options.asked;
  if (options.gpu) asked.driver = driver_of_gpu(asked.driver);
  asked.log = expanded(asked.log);
  plan_outputs(options);
  make_record_folder(asked.record, record_option);
  const Files files;
  asked.told = files.told();
  if (!asked.log.empty()) write_text(asked.log, "", "--log-file");
  if (!options.save.empty()) write_text(options.save, "", "--save");
  write_text(files.asked(), driver::text_of(asked), "the folder for temporary files");
  if (asked.sanitizer_words) say(options, "========= COMPUTE-SANITIZER\n");
  const int program = run_program(options, files);
  ProgramRun run = read_told(files.told());
  run.program = program;
  if (options.api_errors == "no") run.mistakes.clear();
  check_launches(options, run);
  status = status_of(options, run);
  if (!options.save.empty())
    write_text(options.save, options.xml ? xml_of(run) : strict_json::dumped(json_of(run), 2) + "\n",
               "--save");
  if (options.json)
    fmt::print("{}\n", strict_json::dumped(json_of(run), 2));
  else if (options.table)
    fmt::print("{}", table_of(run, options.verbose));
  if (!options.launches_needed) {
    say_end(options, run);
  } else if (!options.json) {
    const Known known = known_of(options, run);
    if (!known.count.empty()) fmt::print("{}\n", known.count);
    for (const std::string& line : known.stale) fmt::print("{}\n", line);
  }
  if (!options.json && !asked.record.empty() && !run.launches.empty() && options.table)
    fmt::print("the launches are in {}: bitwell run {}/0001/launch.json\n", asked.record, asked.record);
}

// The usage line with what the command does not parse.
class WithProgram : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string line = CLI::Formatter::make_usage(app, std::move(name));
    return line.substr(0, line.find_last_not_of('\n') + 1) + " -- PROGRAM ARGUMENTS\n";
  }
};

}  // namespace

std::vector<char*> without_mark(const CLI::App& app, int argc, char** argv) {
  std::vector<char*> out(argv, argv + argc);
  const std::string command = argc > 1 ? argv[1] : "";
  if (command != "exec" && command != "capture") return out;
  const CLI::App* const exec = app.get_subcommand(command);
  for (size_t i = 2; i < out.size(); ++i) {
    const std::string word = out[i];
    if (word == "--") {
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
      return out;
    }
    if (!word.starts_with("-")) return out;  // the program
    const CLI::Option* const option = exec->get_option_no_throw(word);
    if (option != nullptr && option->get_expected_max() != 0) ++i;  // its value
  }
  return out;
}

void add_exec(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("exec", "Run a program as it is on a GPU that is bitwell, and judge its kernels");
  auto options = std::make_shared<ExecOptions>();
  add_exec_arguments(*command, *options);
  // From the program's name on nothing is an option of this command.
  command->prefix_command();
  command->formatter(std::make_shared<WithProgram>());
  command->footer(
      "The program finds bitwell's libcuda.so.1 and libcudart.so.13 before any other. Its kernels run in its "
      "own process,\n"
      "each judged as by bitwell run; what is found is told on stderr as it comes.\n\n"
      "Exit status: the program's own; where an error was found --error-exitcode, 2 a launch that "
      "contradicts "
      "its kernel, 3 a kernel that could not be run, 4 a bug in bitwell.");
  command->callback([options, command, &status] {
    options->program = command->remaining();
    if (options->program.empty()) throw InputError("exec needs a PROGRAM (--help)");
    if (options->program.front().starts_with("-")) throw InputError(no_option(options->program.front()));
    exec(*options, status, "--record");
  });
}

void add_capture(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "capture", "bitwell exec for a program that must launch, with a table of its launches");
  auto options = std::make_shared<ExecOptions>();
  add_capture_arguments(*command, *options);
  command->prefix_command();
  command->formatter(std::make_shared<WithProgram>());
  command->footer(
      "PROGRAM and its arguments stand last. The program needs\n"
      "its kernels as PTX (-gencode arch=compute_100a,code=compute_100a), or as machine code that nvcc "
      "-lineinfo made, which\n"
      "has its PTX. Launches of one program run one after the other, whatever their streams.");
  command->callback([options, command, &status] {
    options->program = command->remaining();
    if (options->program.empty()) throw InputError("capture needs a PROGRAM (--help)");
    exec(*options, status, "--out");
  });
}

}  // namespace bitwell::cli
