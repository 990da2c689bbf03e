// Clusters that are resident together: what CTAs do that wait for each other through global memory.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <set>

#include "../kernel.h"
#include "verify/capture/captures.h"

namespace bitwell::run {
namespace {

using Words = std::vector<uint32_t>;

launch::Buffer buffer(const std::string& name, const Words& words) {
  launch::Buffer b{name, {}, true, false, true};
  b.bytes.resize(4 * words.size());
  std::memcpy(b.bytes.data(), words.data(), b.bytes.size());
  return b;
}

struct Run {
  std::vector<Words> buffers;
  std::string fault;  // empty: it ended
};

// `numbers` are the entry's scalars, behind the buffers.
Run run(const std::string& entry, uint32_t grid, uint32_t block, const std::vector<Words>& buffers,
        const Words& numbers, const run::Options& options) {
  launch::Launch l;
  l.ptx = capture::share_folder("test") + "/residents.ptx";
  l.entry = entry;
  l.shape.grid = {grid, 1, 1};
  l.shape.block = {block, 1, 1};
  for (size_t i = 0; i < buffers.size(); ++i) l.add_buffer(buffer("buffer" + std::to_string(i), buffers[i]));
  for (const uint32_t n : numbers) l.add_scalar(n);
  Run out;
  try {
    test::run_file(l, options);
  } catch (const machine::Fault& e) {
    out.fault = e.what();
  }
  for (const launch::Buffer& b : l.buffers) {
    Words& words = out.buffers.emplace_back(b.bytes.size() / 4);
    std::memcpy(words.data(), b.bytes.data(), b.bytes.size());
  }
  return out;
}

run::Options under(Policy policy, uint64_t seed = 1, std::optional<uint64_t> residents = {}) {
  run::Options options;
  options.schedule = {policy, seed};
  options.residents = residents;
  return options;
}

Words random_words(size_t count, uint32_t below) {
  return *rc::gen::container<Words>(count, rc::gen::inRange<uint32_t>(0, below));
}

// As many resident clusters as the launch has, or more; none: those of an H200.
std::optional<uint64_t> enough(uint32_t grid) {
  return *rc::gen::element<std::optional<uint64_t>>(std::nullopt, grid, grid + 1, 1000);
}

run::Options any_schedule(uint32_t grid) {
  const auto policy =
      *rc::gen::elementOf(std::vector<PolicyName>(run::kPolicies.begin(), run::kPolicies.end()));
  return under(policy.policy, *rc::gen::inRange<uint64_t>(0, 100), enough(grid));
}

// What two CTAs of one thread leave that run `body` on two words, under the random schedule of each of these
// seeds.
std::set<Words> ends_of_two(const std::string& body, uint64_t seeds) {
  const test::Module module = test::module_of(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 words)
{
.reg .b32 %r<4>;
.reg .b64 %a;
ld.param.u64 %a, [words];
mov.u32 %r0, %ctaid.x;
)" + body + "ret;\n}\n");
  std::set<Words> out;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    launch::Launch l;
    l.entry = "k";
    l.shape.grid = {2, 1, 1};
    l.add_buffer(buffer("words", {0, 0}));
    test::run_ptx(module, l, under(Policy::random, seed));
    Words words(2);
    std::memcpy(words.data(), l.buffers[0].bytes.data(), 8);
    out.insert(words);
  }
  return out;
}

// A store and an atomic each: all four ends come, those in which one CTA runs between the other's two
// accesses among them, and few seeds are enough.
TEST(Residents, RandomSchedulesDrawAmongThem) {
  const std::string store = "st.global.u32 [%a], %r0;\n",
                    exchange = "atom.global.exch.b32 %r1, [%a+4], %r0;\n";
  const std::set<Words> all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(ends_of_two(store + exchange, 100), all);
  EXPECT_EQ(ends_of_two(exchange + store, 100), all);
  EXPECT_GE(ends_of_two(store + exchange, 11).size(), 2u);  // so many are of --schedules 16
}

// Every CTA sees what all wrote before a barrier of the grid, however often it comes to one.
RC_GTEST_PROP(Residents, AGridBarrierHolds, ()) {
  const auto grid = *rc::gen::inRange<uint32_t>(1, 40);
  const auto rounds = *rc::gen::inRange<uint32_t>(0, 5);
  Words values = random_words(grid, 1000);
  values.resize(size_t{2} * grid);
  const auto result = run("grid_barrier", grid, 64, {values, {0}}, {rounds}, any_schedule(grid));
  for (uint32_t r = 0; r < rounds; ++r)
    for (uint32_t i = 0; i < grid; ++i) {
      const uint32_t* from = &values[r % 2 * grid];
      values[(r + 1) % 2 * grid + i] = 3 * from[i] + from[(i + 1) % grid];
    }
  RC_ASSERT(result.fault == "");
  RC_ASSERT(result.buffers[0] == values);
  RC_ASSERT(result.buffers[1] == Words{grid * rounds});
}

