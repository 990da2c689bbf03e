#include "verify/driver/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "verify/launch/memory_watch.h"

namespace bitwell::driver {
namespace {

using nlohmann::json;

Asked read_asked() {
  Asked out;
  const char* const folder = std::getenv(kFolderVariable);
  if (folder == nullptr) return out;
  std::ifstream in(std::string(folder) + "/" + kAskedFile);
  const json j = json::parse(in, nullptr, false);
  if (j.is_discarded()) return out;
  out.folder = folder;
  out.bitwell = j.value("bitwell", "");
  out.options = j.value("options", std::vector<std::string>{});
  out.only = j.value("only", std::vector<std::string>{});
  out.arch = j.value("arch", "");
  return out;
}

// A program's device memory is this process's: what it touches is counted, as a launch's is.
void watch_memory(Session& s) {
  const uint64_t left = verify::memory_left();
  // As long as the process.
  static const verify::MemoryWatch* const watch = new verify::MemoryWatch(left, [&s, left](uint64_t touched) {
    const std::string words = verify::out_of_memory("the program", touched, left);
    say(words);
    s.tell(json{{"stopped", words}}.dump());
    _exit(2);
  });
  static_cast<void>(watch);
}

}  // namespace

Session& session() {
  // Never destroyed: programs call the runtime from destructors of their own.
  static Session* const one = [] {
    auto* const s = new Session;
    s->asked = read_asked();
    if (s->asked.folder.empty())
      say("this CUDA runtime is bitwell's: start the program by bitwell capture PROGRAM");
    watch_memory(*s);
    return s;
  }();
  return *one;
}

const DeviceRow& Session::device() {
  if (device_ == nullptr)
    device_ = asked.arch.empty() ? &device_row(modules.newest()) : &device_row(asked.arch);
  return *device_;
}

void Session::tell(const std::string& line) {
  if (asked.folder.empty()) return;
  const std::string path = asked.folder + "/" + kToldFile;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string whole = line + "\n";
  if (file < 0 || write(file, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
    say("cannot write to '" + path + "'");
  if (file >= 0) close(file);
}

void Session::missing(const std::string& what) {
  if (!said_.insert(what).second) return;
  say("not supported: " + what);
  tell(json{{"missing", what}}.dump());
}

void say(const std::string& text) { std::fputs(("bitwell: " + text + "\n").c_str(), stderr); }

}  // namespace bitwell::driver
