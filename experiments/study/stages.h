// Stages against tiles against shapes: what a GEMM of an H200 with a ring of stages would take, by the model
// of time, of every tile and number of stages that fits into shared memory; and how sure the best of them is.
#pragma once
#include <array>

#include "experiments/study/table.h"
#include "verify/launch/launch.h"

namespace bitwell::study {

struct StagesPlan {
  std::vector<std::array<int, 3>> shapes{
      {4096, 4096, 2048}, {512, 4096, 4096}, {128, 8192, 2048}};  // M, N, K
  int clusters = 2;                                               // of a multiprocessor that are run
  int draws = 8;  // of costs, each between the lowest and the highest that its row has
  uint64_t seed = 1;
};
// Rows: of a shape, each tile that divides it and number of stages. Those that no other beats in time and in
// shared memory at once are on the front. Costs are drawn for those within `kClose` of the fastest.
Study stages_study(const StagesPlan& plan);
inline constexpr double kClose = 1.25;

struct StagesPoint {
  int m, n, k, tile_m, tile_n, stages;
  double shared;  // bytes
  double us, low, high;
  std::string bound_by;
  bool front;
  int drawn, fastest;  // draws of costs, and in how many of them no other is faster
};
StagesPoint stages_point(const std::vector<std::string>& row);

// The kernel: one warp copies, one or two warpgroups multiply bf16 by wgmma; operands lie tile after tile,
// zeros.
std::string stages_kernel(int tile_m, int tile_n, int stages, const std::array<int, 3>& shape);
launch::Launch stages_launch(int tile_m, int tile_n, int stages, const std::array<int, 3>& shape);
inline constexpr int kStagesTileK = 64;

}  // namespace bitwell::study
