// Who is who: CTAs of grids and clusters in three dimensions, warps, lanes, and what a finding says of them.
#include <gtest/gtest.h>

#include "trace.h"

namespace bitwell::hazard {
namespace {

constexpr Order kStrong(Semantics semantics, Scope scope) { return {semantics, scope, Proxy::generic}; }

std::vector<Triple> all_of(const Triple& size) {
  std::vector<Triple> out;
  for (uint32_t z = 0; z < size[2]; ++z)
    for (uint32_t y = 0; y < size[1]; ++y)
      for (uint32_t x = 0; x < size[0]; ++x) out.push_back({x, y, z});
  return out;
}
std::string name(const Triple& t) {
  return "(" + std::to_string(t[0]) + "," + std::to_string(t[1]) + "," + std::to_string(t[2]) + ")";
}
// As PTX counts %cluster_ctarank: x first.
uint32_t rank(const Triple& cta, const Triple& cluster) {
  return cta[0] % cluster[0] + cluster[0] * (cta[1] % cluster[1]) +
         cluster[0] * cluster[1] * (cta[2] % cluster[2]);
}
bool same_cluster(const Triple& a, const Triple& b, const Triple& cluster) {
  return a[0] / cluster[0] == b[0] / cluster[0] && a[1] / cluster[1] == b[1] / cluster[1] &&
         a[2] / cluster[2] == b[2] / cluster[2];
}

constexpr Triple kGrid{2, 3, 4};
constexpr Triple kClusters[] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 3, 2}, {2, 1, 2}, {1, 1, 4}};

// Two CTAs write one word of global memory: both are named, each by its own number in the grid.
TEST(Places, EveryTwoCtasOfAGridRaceAndAreNamed) {
  for (const Triple& cluster : kClusters)
    for (const Triple& a : all_of(kGrid))
      for (const Triple& b : all_of(kGrid)) {
        Trace t(kGrid, cluster);
        t.write(10, {a, 3, 1u << 7}, global(20));
        t.write(20, {b, 2, 1u << 9}, global(20));
        EXPECT_EQ(t.found(),
                  Lines{"race 10 " + name(a) + " w3 l7 | 20 " + name(b) + " w2 l9 | global +20, 4"});
      }
}

// A strong access reaches who is within its scope (PTX ISA 9.0, 8.5): the same CTA, the same cluster, all.
TEST(Places, AScopeHasThoseOfItsCtaOrItsCluster) {
  for (const Triple& cluster : kClusters)
    for (const Triple& a : all_of(kGrid))
      for (const Triple& b : all_of(kGrid))
        for (const Scope of_a : {Scope::cta, Scope::cluster, Scope::gpu})
          for (const Scope of_b : {Scope::cta, Scope::cluster, Scope::sys}) {
            const auto has = [&](Scope s) {
              return s == Scope::cta ? a == b : s == Scope::cluster ? same_cluster(a, b, cluster) : true;
            };
            Trace t(kGrid, cluster);
            t.write(10, {a, 0}, global(0), kStrong(Semantics::relaxed, of_a));
            t.write(20, {b, 1}, global(0), kStrong(Semantics::relaxed, of_b));
            const std::string side = has(of_a) ? ", later" : has(of_b) ? ", earlier" : "";
            EXPECT_EQ(t.found(), has(of_a) && has(of_b) ? Lines{}
                                                        : Lines{"scope 10 " + name(a) + " w0 l0 | 20 " +
                                                                name(b) + " w1 l0 | global +0, 4" + side});
          }
}

// Shared memory is each CTA's own; of another CTA of the cluster it is reached by that CTA's rank, once it
// is known to have begun.
TEST(Places, SharedMemoryIsOfOneCtaOfOneCluster) {
  for (const Triple& cluster : kClusters)
    for (const Triple& a : all_of(kGrid))
      for (const Triple& b : all_of(kGrid)) {
        Trace t(kGrid, cluster);
        const uint32_t to = rank(a, cluster);
        t.write(10, {a, 0}, shared(to, 8));
        t.write(20, {b, 1}, shared(rank(b, cluster), 8));
        EXPECT_EQ(t.found(), a != b ? Lines{}
                                    : Lines{"race 10 " + name(a) + " w0 l0 | 20 " + name(b) +
                                            " w1 l0 | shared " + std::to_string(to) + " +8, 4"});
      }
  for (const Triple& cluster : kClusters)
    for (const Triple& a : all_of(kGrid))
      for (const Triple& b : all_of(cluster)) {
        const Triple peer{a[0] / cluster[0] * cluster[0] + b[0], a[1] / cluster[1] * cluster[1] + b[1],
                          a[2] / cluster[2] * cluster[2] + b[2]};
        if (peer == a) continue;
        const std::string there = "shared " + std::to_string(rank(peer, cluster)) + " +64, 4";
        for (const bool met : {false, true}) {
          Trace t(kGrid, cluster);
          if (met) t.cluster_bar(5, {{peer, 0, kAll}, {a, 0, kAll}}, 1);
          t.write(10, {a, 0}, shared(rank(peer, cluster), 64));
          t.write(20, {peer, 0}, shared(rank(peer, cluster), 64));
          const std::string race = "race 10 " + name(a) + " w0 l0 | 20 " + name(peer) + " w0 l0 | " + there;
          const std::string who = "10 " + name(a) + " w0 l0";
          EXPECT_EQ(t.found(),
                    met ? Lines{race} : (Lines{"cluster-start " + who + " | " + who + " | " + there, race}));
        }
      }
}

