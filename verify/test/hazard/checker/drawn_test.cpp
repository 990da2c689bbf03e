// Random runs, and a plain check beside the checker's: for each byte a list of all who reached it, and for
// each thread how far it knows every other.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "trace.h"

namespace bitwell::hazard {
namespace {

constexpr uint32_t kCtas = 4, kClusterCtas = 2, kWarps = 3, kLanes = 4;
constexpr uint32_t kLaneNumbers[kLanes] = {0, 1, 2, 31};
constexpr uint32_t kThreads = kCtas * kWarps * kLanes;

uint32_t cta_of(uint32_t thread) { return thread / (kWarps * kLanes); }
uint32_t cluster_of(uint32_t thread) { return cta_of(thread) / kClusterCtas; }
uint32_t thread_of(uint32_t cta, uint32_t warp, uint32_t lane) {
  return (cta * kWarps + warp) * kLanes + lane;
}

class Plain {
 public:
  Plain() {
    for (uint32_t t = 0; t < kThreads; ++t) known_[t][t] = 1;
  }

  // Whether it races with anything that has reached one of the bytes.
  bool reach(uint32_t thread, AccessKind kind, const Order& order, uint64_t address, uint64_t size) {
    const Act me{thread, ++known_[thread][thread], kind, order};
    bool races = false;
    for (uint64_t at = address; at < address + size; ++at) {
      std::vector<Act>& all = bytes_[at];
      races = races || std::any_of(all.begin(), all.end(), [&](const Act& a) { return race(a, me); });
      // A write stands for what was before it, but for accesses that race with more than it does.
      if (kind != AccessKind::read)
        std::erase_if(all, [&](const Act& a) { return strength(me.order) <= strength(a.order); });
      all.push_back(me);
    }
    return races;
  }
  void meet(const std::vector<uint32_t>& threads) {
    Clock all{};
    for (const uint32_t t : threads) join(all, known_[t]);
    for (const uint32_t t : threads) known_[t] = all, ++known_[t][t];
  }
  void release(uint32_t thread, uint64_t flag) {
    flags_[flag] = known_[thread];
    ++known_[thread][thread];
  }
  void acquire(uint32_t thread, uint64_t flag) { join(known_[thread], flags_[flag]); }
  void update(uint32_t thread, uint64_t flag) {
    acquire(thread, flag);
    join(flags_[flag], known_[thread]);
    ++known_[thread][thread];
  }

 private:
  using Clock = std::array<uint32_t, kThreads>;
  struct Act {
    uint32_t thread, time;
    AccessKind kind;
    Order order;
  };

  static void join(Clock& to, const Clock& more) {
    for (uint32_t t = 0; t < kThreads; ++t) to[t] = std::max(to[t], more[t]);
  }
  static int strength(const Order& o) {
    return o.semantics == Semantics::weak ? 0 : 1 + static_cast<int>(o.scope);
  }
  bool race(const Act& a, const Act& b) const {
    if (a.kind == AccessKind::read && b.kind == AccessKind::read) return false;
    if (known_[b.thread][a.thread] >= a.time) return false;
    const Scope needed = cta_of(a.thread) == cta_of(b.thread)           ? Scope::cta
                         : cluster_of(a.thread) == cluster_of(b.thread) ? Scope::cluster
                                                                        : Scope::gpu;
    const auto reaches = [&](const Order& o) { return o.semantics != Semantics::weak && o.scope >= needed; };
    return !reaches(a.order) || !reaches(b.order);
  }

  std::array<Clock, kThreads> known_{};
  std::map<uint64_t, std::vector<Act>> bytes_;
  std::map<uint64_t, Clock> flags_;
};

class Drawn {
 public:
  explicit Drawn(uint64_t seed) : random_(seed), trace_({kCtas, 1, 1}, {kClusterCtas, 1, 1}) {
    for (uint32_t c = 0; c < kCtas / kClusterCtas; ++c) meet_in_cluster(c);
  }

  // Whether both agree on what happens next.
  bool step() {
    const uint32_t cta = draw(kCtas), warp = draw(kWarps);
    switch (draw(10)) {
      case 0: return meet_in_warp(cta, warp), true;
      case 1: return meet_in_cta(cta), true;
      case 2: return draw(3) == 0 ? meet_in_cluster(cta / kClusterCtas) : void(), true;
      case 3:
      case 4: return flag(cta, warp), true;
      default: return access(cta, warp);
    }
  }
  const std::string& said() const { return said_; }
  size_t races() const { return races_; }

