// What a launch may ask for (CUDA programming guide 13.0, "Technical specifications per compute capability";
// PTX ISA 9.0, chapter 11.4): each limit at its last legal value and one beyond. Nothing runs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/isa/compile/compile.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "model/run/turns/residency.h"

namespace bitwell::isa {
namespace {

using Triple = std::array<uint32_t, 3>;

struct Launch {
  std::string directives{};
  Triple block{1, 1, 1};
  Triple grid{1, 1, 1};
  Triple cluster{1, 1, 1};
  uint32_t dynamic_shared = 0;
  std::string variables{};  // of the entry
  std::string target = "sm_90a";
  bool non_portable_cluster = false;
};

// Empty, or why it is refused.
std::string refusal(const Launch& l) {
  const std::string text = ".version 9.0\n.target " + l.target + "\n.address_size 64\n.visible .entry e() " +
                           l.directives + " {" + l.variables + " ret;}\n";
  const Program program = compile(ptx::parse(text), "e");
  try {
    run::check_launch(program,
                      {.grid = l.grid,
                       .block = l.block,
                       .cluster = l.cluster,
                       .dynamic_shared = l.dynamic_shared,
                       .non_portable_cluster = l.non_portable_cluster},
                      {});
  } catch (const machine::InputError& e) {
    return e.what();
  }
  return "";
}

struct Limit {
  std::string name;
  Launch last, beyond;
  std::string says;  // of the one beyond
};
void hold(const std::vector<Limit>& limits) {
  for (const Limit& l : limits) {
    EXPECT_EQ(refusal(l.last), "") << l.name;
    EXPECT_NE(refusal(l.beyond).find(l.says), std::string::npos)
        << l.name << ": '" << refusal(l.beyond) << "'";
  }
}

TEST(LaunchLimits, Blocks) {
  hold({{"x", {.block = {1024, 1, 1}}, {.block = {1025, 1, 1}}, "block.x is 1025, it must be 1 to 1024"},
        {"y", {.block = {1, 1024, 1}}, {.block = {1, 1025, 1}}, "block.y is 1025, it must be 1 to 1024"},
        {"z", {.block = {1, 1, 64}}, {.block = {1, 1, 65}}, "block.z is 65, it must be 1 to 64"},
        {"least x", {.block = {1, 1, 1}}, {.block = {0, 1, 1}}, "block.x is 0"},
        {"least y", {.block = {1, 1, 1}}, {.block = {1, 0, 1}}, "block.y is 0"},
        {"least z", {.block = {1, 1, 1}}, {.block = {1, 1, 0}}, "block.z is 0"},
        {"threads", {.block = {32, 32, 1}}, {.block = {25, 41, 1}}, "has 1025 threads, the limit is 1024"},
        {"threads with z", {.block = {4, 4, 64}}, {.block = {17, 1, 61}}, "has 1037 threads"},
        {"no overflow", {.block = {1024, 1, 1}}, {.block = {1024, 1024, 64}}, "has 67108864 threads"}});
}

TEST(LaunchLimits, Grids) {
  hold({{"x",
         {.grid = {2147483647, 1, 1}},
         {.grid = {2147483648, 1, 1}},
         "grid.x is 2147483648, it must be 1 to 2147483647"},
        {"y", {.grid = {1, 65535, 1}}, {.grid = {1, 65536, 1}}, "grid.y is 65536, it must be 1 to 65535"},
        {"z", {.grid = {1, 1, 65535}}, {.grid = {1, 1, 65536}}, "grid.z is 65536, it must be 1 to 65535"},
        {"least x", {.grid = {1, 1, 1}}, {.grid = {0, 1, 1}}, "grid.x is 0"},
        {"least z", {.grid = {1, 1, 1}}, {.grid = {1, 1, 0}}, "grid.z is 0"},
        {"all",
         {.grid = {2147483647, 65535, 65535}},
         {.grid = {4294967295, 65535, 65535}},
         "grid.x is 4294967295"}});
}

TEST(LaunchLimits, Clusters) {
  const Triple grid{8, 8, 9};
  hold({{"x",
         {.grid = grid, .cluster = {8, 1, 1}},
         {.grid = {9, 1, 1}, .cluster = {9, 1, 1}},
         "has 9 CTAs, the limit is 8"},
        {"all",
         {.grid = grid, .cluster = {2, 4, 1}},
         {.grid = grid, .cluster = {2, 2, 3}},
         "has 12 CTAs, the limit is 8"},
        {"z", {.grid = {1, 1, 8}, .cluster = {1, 1, 8}}, {.grid = grid, .cluster = {1, 1, 9}}, "has 9 CTAs"},
        {"least", {.cluster = {1, 1, 1}}, {.cluster = {1, 0, 1}}, "cluster.y is 0"},
        {"whole",
         {.grid = {6, 1, 1}, .cluster = {3, 1, 1}},
         {.grid = {7, 1, 1}, .cluster = {3, 1, 1}},
         "not a multiple of cluster.x"},
        {"whole z",
         {.grid = {1, 1, 4}, .cluster = {1, 1, 4}},
         {.grid = {1, 1, 5}, .cluster = {1, 1, 4}},
         "not a multiple of cluster.z"},
        {".maxclusterrank",
         {".maxclusterrank 4", {1, 1, 1}, grid, {2, 2, 1}},
         {".maxclusterrank 3", {1, 1, 1}, grid, {2, 2, 1}},
         "has 4 CTAs, the limit is 3"},
        {".maxclusterrank beyond the machine's",
         {".maxclusterrank 16", {1, 1, 1}, grid, {8, 1, 1}},
         {".maxclusterrank 16", {1, 1, 1}, {16, 1, 1}, {16, 1, 1}},
         "has 16 CTAs, the limit is 8"},
        {".reqnctapercluster",
         {".reqnctapercluster 8", {1, 1, 1}, {8, 1, 1}, {1, 1, 1}},
         {".reqnctapercluster 9", {1, 1, 1}, {9, 1, 1}, {1, 1, 1}},
         "has 9 CTAs, the limit is 8"},
        {".reqnctapercluster and the grid",
         {".reqnctapercluster 2, 2", {1, 1, 1}, {2, 2, 1}, {1, 1, 1}},
         {".reqnctapercluster 2, 2", {1, 1, 1}, {2, 3, 1}, {1, 1, 1}},
         "not a multiple of cluster.y"},
        {".reqnctapercluster and the launch",
         {".reqnctapercluster 2", {1, 1, 1}, {4, 1, 1}, {2, 1, 1}},
         {".reqnctapercluster 2", {1, 1, 1}, {4, 1, 1}, {4, 1, 1}},
         ".reqnctapercluster wants 2 x 1 x 1"}});
}

// An H100 takes every size up to 16 of a kernel that has the attribute, from the launch and from
// .reqnctapercluster, and none above 8 of another; .maxclusterrank allows nothing more (driver 580, each size
// from 1 to 18).
TEST(LaunchLimits, ClustersThatAreNotPortable) {
  struct Row {
    std::string target;
    uint32_t most;  // with the attribute
  };
  for (const Row& row : {Row{"sm_90", 16},
                         {"sm_90a", 16},
                         {"sm_100a", 16},
                         {"sm_103a", 16},
                         {"sm_110a", 8},
                         {"sm_120a", 16},
                         {"sm_121a", 8}})
    for (uint32_t size = 1; size <= 18; ++size)
      for (const bool allowed : {false, true}) {
        const std::string what = row.target + ", " + std::to_string(size) + (allowed ? ", allowed" : "");
        const uint32_t limit = allowed ? row.most : 8;
        const std::string number = std::to_string(size);
        for (const Launch& l :
             {Launch{.grid = {1, size, 2}, .cluster = {1, size, 1}, .target = row.target},
              Launch{
                  .directives = ".reqnctapercluster " + number, .grid = {size, 1, 1}, .target = row.target},
              Launch{.directives = ".maxclusterrank 18",
              .grid = {1, 1, size},
              .cluster = {1, 1, size},
              .target = row.target}}) {
          Launch launch = l;
          launch.non_portable_cluster = allowed;
          const std::string said = refusal(launch);
          if (size <= limit) {
            EXPECT_EQ(said, "") << what;
            continue;
          }
          EXPECT_NE(said.find("has " + number + " CTAs, the limit is " + std::to_string(limit)),
                    std::string::npos)
              << what << ": " << said;
          const bool key_helps = !allowed && row.most > 8;
          EXPECT_EQ(said.find("\"non_portable_cluster\": true makes it 16") != std::string::npos, key_helps)
              << what << ": " << said;
        }
      }
  hold({{".maxclusterrank within it",
         {.directives = ".maxclusterrank 12",
          .grid = {12, 1, 1},
          .cluster = {12, 1, 1},
          .non_portable_cluster = true},
         {.directives = ".maxclusterrank 12",
          .grid = {13, 1, 1},
          .cluster = {13, 1, 1},
          .non_portable_cluster = true},
         "has 13 CTAs, the limit is 12"},
        {".maxclusterrank within it, unasked",
         {.directives = ".maxclusterrank 12", .grid = {8, 1, 1}, .cluster = {8, 1, 1}},
         {.directives = ".maxclusterrank 12", .grid = {9, 1, 1}, .cluster = {9, 1, 1}},
         "the limit is 8; \"non_portable_cluster\": true makes it 12"}});
}

TEST(LaunchLimits, Directives) {
  hold({{".maxntid", {".maxntid 32", {32, 1, 1}}, {".maxntid 32", {33, 1, 1}}, ".maxntid allows 32"},
        {".maxntid counts all",
         {".maxntid 4, 4, 2", {1, 32, 1}},
         {".maxntid 4, 4, 2", {1, 33, 1}},
         ".maxntid allows 32"},
        {".maxntid beyond the machine's",
         {".maxntid 2048", {1024, 1, 1}},
         {".maxntid 2048", {1025, 1, 1}},
         "block.x is 1025"},
        {".maxntid beyond 64 bits",
         {".maxntid 65536, 65536, 65536", {1024, 1, 1}},
         {".maxntid 65536, 65536, 65536", {1024, 2, 1}},
         "the limit is 1024"},
        {".reqntid", {".reqntid 32", {32, 1, 1}}, {".reqntid 32", {31, 1, 1}}, ".reqntid wants 32"},
        {".reqntid one more", {".reqntid 32", {32, 1, 1}}, {".reqntid 32", {33, 1, 1}}, ".reqntid wants 32"},
        {".reqntid y", {".reqntid 8, 4", {8, 4, 1}}, {".reqntid 8, 4", {8, 5, 1}}, ".reqntid wants 4"},
        {".reqntid z left out",
         {".reqntid 8, 4", {8, 4, 1}},
         {".reqntid 8, 4", {8, 4, 2}},
         ".reqntid wants 1"},
        {".reqntid is no product",
         {".reqntid 8, 4", {8, 4, 1}},
         {".reqntid 8, 4", {32, 1, 1}},
         ".reqntid wants 8"}});
}

// Bytes that a CTA of each architecture can have, typed again from the guide's table.
TEST(LaunchLimits, SharedMemory) {
  struct Row {
    const char* target;
    uint32_t kib;
  };
  for (const Row& r : {Row{"sm_75", 64},
                       {"sm_80", 163},
                       {"sm_86", 99},
                       {"sm_87", 163},
                       {"sm_88", 99},
                       {"sm_89", 99},
                       {"sm_90", 227},
                       {"sm_90a", 227},
                       {"sm_100", 227},
                       {"sm_100a", 227},
                       {"sm_100f", 227},
                       {"sm_103a", 227},
                       {"sm_110a", 227},
                       {"sm_120", 99},
                       {"sm_120a", 99},
                       {"sm_121a", 99}}) {
    const uint32_t all = r.kib * 1024;
    const std::string variable = ".shared .b8 a[1024]; .reg .b32 r; mov.b32 r, a;";
    hold({{r.target,
           {.dynamic_shared = all, .target = r.target},
           {.dynamic_shared = all + 1, .target = r.target},
           std::string(r.target) + " has " + std::to_string(all)},
          {std::string(r.target) + ", static and dynamic",
           {.dynamic_shared = all - 1024, .variables = variable, .target = r.target},
           {.dynamic_shared = all - 1023, .variables = variable, .target = r.target},
           "(1024 static, " + std::to_string(all - 1023) + " dynamic)"}});
  }
  EXPECT_NE(refusal({.dynamic_shared = UINT32_MAX}), "");
  EXPECT_NE(
      refusal({.dynamic_shared = UINT32_MAX, .variables = ".shared .b8 a[1024]; .reg .b32 r; mov.b32 r, a;"}),
      "")
      << "the sum wraps around";
}

// What an occupancy calculator says of the same CTA: each resource at the last size with which one more fits,
// and one beyond.
TEST(Residency, OfOneMultiprocessorAndOfTheDevice) {
  struct Row {
    Launch launch;
    uint32_t ctas_per_sm;
    run::Scarce by;
    uint64_t clusters;
  };
  const Row rows[] = {
      {{.block = {64, 1, 1}, .grid = {100000, 1, 1}}, 32, run::Scarce::ctas, 32 * 132},
      {{.block = {65, 1, 1}, .grid = {100000, 1, 1}}, 21, run::Scarce::threads, 21 * 132},
      {{.block = {1024, 1, 1}, .grid = {100000, 1, 1}}, 2, run::Scarce::threads, 2 * 132},
      {{.block = {682, 1, 1}, .grid = {100000, 1, 1}}, 2, run::Scarce::threads, 2 * 132},
      {{.grid = {100000, 1, 1}, .dynamic_shared = 113 << 10}, 2, run::Scarce::shared_memory, 2 * 132},
      {{.grid = {100000, 1, 1}, .dynamic_shared = (113 << 10) + 1}, 1, run::Scarce::shared_memory, 132},
      {{.grid = {100000, 1, 1}, .dynamic_shared = 227 << 10}, 1, run::Scarce::shared_memory, 132},
      {{.grid = {100000, 1, 1}, .cluster = {4, 2, 1}, .dynamic_shared = 227 << 10},
       1,
       run::Scarce::shared_memory,
       16},
      {{.grid = {7, 1, 1}}, 32, run::Scarce::ctas, 7},
      {{.grid = {100000, 1, 1}, .dynamic_shared = 227 << 10, .target = "sm_100a"},
       1,
       run::Scarce::shared_memory,
       148},
      {{.block = {32, 1, 1}, .grid = {100000, 1, 1}, .target = "sm_86"}, 16, run::Scarce::ctas, 16 * 132},
      {{.block = {1024, 1, 1}, .grid = {100000, 1, 1}, .target = "sm_86"}, 1, run::Scarce::threads, 132},
  };
  for (const Row& row : rows) {
    const Launch& l = row.launch;
    const run::Residency r = run::residency(
        compile(ptx::parse(".version 9.0\n.target " + l.target +
                           "\n.address_size 64\n.visible .entry e() {ret;}\n"),
                "e"),
        {.grid = l.grid, .block = l.block, .cluster = l.cluster, .dynamic_shared = l.dynamic_shared});
    const std::string what = l.target + ", " + std::to_string(l.block[0]) + " threads, " +
                             std::to_string(l.dynamic_shared) + " bytes of shared memory";
    EXPECT_EQ(r.ctas_per_sm, row.ctas_per_sm) << what;
    EXPECT_EQ(r.limited_by, row.by) << what;
    EXPECT_EQ(r.clusters, row.clusters) << what;
  }
}

}  // namespace
}  // namespace bitwell::isa
