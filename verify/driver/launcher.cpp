#include "verify/driver/launcher.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/machine/failure.h"

namespace bitwell::driver {
namespace {

using Ordered = nlohmann::ordered_json;
namespace fs = std::filesystem;
using machine::InputError;

void write_file(const fs::path& path, const void* bytes, size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  if (!out.flush()) throw InputError("cannot write '" + path.string() + "'");
}

bool read_file(const fs::path& path, std::byte* to, uint64_t size) {
  std::ifstream in(path, std::ios::binary);
  return in.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(size)) && in.peek() == EOF;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string hexadecimal(const void* data, uint64_t size) {
  std::string out;
  for (uint64_t i = 0; i < size; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<const uint8_t*>(data)[i];
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

// One launch's files. Those of buffers stand beside all launches, so that what did not change is written
// once.
class Files {
 public:
  Files(Session& session, const Wanted& wanted)
      : session_(session), wanted_(wanted), number_(++session.launches), sm_(session.device().sm) {
    char name[16];
    std::snprintf(name, sizeof name, "%04d", number_);
    folder_ = fs::path(session.asked.folder) / name;
    fs::create_directories(folder_ / "out");
    fs::create_directories(fs::path(session.asked.folder) / "buffers");
  }

  int number() const { return number_; }
  fs::path folder() const { return folder_; }

  void write(void** parameters) {
    Ordered j;
    j["ptx"] = module_file();
    j["entry"] = wanted_.kernel->name;
    j["grid"] = wanted_.grid;
    j["block"] = wanted_.block;
    if (wanted_.cluster) j["cluster"] = *wanted_.cluster;
    if (wanted_.kernel->non_portable_cluster) j["non_portable_cluster"] = true;
    if (wanted_.dynamic_shared != 0) j["dynamic_shared_bytes"] = wanted_.dynamic_shared;
    if (wanted_.cooperative) j["cooperative"] = true;
    j["buffers"] = Ordered::array();
    for (auto& [address, a] : session_.memory.all()) j["buffers"].push_back(buffer(a));
    j["arguments"] = Ordered::array();
    size_t next = 0;
    for (const Parameter& p : wanted_.kernel->module->head(wanted_.kernel->name, sm_).parameters)
      j["arguments"].push_back(argument(p, parameters[next++]));
    for (const auto& symbol : wanted_.kernel->module->symbols)
      if ((symbol->value || !symbol->constant) && wanted_.kernel->module->has_variable(symbol->name, sm_))
        j["variables"].push_back(variable(*symbol));
    const std::string text = j.dump(1) + "\n";
    write_file(folder_ / "launch.json", text.data(), text.size());
  }

  // What the kernel left.
  void take_back() {
    for (auto& [address, a] : session_.memory.all()) take_back(a);
    for (const auto& symbol : wanted_.kernel->module->symbols) {
      const fs::path out = folder_ / "out" / (symbol->name + ".bin");
      if (!fs::exists(out)) continue;
      std::vector<std::byte> value(symbol->bytes);
      if (read_file(out, value.data(), value.size())) symbol->value = std::move(value);
    }
  }

 private:
  std::string module_file() const {
    const std::string name = "module" + std::to_string(wanted_.kernel->module->number) + ".ptx";
    const fs::path path = fs::path(session_.asked.folder) / name;
    const std::string& text = wanted_.kernel->module->ptx(sm_);
    if (!fs::exists(path)) write_file(path, text.data(), text.size());
    return "../" + name;
  }

  std::string version(const std::string& name) const {
    return "buffers/" + name + "." + std::to_string(number_) + ".bin";
  }

  Ordered buffer(Allocation& a) const {
    Ordered j{{"buffer", a.name}};
    if (a.reach == Reach::both) a.file.clear();  // the host writes it unseen
    if (a.used && a.file.empty()) {
      a.file = version(a.name + ".before");
      write_file(fs::path(session_.asked.folder) / a.file, a.data, a.bytes);
    }
    if (a.used)
      j["bin"] = "../" + a.file;
    else
      j["zeros"] = a.bytes;
    j["address"] = a.address;
    j["output"] = "out/" + a.name + ".bin";
    j["partly_written"] = true;  // what the program looks at, nobody knows
    return j;
  }

  // A pointer says which buffer it leads to; all else is bytes.
  Ordered argument(const Parameter& p, const void* value) const {
    if (p.bytes == 8 && (p.type == ".u64" || p.type == ".b64")) {
      uint64_t address = 0;
      std::memcpy(&address, value, sizeof address);
      if (const Allocation* a = session_.memory.find(address); a != nullptr)
        return {{"pointer", a->name}, {"offset", address - a->address}};
    }
    return {{"bytes", hexadecimal(value, p.bytes)}};
  }

  Ordered variable(const Symbol& symbol) const {
    Ordered j{{"variable", symbol.name}};
    if (symbol.value) {
      const std::string file = version(symbol.name);
      write_file(fs::path(session_.asked.folder) / file, symbol.value->data(), symbol.value->size());
      j["bin"] = "../" + file;
    }
    if (!symbol.constant) j["output"] = "out/" + symbol.name + ".bin";
    return j;
  }

  void take_back(Allocation& a) const {
    const fs::path out = folder_ / "out" / (a.name + ".bin");
    if (!fs::exists(out)) return;
    std::vector<std::byte> now(a.bytes);
    if (!read_file(out, now.data(), now.size())) throw InputError("cannot read '" + out.string() + "'");
    if (std::memcmp(now.data(), a.data, a.bytes) == 0) {
      fs::remove(out);
      return;
    }
    std::memcpy(a.data, now.data(), a.bytes);
    a.used = true;
    a.file = version(a.name);
    fs::rename(out, fs::path(session_.asked.folder) / a.file);
  }

  Session& session_;
  const Wanted& wanted_;
  int number_;
  int sm_;
  fs::path folder_;
};

bool is_wanted(const Asked& asked, const std::string& kernel) {
  return asked.only.empty() ||
         std::any_of(asked.only.begin(), asked.only.end(),
                     [&](const std::string& part) { return kernel.find(part) != std::string::npos; });
}

// The environment without what put this library in front of the program.
std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    if (!entry.starts_with("LD_PRELOAD=") && !entry.starts_with("LD_LIBRARY_PATH=")) out.emplace_back(entry);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& w : words) out.push_back(w.data());
  out.push_back(nullptr);
  return out;
}

// Runs it with its output in those files; its exit status, or 128 and the signal that ended it.
int run(std::vector<std::string> command, const fs::path& out, const fs::path& error) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_addopen(&files, 2, error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  std::vector<std::string> environment = own_environment();
  pid_t child = 0;
  const int failed = posix_spawn(&child, command[0].c_str(), &files, nullptr, pointers(command).data(),
                                 pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw InputError("cannot run '" + command[0] + "': " + std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What the kernel printed, and from the first line that is bitwell's own, what bitwell said.
std::pair<std::string, std::string> parted(const std::string& error) {
  size_t at = error.rfind("\nbitwell: ");
  if (at == std::string::npos) {
    if (!error.starts_with("bitwell: ")) return {error, ""};
    at = 0;
  } else {
    ++at;
  }
  return {error.substr(0, at), error.substr(at)};
}

}  // namespace

Ended launch(Session& session, const Wanted& wanted, void** parameters) {
  Files files(session, wanted);
  Ordered told{
      {"launch", files.number()}, {"kernel", wanted.kernel->name}, {"folder", files.folder().string()}};
  const auto tell = [&](int status, const std::string& words) {
    told["status"] = status;
    told["words"] = words;
    session.tell(told.dump());
  };
  try {
    files.write(parameters);
  } catch (const InputError& e) {
    say("kernel " + wanted.kernel->name + ": " + e.what());
    tell(3, e.what());
    return Ended::refused;
  }
  const bool judged = is_wanted(session.asked, wanted.kernel->name);
  told["judged"] = judged;
  std::vector<std::string> command{session.asked.bitwell, "run", files.folder() / "launch.json", "--json"};
  if (judged)
    for (auto word = session.asked.options.begin(); word != session.asked.options.end(); ++word) {
      // Schedules are compared by what buffers hold.
      if (*word == "--schedules" && session.memory.all().empty())
        ++word;
      else
        command.push_back(*word);
    }
  else
    command.insert(command.end(), {"--unchecked", "--approximate", "h200"});
  const int status = run(command, files.folder() / "report.json", files.folder() / "said.txt");
  const auto [printed, words] = parted(text_of(files.folder() / "said.txt"));
  std::fputs(printed.c_str(), stdout);
  if (!words.empty()) std::fputs(words.c_str(), stderr);
  const bool ran = status == 0 || status == 1;
  const auto says = [&words = words](const char* part) { return words.find(part) != std::string::npos; };
  // It may be right on a device, where the heap's objects live on.
  const bool stray = status == 1 && session.left_heap && says("fault:") && says("out-of-bounds");
  if (stray) session.missing("memory of an earlier launch's malloc");
  tell(stray ? 3 : status, words);
  if (text_of(files.folder() / "report.json").find("that malloc gave") != std::string::npos) {
    session.left_heap = true;
    session.memory.leave_heap();
  }
  files.take_back();
  // Where something was found and the kernel came to its end all the same, the program goes on with what it
  // left.
  return status == 0 || (ran && !says("fault:")) ? Ended::well
         : status != 1 || stray                  ? Ended::refused
         : says("assertion failed: ")            ? Ended::asserted
                                                 : Ended::failed;
}

}  // namespace bitwell::driver