 private:
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  static uint32_t mask(uint32_t chosen) {
    uint32_t out = 0;
    for (uint32_t l = 0; l < kLanes; ++l) out |= (chosen >> l & 1) << kLaneNumbers[l];
    return out;
  }
  void meet_in_warp(uint32_t cta, uint32_t warp) {
    const uint32_t chosen = 1 + draw((1 << kLanes) - 1);
    std::vector<uint32_t> threads;
    for (uint32_t l = 0; l < kLanes; ++l)
      if ((chosen >> l & 1) != 0) threads.push_back(thread_of(cta, warp, l));
    trace_.meets(100, {{cta, 0, 0}, static_cast<int>(warp), mask(chosen)}, Sync::warp_met);
    plain_.meet(threads);
  }
  // All warps, or all but one.
  void meet_in_cta(uint32_t cta) {
    const uint32_t without = draw(2 * kWarps);
    std::vector<uint32_t> threads;
    std::vector<Who> all;
    for (uint32_t w = 0; w < kWarps; ++w) {
      if (w == without) continue;
      all.push_back({{cta, 0, 0}, static_cast<int>(w), kAll});
      for (uint32_t l = 0; l < kLanes; ++l) threads.push_back(thread_of(cta, w, l));
    }
    trace_.bar(101, all, draw(2), all.size() == kWarps ? 0 : 32 * (kWarps - 1));
    plain_.meet(threads);
  }
  void meet_in_cluster(uint32_t cluster) {
    std::vector<uint32_t> threads;
    std::vector<Who> all;
    for (uint32_t c = cluster * kClusterCtas; c < (cluster + 1) * kClusterCtas; ++c)
      for (uint32_t w = 0; w < kWarps; ++w) {
        all.push_back({{c, 0, 0}, static_cast<int>(w), kAll});
        for (uint32_t l = 0; l < kLanes; ++l) threads.push_back(thread_of(c, w, l));
      }
    trace_.cluster_bar(102, all, phases_[cluster]++);
    plain_.meet(threads);
  }
  void flag(uint32_t cta, uint32_t warp) {
    const uint32_t lane = draw(kLanes), thread = thread_of(cta, warp, lane), number = draw(2);
    const bool inside = draw(2) == 0;
    const uint64_t address = inside ? shared(number, 8192) : global(8192 + 64 * number);
    const uint64_t name = address + (inside ? uint64_t{cta / kClusterCtas} << 60 : 0);
    const Who who{{cta, 0, 0}, static_cast<int>(warp), 1u << kLaneNumbers[lane]};
    switch (draw(3)) {
      case 0:
        trace_.write(110, who, address, {Semantics::release, Scope::gpu});
        return plain_.release(thread, name);
      case 1:
        trace_.read(111, who, address, {Semantics::acquire, Scope::gpu});
        return plain_.acquire(thread, name);
      default:
        trace_.access(112, who, AccessKind::update, address, {Semantics::acq_rel, Scope::gpu});
        return plain_.update(thread, name);
    }
  }
  bool access(uint32_t cta, uint32_t warp) {
    constexpr AccessKind kKinds[] = {AccessKind::read,  AccessKind::read,  AccessKind::read,
                                     AccessKind::write, AccessKind::write, AccessKind::update};
    const AccessKind kind = kKinds[draw(6)];
    const bool weak = draw(5) < 3;
    const Order order = weak ? Order{} : Order{Semantics::relaxed, static_cast<Scope>(draw(3))};
    const uint64_t size = uint64_t{1} << draw(5);
    const uint32_t chosen = draw(2) == 0 ? 1u << draw(kLanes) : 1 + draw((1 << kLanes) - 1);
    // Of lanes that write one place the manual leaves it to one: here they do not.
    const bool apart = (weak && kind != AccessKind::read) || draw(2) == 0;
    const bool inside = draw(2) == 0;
    const uint32_t rank = draw(kClusterCtas);
    const uint64_t start = (inside ? shared(rank, 160) : global(160)) + size * draw(192 / size);
    std::array<uint64_t, 32> addresses{};
    bool raced = false;
    std::vector<std::pair<uint32_t, uint64_t>> lanes;
    for (uint32_t l = 0, n = 0; l < kLanes; ++l) {
      if ((chosen >> l & 1) == 0) continue;
      addresses[kLaneNumbers[l]] = start + (apart ? size * n++ : 0);
      lanes.emplace_back(l, addresses[kLaneNumbers[l]]);
    }
    const uint64_t name = inside ? uint64_t{cta / kClusterCtas} << 60 : 0;
    for (const auto& [lane, address] : lanes)
      for (uint64_t at = address; at < address + size; ++at) raced = raced || raced_.contains(at + name);
    if (raced) return true;  // of a place only the first race is looked for
    const uint64_t before = told();
    const int line = 10 + static_cast<int>(draw(20));
    trace_.access(line, {{cta, 0, 0}, static_cast<int>(warp), mask(chosen)}, kind, addresses, order, size);
    bool races = false;
    for (const auto& [lane, address] : lanes)
      races = plain_.reach(thread_of(cta, warp, lane), kind, order, address + name, size) || races;
    if (races) {
      ++races_;
      for (const auto& [lane, address] : lanes)
        for (uint64_t at = address; at < address + size; ++at) raced_.insert(at + name);
    }
    if ((told() > before) == races) return true;
    said_ = (races ? "a race is not told: " : "told is what is none: ") + std::to_string(size) +
            " bytes by CTA " + std::to_string(cta) + ", warp " + std::to_string(warp) + ", line " +
            std::to_string(line);
    for (const std::string& line_of : trace_.found()) said_ += "\n" + line_of;
    return false;
  }
  uint64_t told() const {
    uint64_t out = 0;
    for (const Finding& f : trace_.checker.findings()) out += f.count;
    return out;
  }

  std::mt19937_64 random_;
  Trace trace_;
  Plain plain_;
  std::array<uint64_t, kCtas / kClusterCtas> phases_{};
  std::set<uint64_t> raced_;
  size_t races_ = 0;
  std::string said_;
};

class DrawnRaces : public testing::TestWithParam<uint64_t> {};

TEST_P(DrawnRaces, AreThoseOfAPlainCheck) {
  constexpr uint64_t kRuns = 150;
  constexpr size_t kSteps = 120;
  size_t races = 0;
  for (uint64_t seed = kRuns * GetParam(); seed < kRuns * (GetParam() + 1); ++seed) {
    Drawn drawn(seed);
    for (size_t i = 0; i < kSteps; ++i) ASSERT_TRUE(drawn.step()) << "seed " << seed << ": " << drawn.said();
    races += drawn.races();
  }
  EXPECT_GT(races, kRuns);
}

INSTANTIATE_TEST_SUITE_P(All, DrawnRaces, testing::Range<uint64_t>(0, 4));

}  // namespace
}  // namespace bitwell::hazard
