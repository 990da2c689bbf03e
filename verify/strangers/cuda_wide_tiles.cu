// A cooperative group of several warps sums in the part of shared memory that the system keeps for it.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void wide_tiles(const int* in, int* sums, int* largest) {
  __shared__ int turned[256];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  turned[threadIdx.x ^ 63] = in[i];
  tile.sync();
  const int mine = turned[threadIdx.x];
  sums[i] = mine + cg::reduce(tile, mine, cg::plus<int>());
  largest[i] = cg::reduce(tile, mine, cg::greater<int>());
}
