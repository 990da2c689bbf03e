// An exploration in parts, and on several host threads: the same runs in the same order as in one go.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "../kernel.h"
#include "verify/launch/start.h"
#include "verify/schedules/search.h"
#include "warps.h"

namespace bitwell::explore {
namespace {

// A run: its turns, and what it left; of one that was given up nothing.
using Made = std::vector<std::pair<std::string, Words>>;

class Parts {
 public:
  // What is drawn says when a part is given away, and when it is explored; 0: none is.
  Parts(const launch::Launch& launch, uint64_t seed)
      : launch_(launch), start_(launch), seed_(seed), draws_(seed) {}

  Made all() {
    Explorer whole(launch_.shape, 1 << 14);
    return explore(whole);
  }
  size_t taken = 0, kept = 0;

 private:
  struct Given {
    std::unique_ptr<Explorer> part;
    std::optional<Made> made;
  };

  bool drawn() { return seed_ != 0 && draws_() % 2 == 0; }

  Made explore(Explorer& explorer) {
    Made out;
    std::map<const Explorer*, Given> given;
    for (;;) switch (explorer.next()) {
        case Explorer::Next::over: return out;
        case Explorer::Next::run:
          out.push_back(run(explorer));
          while (drawn()) {
            std::unique_ptr<Explorer> part = explorer.give(draws_() % 8);
            if (part == nullptr) break;
            Given& g = given[part.get()];
            if (drawn()) g.made = explore(*part);
            g.part = std::move(part);
          }
          break;
        case Explorer::Next::part: {
          Given& g = given.at(explorer.part());
          if (!g.made && drawn()) {
            ++kept;
            explorer.keep();
            break;
          }
          if (!g.made) g.made = explore(*g.part);
          ++taken;
          explorer.take(*g.part);
          out.insert(out.end(), g.made->begin(), g.made->end());
        }
      }
  }

  std::pair<std::string, Words> run(Explorer& explorer) {
    run::Options options;
    options.chooser = &explorer;
    options.observers.push_back(explorer.observer());
    std::pair<std::string, Words> out;
    try {
      out.second = words_of(start_.run(options, true).buffer(launch_, 0));
    } catch (const machine::Fault&) {
      out.second = {1};
    } catch (const Explorer::Pruned&) {
    }
    explorer.end();
    out.first = text_of(explorer.order());
    return out;
  }

