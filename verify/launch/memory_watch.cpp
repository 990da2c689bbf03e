#include "verify/launch/memory_watch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "model/machine/memory/pages.h"

namespace bitwell::launch {
namespace {

// The number in a file that holds one; none where there is no such file, or "max".
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  uint64_t out = 0;
  if (in >> out) return out;
  return std::nullopt;
}

// The sum of what a table of names and numbers has under these names.
uint64_t sum_in(const std::string& path, const std::set<std::string>& names) {
  std::ifstream in(path);
  std::string name;
  uint64_t out = 0;
  for (uint64_t number = 0; in >> name >> number; in.ignore(256, '\n'))
    if (names.count(name) != 0) out += number;
  return out;
}

uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// What the control groups of the process, and those that they are in, leave it.
uint64_t left_by_groups(const std::string& root) {
  uint64_t out = UINT64_MAX;
  // What is cached of files is given up where it is in the way.
  const auto look = [&](const std::string& folder, const char* most, const char* now,
                        const std::set<std::string>& cached) {
    const auto limit = number_in(folder + most), used = number_in(folder + now);
    if (limit && used)
      out = std::min(out, difference(*limit, difference(*used, sum_in(folder + "memory.stat", cached))));
  };
  std::ifstream in(root + "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "4:memory:/a/b", or "0::/a/b" of version 2
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    const bool one = kind == "memory", two = kind.empty();
    if (!one && !two) continue;
    // A container sees its own group as the root, whatever it is called.
    for (std::string group = line.substr(second + 1);; group = group.substr(0, group.rfind('/'))) {
      if (one)
        look(root + "sys/fs/cgroup/memory" + group + "/", "memory.limit_in_bytes", "memory.usage_in_bytes",
             {"total_active_file", "total_inactive_file"});
      if (two)
        look(root + "sys/fs/cgroup" + group + "/", "memory.max", "memory.current",
             {"active_file", "inactive_file"});
      if (group.empty() || group == "/") break;
    }
  }
  return out;
}

uint64_t resident(const std::string& root) {
  std::ifstream in(root + "proc/self/statm");
  uint64_t size = 0, pages = 0;
  in >> size >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Of the process's own, and what snapshots keep: files that are mapped count there, touched or not.
uint64_t taken() {
  std::ifstream in("/proc/self/statm");
  uint64_t size = 0, pages = 0, of_files = 0;
  in >> size >> pages >> of_files;
  return difference(pages, of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + machine::kept_bytes();
}

}  // namespace

uint64_t memory_left(const std::string& root) {
  uint64_t out = left_by_groups(root);
  std::ifstream in(root + "proc/meminfo");
  std::string key;
  for (uint64_t kib = 0; in >> key >> kib; in.ignore(256, '\n'))
    if (key == "MemAvailable:") out = std::min(out, kib << 10);
  rlimit most{};
  if (getrlimit(RLIMIT_RSS, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
    out = std::min(out, difference(most.rlim_cur, resident(root)));
  return out;
}

MemoryWatch::MemoryWatch(uint64_t left, std::function<void(uint64_t)> over) {
  if (left == UINT64_MAX) return;
  const uint64_t before = taken();
  // Others take memory too, and what a kernel touches between two looks has to be there.
  const uint64_t reserve = std::clamp(left / 16, uint64_t{32} << 20, uint64_t{1} << 30);
  const uint64_t most = difference(left, reserve);
  thread_ = std::jthread([=, over = std::move(over)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      const uint64_t touched = difference(taken(), before);
      if (touched > most) return over(touched);
      const auto pause = std::chrono::milliseconds(touched > most / 2 ? 2 : 20);
      wake.wait_for(lock, stop, pause, [] { return false; });
    }
  });
}

std::string out_of_memory(const std::string& what, uint64_t touched, uint64_t left) {
  const auto mib = [](uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  return what + " has touched " + mib(touched) + ", this machine had " + mib(left) +
         " left: it is stopped before the machine runs out of memory";
}

}  // namespace bitwell::launch