// Lanes of one warp and warps of one CTA.
TEST(Places, LanesAndWarpsAreTold) {
  for (const int other : {0, 1, 5})
    for (uint32_t first = 0; first < 32; ++first)
      for (uint32_t second = 0; second < 32; ++second) {
        Trace t;
        t.write(10, {{}, 0, 1u << first}, shared(0, 16));
        t.read(20, {{}, other, 1u << second}, shared(0, 16));
        const std::string both = " 10 (0,0,0) w0 l" + std::to_string(first) + " | 20 (0,0,0) w" +
                                 std::to_string(other) + " l" + std::to_string(second) + " | shared 0 +16, 4";
        EXPECT_EQ(t.found(), other != 0        ? Lines{"race" + both}
                             : first != second ? Lines{"warp-race" + both}
                                               : Lines{});
      }
}

// What is found twice is counted; each pair is kept as far as it is asked for.
TEST(Places, TheSameBetweenTwoInstructionsIsCounted) {
  for (const size_t most : {0u, 1u, 2u, 9u}) {
    Trace t;
    t.checker.keep(most);
    for (const uint64_t word : {0u, 4u, 12u}) t.write(10, {{}, 0, 2}, global(word));
    for (const uint64_t word : {0u, 4u, 12u}) t.read(20, {{}, 1, 4}, global(word));
    EXPECT_EQ(t.found(), Lines{"race 10 (0,0,0) w0 l1 | 20 (0,0,0) w1 l2 | global +0, 4, x3"});
    const auto& met = t.checker.findings().front().met;
    ASSERT_EQ(met.size(), std::min<size_t>(most, 3));
    for (size_t i = 0; i < met.size(); ++i) {
      EXPECT_EQ(met[i].access, 4 + i);
      EXPECT_EQ(met[i].address, global(std::array{0u, 4u, 12u}.at(i)));
      EXPECT_EQ(met[i].bytes, 4u);
      EXPECT_EQ(met[i].earlier.lane, 1);
    }
  }
}

// Neither local nor constant memory is watched, nor what lies between the windows.
TEST(Places, SharedAndGlobalMemoryAreWatched) {
  const std::pair<uint64_t, bool> places[] = {
      {machine::kSharedWindow, true},
      {machine::kSharedWindow + machine::kWindowSize - 4, true},
      {machine::kSharedWindow + machine::kWindowSize, false},
      {machine::kSharedWindow - 4, true},  // what is adopted from a host program may stand there
      {machine::kLowestHost, true},
      {machine::kLowestHost - 4, false},
      {machine::kLocalWindow, false},
      {machine::kModuleGlobals - 4, false},
      {machine::kModuleGlobals, true},
      {machine::kBuffers, true},
  };
  for (const auto& [address, watched] : places) {
    Trace t;
    t.write(10, {{}, 0}, address);
    t.write(20, {{}, 1}, address);
    EXPECT_EQ(t.kinds(), watched ? Lines{"race 10 20"} : Lines{}) << std::hex << address;
  }
}

// Bytes are told apart: two accesses meet where they share one.
TEST(Places, AccessesMeetWhereTheyShareBytes) {
  for (const uint64_t bytes_a : {1u, 2u, 4u, 8u, 16u})
    for (const uint64_t bytes_b : {1u, 2u, 4u, 8u, 16u})
      for (uint64_t a = 0; a < 32; a += bytes_a)
        for (uint64_t b = 0; b < 32; b += bytes_b) {
          Trace t;
          t.access(10, {{}, 0}, AccessKind::write, shared(0, 240 + a), {}, bytes_a);
          t.access(20, {{}, 1}, AccessKind::read, shared(0, 240 + b), {}, bytes_b);
          const bool meet = a < b + bytes_b && b < a + bytes_a;
          EXPECT_EQ(t.kinds(), meet ? Lines{"race 10 20"} : Lines{})
              << a << " " << bytes_a << " " << b << " " << bytes_b;
        }
}

}  // namespace
}  // namespace bitwell::hazard
