// Random programs, simulator against GPU, every byte that they leave. ptxas makes their machine code without
// optimising, as its optimiser does not always keep to the manual: BITWELL_OPTIMISATION=4 shows what it does.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "../kernel.h"
#include "gpu.h"
#include "verify/program/program.h"
#include "verify/suite/parallel.h"

namespace bitwell::device {
namespace {

constexpr size_t kModule = 50;  // programs a module: the driver compiles them together
constexpr size_t kPart = 100;   // programs a process
constexpr size_t kShrunk = 3;   // programs that differ are made smaller, of a process
constexpr std::chrono::seconds kLimit{20};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The first byte that differs, or a fault on either; empty: none.
std::string difference(const launch::Launch& simulated, const launch::Launch& on_gpu) {
  for (size_t b = 0; b < simulated.buffers.size(); ++b) {
    const auto& here = simulated.buffers[b].bytes;
    const auto& there = on_gpu.buffers[b].bytes;
    for (size_t i = 0; i < here.size(); ++i)
      if (here[i] != there[i]) {
        char text[160];
        std::snprintf(text, sizeof text, "byte %zu of '%s': %02x here, %02x on the GPU", i,
                      simulated.buffers[b].name.c_str(), static_cast<unsigned>(here[i]),
                      static_cast<unsigned>(there[i]));
        if (simulated.buffers[b].name == "own")
          return text +
                 (" (byte " + std::to_string(i % program::kOwnBytes) + " of thread " +
                  std::to_string(i / program::kOwnBytes)) +
                 ")";
        return text;
      }
  }
  return "";
}

class Programs {
 public:
  explicit Programs(Device& device) : device_(device) {}

  // How each of them differs.
  std::vector<std::string> compare(std::span<const program::RandomProgram> programs) {
    const std::string text = program::module_of(programs);
    std::shared_ptr<Device::Module> loaded;
    try {
      loaded = device_.load(text, static_cast<unsigned>(number_from("BITWELL_OPTIMISATION", 0)));
    } catch (const std::exception& e) {  // which of them?
      if (programs.size() == 1) return {e.what()};
      std::vector<std::string> out;
      for (const program::RandomProgram& p : programs) out.push_back(compare({&p, 1}).at(0));
      return out;
    }
    const test::Module module = test::module_of(text);
    std::vector<std::string> out;
    for (const program::RandomProgram& p : programs) {
      launch::Launch simulated = program::launch_of(p);
      launch::Launch on_gpu = simulated;
      try {
        test::run_ptx(module, simulated);
        device_.run(*loaded, on_gpu, kLimit);
        for (const launch::Buffer& b : on_gpu.buffers)
          if (b.output) bytes_ += b.bytes.size();
        out.push_back(difference(simulated, on_gpu));
      } catch (const std::exception& e) {
        out.emplace_back(e.what());
        if (!device_.usable()) return out;  // the rest has not run
      }
    }
    return out;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  Device& device_;
  uint64_t bytes_ = 0;
};

using Wrong = std::pair<program::RandomProgram, std::string>;  // and how it differs

// The smallest that still differs, with its statements.
void report(Device& device, Programs& on, const Wrong& wrong) {
  std::string last = wrong.second;
  const program::RandomProgram small = program::shrunk(
      wrong.first,
      [&](const program::RandomProgram& p) {
        const std::vector<std::string> differ =
            !device.usable() ? std::vector<std::string>{} : on.compare({&p, 1});
        if (differ.empty() || differ[0].empty()) return false;
        last = differ[0];
        return true;
      },
      300);
  ADD_FAILURE() << "seed " << small.seed << ", grid " << small.grid << ", block " << small.block << ", "
                << program::statements(small) << " of " << program::statements(wrong.first)
                << " statements: " << last << "\n"
                << program::listing(small);
}

// The programs of this process: seeds from `first` on.
void compare_here(Device& device, uint64_t first, uint64_t wanted) {
  Programs on(device);
  std::vector<Wrong> wrong;
  for (uint64_t done = 0; done < wanted && device.usable(); done += kModule) {
    std::vector<program::RandomProgram> programs;
    for (uint64_t n = done; n < std::min(wanted, done + kModule); ++n)
      programs.push_back(program::draw_program(first + n));
    const std::vector<std::string> differ = on.compare(programs);
    for (size_t i = 0; i < differ.size(); ++i) {
      if (differ[i].empty()) continue;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(programs[i].seed), differ[i].c_str());
      wrong.emplace_back(programs[i], differ[i]);
    }
    std::printf("%llu programs from seed %llu on, %llu bytes, %zu programs differ\n",
                static_cast<unsigned long long>(done + differ.size()), static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(on.bytes()), wrong.size());
    std::fflush(stdout);
  }
  for (size_t i = 0; i < std::min(wrong.size(), kShrunk) && device.usable(); ++i)
    report(device, on, wrong[i]);
  EXPECT_TRUE(wrong.empty());
  EXPECT_TRUE(device.usable()) << "programs left out: the context ended with one of them";
}

// This test again in other processes, so many at once, a part of the programs each: the driver compiles one
// module a process at a time, and a program that ends its context leaves out the rest of its part alone.
void compare_in_processes(uint64_t first, uint64_t wanted, uint64_t processes, uint64_t at_once) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<int> statuses(processes);
  suite::each_in_parallel(processes, static_cast<int>(at_once), [&](size_t i) {
    const uint64_t from = wanted * i / processes, to = wanted * (i + 1) / processes;
    statuses[i] = std::system(("BITWELL_PROCESSES=1 BITWELL_SEED=" + std::to_string(first + from) +
                               " BITWELL_PROGRAMS=" + std::to_string(to - from) + " '" + self +
                               "' --gtest_brief=1 --gtest_filter=ProgramsOnGpu.EveryByteIsTheSame")
                                  .c_str());
  });
  EXPECT_EQ(statuses, std::vector<int>(processes));
}

// The instructions of these programs, which all left the simulator's bytes there: programs.txt among the
// captures.
void record_instructions(const Device& device, uint64_t first, uint64_t wanted) {
  const char* folder = std::getenv("BITWELL_CAPTURES");
  if (folder == nullptr || testing::Test::HasFailure()) return;
  std::set<std::string> all;
  for (uint64_t seed = first; seed < first + wanted; ++seed)
    all.merge(program::instructions_of(program::draw_program(seed)));
  std::ofstream out(std::string(folder) + "/programs.txt");
  out << "# What " << wanted << " random programs (seeds from " << first
      << " on) consist of, which left the simulator's bytes on " << device.name() << ", driver "
      << device.driver() << ".\n";
  for (const std::string& name : all) out << name << "\n";
}

TEST(ProgramsOnGpu, EveryByteIsTheSame) {
  const uint64_t wanted = number_from("BITWELL_PROGRAMS", 500), first = number_from("BITWELL_SEED", 0);
  const uint64_t cores = std::min<uint64_t>(std::thread::hardware_concurrency(), 16);
  const uint64_t processes = number_from("BITWELL_PROCESSES", (wanted + kPart - 1) / kPart);
  BITWELL_NEEDS_GPU(device);
  const auto start = std::chrono::steady_clock::now();
  if (processes > 1)
    compare_in_processes(first, wanted, processes, cores), record_instructions(*device, first, wanted);
  else
    compare_here(*device, first, wanted);
  std::printf("%.0f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace
}  // namespace bitwell::device