  const launch::Launch& launch_;
  const launch::Start start_;
  const uint64_t seed_;
  std::mt19937_64 draws_;
};

Warps drawn_warps(uint64_t seed) {
  std::mt19937_64 draws(seed);
  Warps out(2 + draws() % 3);
  for (auto& steps : out) {
    steps.resize(1 + draws() % (out.size() == 4 ? 2 : 3));
    for (Step& s : steps)
      s = {static_cast<Step::Kind>(draws() % 4), static_cast<uint32_t>(draws() % 2),
           static_cast<uint32_t>(1 + draws() % 3)};
  }
  return out;
}

TEST(ExploredInParts, RunsAreThoseOfOneGo) {
  size_t taken = 0, kept = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const launch::Launch launch = launch_of(drawn_warps(seed));
    const Made whole = Parts(launch, 0).all();
    Parts parts(launch, seed);
    ASSERT_EQ(parts.all(), whole) << seed;
    taken += parts.taken;
    kept += parts.kept;
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_GT(kept, 100u);
}

// Each warp adds to a word without an atomic; `tail` by %p1: whether it read 0.
launch::Launch adds(size_t warps, const std::string& tail = "") {
  const std::string ptx =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel(.param .u64 pout)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;\nld.param.u64 %a0, [pout];\nmov.u32 %r0, %tid.x;\n"
      "and.b32 %r0, %r0, 31;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 ret;\nld.volatile.global.u32 %r2, [%a0];\n"
      "setp.eq.u32 %p1, %r2, 0;\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%a0], %r2;\n" +
      tail + "ret;\n}\n";
  return launch_of(ptx, warps, 1);
}

// In the midst of a turn; all that others would have done before it is then to be tried.
TEST(ExploredInParts, FaultsAreThoseOfOneGo) {
  size_t faults = 0, taken = 0;
  const auto same = [&](const launch::Launch& launch, uint64_t seed) {
    const Made whole = Parts(launch, 0).all();
    for (const auto& [order, words] : whole) faults += words == Words{1} ? 1 : 0;
    Parts parts(launch, seed);
    EXPECT_EQ(parts.all(), whole) << seed;
    taken += parts.taken;
  };
  for (uint64_t seed = 1; seed <= 5; ++seed)
    same(adds(3, "@%p1 ld.volatile.global.u32 %r3, [%a0+4];\nst.global.u32 [%a0], 9;\n"), seed);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Warps warps = drawn_warps(seed);
    std::string ptx = ptx_of(warps);
    const std::string load = "ld.volatile.global.u32 %r2, [%a0+", whole = load + "4]", torn = load + "5]";
    for (size_t at = ptx.find(whole); at != std::string::npos; at = ptx.find(whole, at))
      ptx.replace(at, whole.size(), torn);
    same(launch_of(ptx, warps.size(), kWords + warps.size() * kOutputs), seed);
  }
  EXPECT_GT(faults, 100u);
  EXPECT_GT(taken, 300u);
}

std::string told(const schedules::Exhausted& e) {
  std::string out = std::to_string(e.runs) + " " + std::to_string(e.pruned) + " " + std::to_string(e.turns) +
                    (e.complete ? " complete" : "");
  for (const schedules::Ended& end : e.ends) {
    out += "\n" + std::to_string(end.runs) + " " + schedules::schedule_of(end) + " " + end.fault;
    for (const auto& buffer : end.buffers)
      for (const std::byte b : buffer) out += " " + std::to_string(static_cast<int>(b));
  }
  return out;
}

std::string on(unsigned threads, const launch::Launch& launch, uint64_t most) {
  run::Options options;
  options.threads = threads;
  return told(schedules::exhaust(launch, options, most));
}

// Cut off anywhere, too; where the last run is the last that is asked for, nobody has looked behind it.
TEST(ExhaustOnThreads, IsTheSameForAnyNumber) {
  const std::string fault = "@%p1 ld.volatile.global.u32 %r3, [%a0+4];\n";
  for (const launch::Launch& launch : {adds(4), adds(3, fault)}) {
    const schedules::Exhausted whole = schedules::exhaust(launch, {}, 1 << 20);
    ASSERT_TRUE(whole.complete);
    const uint64_t all = whole.runs + whole.pruned;
    for (const uint64_t most : {uint64_t{1}, uint64_t{2}, all / 2, all - 1, all, all + 1, 2 * all}) {
      const std::string one = on(1, launch, most);
      EXPECT_EQ(one.find("complete") != std::string::npos, most > all) << one;
      for (const unsigned threads : {2u, 7u, 16u}) EXPECT_EQ(on(threads, launch, most), one) << most;
    }
  }
  const std::string some = on(1, adds(6), 1500);
  for (const unsigned threads : {2u, 7u, 16u}) EXPECT_EQ(on(threads, adds(6), 1500), some);
}

// What a run throws is told where one go comes to that run, and only there.
TEST(ExhaustOnThreads, ThrowsWhatOneGoThrows) {
  const launch::Launch launch = adds(4);
  const launch::Start start(launch);
  const auto thrown = [&](unsigned threads, uint64_t most) -> std::string {
    const auto run = [&](Explorer& explorer, bool) -> std::optional<schedules::Ended> {
      run::Options options;
      options.chooser = &explorer;
      options.observers.push_back(explorer.observer());
      try {
        const launch::Ran ran = start.run(options, true);
        if (words_of(ran.buffer(launch, 0))[0] == 2) throw std::runtime_error(text_of(explorer.order()));
        return schedules::Ended();
      } catch (const Explorer::Pruned&) {
        return std::nullopt;
      }
    };
    try {
      schedules::Search(most, run, nullptr).run(std::make_unique<Explorer>(launch.shape, 100), threads);
      return "";
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  };
  uint64_t first = 1;
  while (first < 1000 && thrown(1, first).empty()) ++first;
  ASSERT_GT(first, 2u);
  ASSERT_LT(first, 1000u);
  for (const uint64_t most : {first - 1, first, first + 1000})
    for (const unsigned threads : {2u, 7u}) EXPECT_EQ(thrown(threads, most), thrown(1, most)) << most;
}

// Parts that are behind each other: what counts is cut off, and the first of each kind is told.
TEST(ExhaustOnThreads, RunsOfPartsAreCutOffInTheirOrder) {
  const schedules::Ways::Way one{"", {}, {}}, two{"fault", {}, {}};
  const Order first{{{0, 1, 0}, 1}}, second{{{0, 2, 0}, 1}};
  schedules::Found found, more;
  found.runs = {{&one, 5}, {nullptr, 9}};
  found.firsts[&one] = {"", first};
  more.runs = {{&one, 6}, {&two, 7}};
  more.firsts[&one] = {"", second};
  more.firsts[&two] = {"fault\nand more", second};
  more.thrown = std::make_exception_ptr(std::runtime_error("last"));
  found.append(std::move(more));
  EXPECT_EQ(told(found.told(3)), "2 1 6\n2 order:0:1 ");
  EXPECT_EQ(told(found.told(4)), "3 1 7\n2 order:0:1 \n1 order:0:2 fault\nand more");
  EXPECT_THROW(found.told(5), std::runtime_error);
}

TEST(ExhaustOnThreads, IsToldOfByTheCallersThread) {
  run::Options options;
  options.threads = 7;
  const std::thread::id caller = std::this_thread::get_id();
  // On a busy host the others may have run all before the caller's thread comes to a run of its own.
  uint64_t told = 0;
  for (int searches = 0; told == 0 && searches < 100; ++searches) {
    uint64_t last = 0;
    schedules::exhaust(adds(4), options, 1000, [&](uint64_t runs, uint64_t pruned) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_GT(runs + pruned, last);
      last = runs + pruned;
      ++told;
    });
  }
  EXPECT_GT(told, 0u);
}

}  // namespace
}  // namespace bitwell::explore