// A wait that counts its pauses never looks the same twice, and gives way all the same.
TEST(Residents, AWaitThatCountsItsPausesGivesWay) {
  constexpr uint32_t kGrid = 20;
  for (const PolicyName& p : run::kPolicies) {
    const auto result = run("patient_barrier", kGrid, 32, {{0}, {0}, Words(kGrid)}, {}, under(p.policy));
    EXPECT_EQ(result.fault, "") << p.name;
    EXPECT_EQ(result.buffers[0], Words{kGrid * (kGrid - 1) / 2}) << p.name;
    for (const uint32_t w : result.buffers[2]) EXPECT_TRUE(w == 1 || w == result.buffers[0][0]) << p.name;
  }
}

// The owner of an output, which starts first, gets what the others bring.
RC_GTEST_PROP(Residents, SplitsOfKReachTheirOwner, ()) {
  constexpr uint32_t kBlock = 32;
  const auto tiles = *rc::gen::inRange<uint32_t>(1, 8);
  const auto splits = *rc::gen::inRange<uint32_t>(1, 8);
  const uint32_t ctas = tiles * splits;
  const Words input = random_words(size_t{ctas} * kBlock, 1 << 20);
  const auto result = run("owner_first", ctas, kBlock,
                          {input, Words(input.size()), Words(ctas), Words(size_t{tiles} * kBlock)}, {splits},
                          any_schedule(ctas));
  RC_ASSERT(result.fault == "");
  for (uint32_t t = 0; t < tiles; ++t)
    for (uint32_t i = 0; i < kBlock; ++i) {
      uint32_t sum = 0;
      for (uint32_t s = 0; s < splits; ++s) sum = sum * 5 + input[(t * splits + s) * kBlock + i] * (s + 1);
      RC_ASSERT(result.buffers[3][t * kBlock + i] == sum);
    }
}

// A scan by decoupled look-back ends, also where those that look back start first.
RC_GTEST_PROP(Residents, AScanThatLooksBackIsTheSum, ()) {
  const auto tiles = *rc::gen::inRange<uint32_t>(1, 100);
  const auto reverse = *rc::gen::inRange<uint32_t>(0, 2);
  const Words input = random_words(tiles, 1 << 20);
  const auto result =
      run("look_back", tiles, 32, {input, Words(tiles), Words(tiles)}, {reverse}, any_schedule(tiles));
  RC_ASSERT(result.fault == "");
  uint32_t sum = 0;
  for (uint32_t t = 0; t < tiles; ++t) RC_ASSERT(result.buffers[2][t] == (sum += input[t]));
}

// Stream-K: every tile is the sum of its steps, however the CTAs share them.
RC_GTEST_PROP(Residents, StreamKSumsEveryTile, ()) {
  const auto tiles = *rc::gen::inRange<uint32_t>(1, 10);
  const auto steps = *rc::gen::inRange<uint32_t>(1, 10);
  const auto ctas = *rc::gen::inRange<uint32_t>(1, tiles * steps + 1);
  const Words input = random_words(size_t{tiles} * steps, 1 << 20);
  const auto result = run("stream_k", ctas, 32, {input, Words(ctas), Words(ctas), Words(tiles)},
                          {tiles, steps}, any_schedule(ctas));
  RC_ASSERT(result.fault == "");
  for (uint32_t t = 0; t < tiles; ++t) {
    uint32_t sum = 0;
    for (uint32_t s = 0; s < steps; ++s) sum += input[t * steps + s];
    RC_ASSERT(result.buffers[3][t] == sum);
  }
}

// The same seed gives the same bits, also of who read what when.
TEST(Residents, TheSameSeedGivesTheSameRun) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto once = [&] {
      return run("patient_barrier", 9, 32, {{0}, {0}, Words(9)}, {}, under(Policy::random, seed)).buffers;
    };
    EXPECT_EQ(once(), once()) << seed;
  }
}

// More CTAs than are resident at once never meet. The report names the one that cannot start.
TEST(Residents, ABarrierOfMoreThanAreResidentIsADeadlockThatNamesWhoCannotStart) {
  for (const PolicyName& p : run::kPolicies)
    for (const uint64_t residents : {1, 2, 7}) {
      const auto options = under(p.policy, 1, residents);
      const std::string fault = run("grid_barrier", 8, 32, {Words(16), {0}}, {1}, options).fault;
      const std::string next = "CTA (" + std::to_string(residents) + ",0,0)";
      EXPECT_NE(fault.find("deadlock: nothing can run"), std::string::npos) << p.name << ": " << fault;
      EXPECT_NE(fault.find("it may wait for " + next +
                           " or a later one, which starts only when a resident cluster ends"),
                std::string::npos)
          << p.name << ": " << fault;
    }
}
// As many as an H200 holds: 132 multiprocessors with 32 CTAs each.
TEST(Residents, AnH200HoldsSoManyCtas) {
  constexpr uint32_t kMost = 132 * 32;
  EXPECT_EQ(run("grid_barrier", kMost, 1, {Words(2 * kMost), {0}}, {1}, {}).fault, "");
  const std::string fault = run("grid_barrier", kMost + 1, 1, {Words(2 * kMost + 2), {0}}, {1}, {}).fault;
  EXPECT_NE(fault.find("it may wait for CTA (4224,0,0) or a later one"), std::string::npos) << fault;
}

}  // namespace
}  // namespace bitwell::run
