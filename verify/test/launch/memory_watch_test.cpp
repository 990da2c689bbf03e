// What a machine, its control groups and its limits leave a process, and who notices when that is touched.
#include "verify/launch/memory_watch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "model/machine/memory/pages.h"
#include "model/machine/memory/snapshot.h"

namespace bitwell::launch {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A machine that says this of itself, by path.
uint64_t left_on(const std::map<std::string, std::string>& files) {
  const auto root = std::filesystem::temp_directory_path() / ("bitwell-machine-" + std::to_string(getpid()));
  for (const auto& [path, text] : files) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  const uint64_t out = memory_left(root.string() + "/");
  std::filesystem::remove_all(root);
  return out;
}

TEST(MemoryLeft, IsTheLeastOfWhatIsSaid) {
  const std::pair<const std::string, std::string> machine{
      "proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    5000 kB\nBuffers: 7 kB\n"};
  EXPECT_EQ(left_on({}), UINT64_MAX);
  EXPECT_EQ(left_on({machine}), 5000u << 10);
  // Version 2: the group of the process, those above it, or the root that a container sees.
  const std::pair<const std::string, std::string> two{"proc/self/cgroup", "0::/a/b\n"};
  EXPECT_EQ(left_on({machine, two}), 5000u << 10);
  for (const std::string at : {"sys/fs/cgroup/a/b/", "sys/fs/cgroup/a/", "sys/fs/cgroup/"}) {
    EXPECT_EQ(left_on({machine, two, {at + "memory.max", "1000000\n"}, {at + "memory.current", "300000\n"}}),
              700000u)
        << at;
    EXPECT_EQ(left_on({machine,
                       two,
                       {at + "memory.max", "1000000\n"},
                       {at + "memory.current", "300000\n"},
                       {at + "memory.stat", "anon 9\ninactive_file 1000\nactive_file 50\nfile 7777\n"}}),
              701050u)
        << at;
    EXPECT_EQ(left_on({machine, two, {at + "memory.max", "max\n"}, {at + "memory.current", "300000\n"}}),
              5000u << 10)
        << at;
    EXPECT_EQ(left_on({machine, two, {at + "memory.max", "1000\n"}, {at + "memory.current", "3000\n"}}), 0u);
  }
  // Version 1.
  const std::pair<const std::string, std::string> one{"proc/self/cgroup",
                                                      "5:cpu,cpuacct:/x\n4:memory:/a\n0::/\n"};
  for (const std::string at : {"sys/fs/cgroup/memory/a/", "sys/fs/cgroup/memory/"})
    EXPECT_EQ(
        left_on({machine,
                 one,
                 {at + "memory.limit_in_bytes", "2000000\n"},
                 {at + "memory.usage_in_bytes", "500000\n"},
                 {at + "memory.stat", "total_inactive_file 20\ntotal_active_file 1\ninactive_file 3\n"}}),
        1500021u)
        << at;
  EXPECT_GT(memory_left(), 0u);
}

TEST(MemoryWatch, TellsOnceWhenWhatWasLeftIsTouched) {
  std::atomic<int> told{0};
  std::atomic<uint64_t> touched{0};
  const MemoryWatch watch(128 * kMiB, [&](uint64_t bytes) {
    touched = bytes;
    ++told;
  });
  const auto touch = [](uint64_t bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uint64_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(at)[i] = 1;
    return at;
  };
  void* const some = touch(48 * kMiB);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(told, 0);
  void* const more = touch(96 * kMiB);
  for (int i = 0; i < 3000 && told == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(told, 1);
  EXPECT_GE(touched, 96 * kMiB);
  munmap(some, 48 * kMiB);
  munmap(more, 96 * kMiB);
}

// What a snapshot keeps is taken too, though it is in none of the process's own pages, until the snapshot
// ends.
TEST(MemoryWatch, CountsWhatSnapshotsKeep) {
  std::atomic<int> told{0};
  const MemoryWatch watch(128 * kMiB, [&](uint64_t) { ++told; });
  machine::Memory memory;
  machine::Region& r = memory.allocate("x", 64 * kMiB);
  const auto touch = [&] {
    for (uint64_t i = 0; i < r.size(); i += 4096) r.raw_bytes()[i] = std::byte{1};
  };
  touch();
  const uint64_t before = machine::kept_bytes();
  {
    const machine::Snapshot snapshot = memory.snapshot();
    EXPECT_EQ(machine::kept_bytes(), before + 64 * kMiB);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(told, 0);
    touch();
    for (int i = 0; i < 3000 && told == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(told, 1);
    memory.free(r.base());
  }
  EXPECT_EQ(machine::kept_bytes(), before);
}

}  // namespace
}  // namespace bitwell::launch
