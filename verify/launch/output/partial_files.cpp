#include "verify/launch/output/partial_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace bitwell::launch {
namespace {

// What a signal handler may look at. More files than these at once, which no command has, would stay behind.
std::array<std::atomic<char*>, 4096> names;
static_assert(std::atomic<char*>::is_always_lock_free);

void stop(int signal) {
  remove_partial_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

PartialFile::PartialFile(std::string path) : path_(std::move(path)) {
  char* const name = strdup(path_.c_str());
  for (size_t i = 0; i < names.size(); ++i) {
    char* nobody = nullptr;
    if (!names[i].compare_exchange_strong(nobody, name)) continue;
    slot_ = static_cast<int>(i);
    return;
  }
  std::free(name);
}

PartialFile& PartialFile::operator=(PartialFile&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  slot_ = std::exchange(other.slot_, -1);
  return *this;
}

void PartialFile::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  forget();
}

void PartialFile::renamed() { forget(); }

void PartialFile::forget() {
  if (slot_ >= 0) std::free(names[static_cast<size_t>(slot_)].exchange(nullptr));
  slot_ = -1;
  path_.clear();
}

void remove_partial_files() {
  for (std::atomic<char*>& name : names)
    if (const char* path = name.exchange(nullptr); path != nullptr) unlink(path);
}

void remove_partial_files_when_stopped() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, stop) == SIG_IGN) std::signal(signal, SIG_IGN);
}

}  // namespace bitwell::launch
