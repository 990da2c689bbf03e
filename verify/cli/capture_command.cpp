// bitwell capture
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/machine/failure.h"
#include "verify/cli/command.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/run/run_arguments.h"
#include "verify/driver/device_row.h"
#include "verify/driver/told.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::grouped;
using terminal::table;
namespace {

using machine::InputError;
using nlohmann::json;
namespace fs = std::filesystem;

struct CaptureOptions {
  std::vector<std::string> program;
  std::vector<std::string> run;  // of `bitwell run`, as they were written
  std::vector<std::string> only;
  std::string arch;
  std::string out;
  bool json = false;
  bool verbose = false;
};

// What of `bitwell run` is not for launches of a program: it names a file, which each would replace, or has
// nothing to compare with.
constexpr std::array<std::string_view, 15> kNotOfLaunches{
    "--help",     "--json",    "--verbose",    "--trace", "--dump",
    "--dump-cta", "--dump-as", "--dump-visit", "--sarif", "--write-baseline",
    "--junit",    "--device",  "--exhaust",    "--most",  "--device-seconds"};

// The options of `bitwell run`, as far as they go.
void add_run_options(CLI::App& command, CaptureOptions& to) {
  CLI::App run;
  RunOptions values;
  add_arguments(run, values);
  for (const CLI::Option* option : run.get_options()) {
    const std::string name = option->get_name();
    if (option->get_positional() ||
        std::find(kNotOfLaunches.begin(), kNotOfLaunches.end(), name) != kNotOfLaunches.end())
      continue;
    if (option->get_expected_max() == 0)
      command.add_flag_callback(
          name, [&to, name] { to.run.push_back(name); }, option->get_description());
    else
      command
          .add_option_function<std::string>(
              name,
              [&to, name](const std::string& value) {
                to.run.insert(to.run.end(), {name, value});
              },
              option->get_description())
          ->type_name(option->get_type_name());
    command.get_option(name)->group("Of each launch, as of bitwell run");
  }
}

// Throws what `bitwell run` would say of them.
void refuse_wrong_ones(const std::vector<std::string>& run) {
  CLI::App app;
  RunOptions values;
  add_arguments(app, values);
  std::vector<std::string> words{run.rbegin(), run.rend()};  // as CLI11 takes them
  words.insert(words.begin(), "LAUNCH.json");
  app.parse(words);
}

// A folder for the launches: the user's, or one that goes when the program has ended.
class Folder {
 public:
  explicit Folder(const std::string& wanted) : kept_(!wanted.empty()) {
    if (kept_) {
      std::error_code failed;
      if (fs::exists(wanted) && !fs::is_empty(wanted, failed))
        throw InputError("--out '" + wanted + "' is there and not empty");
      fs::create_directories(wanted, failed);
      if (failed) throw InputError("--out '" + wanted + "': " + failed.message());
      path_ = fs::absolute(wanted);
      return;
    }
    std::string name = (fs::temp_directory_path() / "bitwell-capture-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw InputError("cannot make a folder '" + name + "'");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  bool kept_;
  fs::path path_;
};

// Beside the executable, as they are built and installed.
fs::path libraries() {
  const fs::path self = fs::canonical("/proc/self/exe");
  const fs::path folder = self.parent_path().parent_path() / "lib" / "bitwell";
  if (!fs::exists(folder / "libcudart.so.13"))
    throw InputError("'" + (folder / "libcudart.so.13").string() + "' is not there: it belongs to bitwell");
  return folder;
}

std::string in_front(const char* variable, const std::string& value) {
  const char* const there = std::getenv(variable);
  return there == nullptr || *there == 0 ? value : value + ":" + there;
}

// Its exit status, or 128 and the signal that ended it.
int run_program(const CaptureOptions& options, const fs::path& folder) {
  const fs::path library = libraries();
  setenv("LD_LIBRARY_PATH", in_front("LD_LIBRARY_PATH", library).c_str(), 1);
  setenv("LD_PRELOAD", in_front("LD_PRELOAD", library / "libcudart.so.13").c_str(), 1);
  setenv("CUTE_DSL_LIBS", (library / "libcudart.so.13").c_str(), 1);  // the CuTe DSL's programs ask for it so
  setenv(driver::kFolderVariable, folder.c_str(), 1);
  std::vector<std::string> words = options.program;
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  std::array<int, 2> trouble{};  // the child's errno, where it could not become the program
  if (pipe2(trouble.data(), O_CLOEXEC) != 0) throw InputError(std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw InputError(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    execvp(arguments[0], arguments.data());
    const int error = errno;
    if (write(trouble[1], &error, sizeof error) != sizeof error) _exit(126);
    _exit(127);
  }
  close(trouble[1]);
  int error = 0;
  const bool failed = read(trouble[0], &error, sizeof error) == sizeof error;
  close(trouble[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  for (const char* name : {"LD_PRELOAD", driver::kFolderVariable}) unsetenv(name);
  if (failed) throw InputError("cannot run '" + words[0] + "': " + std::strerror(error));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

json json_of(const fs::path& path) {
  std::ifstream in(path);
  return json::parse(in, nullptr, false);
}

// One launch as it came.
struct LaunchRow {
  json told;
  json report;  // of bitwell run; discarded where it ended before it
};

struct CapturedLaunches {
  std::vector<LaunchRow> launches;
  std::vector<std::string> missing;
  std::string stopped;  // why the program was, or empty
};

CapturedLaunches read_told(const fs::path& folder) {
  CapturedLaunches out;
  std::ifstream in(folder / driver::kToldFile);
  for (std::string line; std::getline(in, line);) {
    json told = json::parse(line, nullptr, false);
    if (told.is_discarded()) continue;
    if (told.contains("missing")) {
      out.missing.push_back(told["missing"]);
      continue;
    }
    if (told.contains("stopped")) {
      out.stopped = told["stopped"];
      continue;
    }
    const fs::path at = told.value("folder", "");
    out.launches.push_back({std::move(told), json_of(at / "report.json")});
  }
  return out;
}

std::string verdict(const LaunchRow& row) {
  const int status = row.told.value("status", 0);
  const std::string words = row.told.value("words", "");
  const json& r = row.report;
  if (status == held) {
    const size_t notes = r.is_object() && r.contains("notes") ? r["notes"].size() : 0;
    return notes == 0 ? "held" : fmt::format("held, {} note{}", notes, notes == 1 ? "" : "s");
  }
  if (status == failed && r.is_object() && r.contains("fault")) return "fault";
  if (status == failed && r.is_object() && r.contains("races"))
    return fmt::format("{} found by --races", r["races"].size());
  if (status == failed && r.is_object() && r.contains("same")) return "schedules differ";
  if (status == failed) return "fault";
  return status == unusable ? "unusable" : status == unsupported ? "unsupported" : "a bug in bitwell";
}

// C++ names of kernels may have thousands of characters.
std::string short_name(const std::string& kernel, bool verbose) {
  constexpr size_t most = 60;
  std::string out = named(kernel, verbose);
  if (!verbose && out.size() > most) out = out.substr(0, most - 3) + "...";
  return out;
}

std::string launch_table(const CapturedLaunches& captured, bool verbose) {
  std::vector<std::vector<std::string>> rows;
  for (const LaunchRow& row : captured.launches) {
    const json launch = json_of(fs::path(row.told.value("folder", "")) / "launch.json");
    const auto shape = [&](const char* key) {
      std::string out;
      if (!launch.is_object() || !launch.contains(key)) return out;
      for (const json& n : launch[key]) out += (out.empty() ? "" : "x") + std::to_string(n.get<uint64_t>());
      while (out.ends_with("x1")) out.resize(out.size() - 2);
      return out;
    };
    const json& r = row.report;
    const bool counted = r.is_object() && r.contains("lane_instructions");
    rows.push_back({std::to_string(row.told.value("launch", 0)),
                    short_name(row.told.value("kernel", ""), verbose), shape("grid"), shape("block"),
                    counted ? grouped(r["lane_instructions"].get<uint64_t>()) : "",
                    counted ? fmt::format("{:.2f}", r["seconds"].get<double>()) : "",
                    row.told.value("judged", true) ? verdict(row) : verdict(row) + ", not judged"});
  }
  return table({{"launch", true},
                {"kernel"},
                {"grid"},
                {"block"},
                {"lane instructions", true},
                {"s", true},
                {"verdict"}},
               rows);
}

// The worst that was found. A program that ends badly by itself has failed too.
int worst(const CapturedLaunches& captured, int program) {
  if (!captured.stopped.empty()) return unusable;
  int out = program == 0 ? held : failed;
  for (const int status : {int{unusable}, int{unsupported}, int{failed}, int{model_bug}})
    for (const LaunchRow& row : captured.launches)
      if (row.told.value("status", 0) == status) out = status;
  const bool found = out != held && !(out == failed && program != 0);
  return !found && program != 0 && !captured.missing.empty() ? int{unsupported} : out;
}

void capture(const CaptureOptions& options, int& status) {
  refuse_wrong_ones(options.run);
  if (!options.arch.empty()) driver::device_row(options.arch);  // refuses what is none
  const Folder folder(options.out);
  std::ofstream(folder.path() / driver::kAskedFile) << json{
      {"bitwell", fs::canonical("/proc/self/exe").string()},
      {"options", options.run},
      {"only", options.only},
      {"arch", options.arch}}.dump();
  const int program = run_program(options, folder.path());
  const CapturedLaunches captured = read_told(folder.path());
  status = worst(captured, program);
  if (captured.launches.empty() && captured.missing.empty() && captured.stopped.empty())
    throw InputError(
        "'" + options.program[0] +
        "' launched nothing through the CUDA runtime's shared library: link it with nvcc -cudart shared" +
        (program == 0 ? "" : fmt::format(" (it ended with {})", program)));
  if (options.json) {
    json j{{"program", program}, {"missing", captured.missing}, {"launches", json::array()}};
    if (!captured.stopped.empty()) j["stopped"] = captured.stopped;
    for (const LaunchRow& row : captured.launches) {
      json one = row.told;
      one["report"] = row.report.is_discarded() ? json() : row.report;
      if (options.out.empty()) one.erase("folder");
      j["launches"].push_back(std::move(one));
    }
    fmt::print("{}\n", j.dump(2));
    return;
  }
  fmt::print("{}", launch_table(captured, options.verbose));
  for (const std::string& m : captured.missing) fmt::print("not supported: {}\n", m);
  fmt::print("the program ended with {}\n", program);
  if (!options.out.empty())
    fmt::print("the launches are in {}: bitwell run {}/0001/launch.json\n", options.out, options.out);
}

}  // namespace

void add_capture(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("capture", "Run a CUDA program as it is, its kernels in the simulator");
  auto options = std::make_shared<CaptureOptions>();
  command
      ->add_option("--out", options->out, "Keep every launch in this folder, as LAUNCH.json with its buffers")
      ->type_name("DIR");
  command
      ->add_option("--only", options->only,
                   "Judge kernels whose name holds this; the others run unchecked. May be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--arch", options->arch,
          "The device that the program sees (sm_90, sm_100, ...); else the newest that its PTX is for")
      ->type_name("SM");
  command->add_flag("--json", options->json, "The table as JSON");
  command->add_flag("-v,--verbose", options->verbose, kVerboseHelp);
  add_run_options(*command, *options);
  // From the program's name on nothing is an option of this command.
  command->prefix_command();
  command->footer(
      "bitwell stands in for the CUDA runtime (nvcc -cudart shared), judges each launch as bitwell run does "
      "and hands\n"
      "the results back, so that the program's own check speaks.\n"
      "PROGRAM and its arguments stand last. The program needs its kernels as PTX: nvcc -gencode "
      "arch=compute_100a,code=compute_100a -cudart "
      "shared. Machine\n"
      "code that nvcc -lineinfo made has its PTX too. Launches of one program run one after the other, "
      "whatever their\n"
      "streams.");
  command->callback([options, command, &status] {
    options->program = command->remaining();
    if (options->program.empty()) throw InputError("capture needs a PROGRAM (--help)");
    capture(*options, status);
  });
}

}  // namespace bitwell::cli
