// Launches in flight together (PTX ISA 9.0, 9.7.13.13): what a dependent launch sees with
// griddepcontrol.wait, and without.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>

#include "../kernel.h"
#include "verify/capture/captures.h"
#include "verify/launch/file/launch_json.h"

namespace bitwell::run {
namespace {

using Words = std::vector<uint32_t>;
constexpr uint32_t kGrid = 5;
constexpr uint32_t kBlock = 64;

const std::string& ptx() {
  static const std::string path = capture::share_folder("test") + "/dependents.ptx";
  return path;
}

// One launch of `entry` with buffers, and a number behind them if there is one.
struct Of {
  std::string entry;
  std::vector<size_t> buffers;
  std::optional<uint32_t> number{};
  bool programmatic = true;  // not of the first
};

struct Ran {
  std::vector<Words> buffers;
  std::string fault;  // empty: all ended
};

Ran run(const std::vector<Of>& launches, size_t buffers, size_t words, const run::Options& options,
        uint32_t grid = kGrid, uint32_t block = kBlock) {
  launch::Launch l;
  l.ptx = ptx();
  for (size_t i = 0; i < buffers; ++i)
    l.buffers.push_back({"b" + std::to_string(i), std::vector<std::byte>(4 * words), true, false, true});
  for (size_t i = 0; i < launches.size(); ++i) {
    launch::Step s;
    s.ptx = ptx();
    s.entry = launches[i].entry;
    s.programmatic = launches[i].programmatic;
    s.shape.grid = {grid, 1, 1};
    s.shape.block = {block, 1, 1};
    for (const size_t b : launches[i].buffers) s.arguments.push_back({{}, b});
    if (const auto n = launches[i].number; n)
      s.arguments.push_back({std::vector<std::byte>(reinterpret_cast<const std::byte*>(&*n),
                                                    reinterpret_cast<const std::byte*>(&*n + 1)),
                             0});
    if (i != 0) {
      l.then.push_back(s);
      continue;
    }
    l.entry = s.entry;
    l.shape = s.shape;
    l.arguments = s.arguments;
  }
  Ran out;
  try {
    test::run_file(l, options);
  } catch (const machine::Fault& e) {
    out.fault = e.what();
  }
  for (const launch::Buffer& b : l.buffers) {
    Words& w = out.buffers.emplace_back(b.bytes.size() / 4);
    std::memcpy(w.data(), b.bytes.data(), b.bytes.size());
  }
  return out;
}

Words line(uint32_t factor, uint32_t offset) {
  Words out(kGrid * kBlock);
  for (uint32_t i = 0; i < out.size(); ++i) out[i] = factor * i + offset;
  return out;
}

run::Options options_of(Policy policy, uint64_t seed = 1) {
  run::Options options;
  options.schedule = {policy, seed};
  return options;
}

std::vector<run::Options> many_schedules() {
  std::vector<run::Options> out;
  for (const PolicyName& p : run::kPolicies)
    for (uint64_t seed = 0; seed < (p.policy == Policy::random ? 32 : 1); ++seed)
      out.push_back(options_of(p.policy, seed));
  return out;
}

// griddepcontrol.wait sees all that the launch before wrote, however early it starts.
TEST(Dependents, TheWaitSeesAllThatTheLaunchBeforeWrote) {
  for (const run::Options& o : many_schedules()) {
    const Ran r = run({{"produce", {0}}, {"consume", {0, 1}}}, 2, kGrid * kBlock, o);
    EXPECT_EQ(r.fault, "");
    EXPECT_EQ(r.buffers[1], line(3, 11)) << o.schedule.seed;
  }
}

// Also of a launch that ends without a store.
TEST(Dependents, TheWaitSeesAnEndThatChangesNoMemory) {
  for (const run::Options& o : many_schedules())
    EXPECT_EQ(run({{"let_start", {}}, {"consume", {0, 1}}}, 2, kGrid * kBlock, o).fault, "")
        << o.schedule.seed;
}

TEST(Dependents, AChainOfThreeKeepsItsOrder) {
  for (const run::Options& o : many_schedules()) {
    const Ran r = run({{"produce", {0}}, {"consume", {0, 1}}, {"consume", {1, 2}}}, 3, kGrid * kBlock, o);
    EXPECT_EQ(r.fault, "");
    EXPECT_EQ(r.buffers[2], line(3, 21)) << o.schedule.seed;
  }
}

// Also where the one between does not wait: it ends behind the first.
TEST(Dependents, TheWaitIsForAllLaunchesBefore) {
  for (const run::Options& o : many_schedules()) {
    const Ran r = run({{"produce", {0}}, {"let_start", {}}, {"consume", {0, 1}}}, 2, kGrid * kBlock, o);
    EXPECT_EQ(r.fault, "");
    EXPECT_EQ(r.buffers[1], line(3, 11)) << o.schedule.seed;
  }
}

// Without the wait it sees what was there before where it starts early, and what was written where it starts
// late.
TEST(Dependents, WithoutTheWaitTheScheduleDecides) {
  const auto left = [](const run::Options& o) {
    return run({{"produce", {0}}, {"consume_hastily", {0, 1}}}, 2, kGrid * kBlock, o).buffers[1];
  };
  EXPECT_EQ(left(options_of(Policy::lazy)), line(0, 10));
  EXPECT_EQ(left(options_of(Policy::starve_producer)), line(0, 10));
  EXPECT_EQ(left(options_of(Policy::eager)), line(3, 11));
  EXPECT_EQ(left(options_of(Policy::starve_consumer)), line(3, 11));
  EXPECT_EQ(left(options_of(Policy::starve_stores)), line(3, 11));
  std::set<Words> seen;
  for (uint64_t seed = 0; seed < 32; ++seed) seen.insert(left(options_of(Policy::random, seed)));
  EXPECT_EQ(seen.count(line(3, 11)), 1u);
  EXPECT_GT(seen.size(), 2u) << "also in part";
}

// It starts early only where every CTA has said so, where the launch has the attribute, and where there is
// room.
TEST(Dependents, WhoDoesNotLetItStartComesFirst) {
  for (const run::Options& o : many_schedules()) {
    EXPECT_EQ(run({{"produce_silently", {0}}, {"consume_hastily", {0, 1}}}, 2, kGrid * kBlock, o).buffers[1],
              line(3, 11));
    EXPECT_EQ(
        run({{"produce", {0}}, {"consume_hastily", {0, 1}, {}, false}}, 2, kGrid * kBlock, o).buffers[1],
        line(3, 11));
    run::Options alone = o;
    alone.residents = 1;
    EXPECT_EQ(run({{"produce", {0}}, {"consume_hastily", {0, 1}}}, 2, kGrid * kBlock, alone).buffers[1],
              line(3, 11));
  }
}

// A launch that waits for the one behind it may wait for ever: the manual promises no overlap.
TEST(Dependents, WaitingForTheLaunchBehindMayBeADeadlock) {
  const auto fault = [](uint32_t lets_start, Policy policy) {
    return run({{"wait_for_flag", {0}, lets_start}, {"raise_flag", {0}}}, 1, 1, options_of(policy), 1, 1)
        .fault;
  };
  EXPECT_EQ(fault(1, Policy::lazy), "");
  EXPECT_NE(
      fault(1, Policy::eager)
          .find("the launch behind it, 'raise_flag', has not started: under this schedule it starts when the "
                "one before has ended, which a device may do too"),
      std::string::npos)
      << fault(1, Policy::eager);
  EXPECT_NE(fault(0, Policy::lazy)
                .find("has not started: griddepcontrol.launch_dependents is still to come from 1 CTA"),
            std::string::npos)
      << fault(0, Policy::lazy);
}

// The waiter is named where the launch before cannot end.
TEST(Dependents, ADeadlockSaysWhoWaitsForTheLaunchBefore) {
  run::Options o = options_of(Policy::lazy);
  const Ran r = run({{"wait_for_flag", {0}, 1}, {"consume", {0, 1}}}, 2, 1, o, 1, 1);
  EXPECT_NE(r.fault.find("deadlock"), std::string::npos) << r.fault;
  EXPECT_NE(r.fault.find("'consume' waits at griddepcontrol.wait for the end of 'wait_for_flag'"),
            std::string::npos)
      << r.fault;
}

// How LAUNCH.json says it.
TEST(Dependents, TheAttributeOfALaunchFile) {
  const auto read = [](const std::string& then) {
    const std::string path = testing::TempDir() + "/dependents.json";
    std::ofstream(path)
        << R"({"ptx": ")" << ptx()
        << R"(", "entry": "produce", "grid": [1], "block": [1], "arguments": [{"buffer": "x", "zeros": 4}], "then": [)"
        << then << "]}";
    try {
      return std::to_string(launch::read_launch(path).launch.then.back().programmatic);
    } catch (const machine::InputError& e) {
      return std::string(e.what());
    }
  };
  const std::string launch =
      R"({"entry": "consume", "grid": [1], "block": [1], "arguments": [{"pointer": "x"}, {"pointer": "x"}])";
  EXPECT_EQ(read(launch + "}"), "0");
  EXPECT_EQ(read(launch + R"(, "programmatic_stream_serialization": true})"), "1");
  EXPECT_NE(
      read(R"({"fill": {"buffer": "x"}}, )" + launch + R"(, "programmatic_stream_serialization": true})")
          .find("is of a launch right behind another one"),
      std::string::npos);
}

}  // namespace
}  // namespace bitwell::run
