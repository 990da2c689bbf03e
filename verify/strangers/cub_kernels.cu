// Block- and warp-wide primitives of CUB, one to an entry.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int kThreads = 128;

extern "C" __global__ void radix_sort(const unsigned* in, unsigned* keys_out, int* places) {
  using Sort = cub::BlockRadixSort<unsigned, kThreads, 4, int>;
  __shared__ typename Sort::TempStorage storage;
  unsigned keys[4];
  int values[4];
  for (int i = 0; i < 4; ++i) {
    values[i] = threadIdx.x * 4 + i;
    keys[i] = in[values[i]];
  }
  Sort(storage).Sort(keys, values);
  for (int i = 0; i < 4; ++i) {
    keys_out[threadIdx.x * 4 + i] = keys[i];
    places[threadIdx.x * 4 + i] = values[i];
  }
}

extern "C" __global__ void radix_sort_floats(const float* in, float* out) {
  using Sort = cub::BlockRadixSort<float, kThreads, 2>;
  __shared__ typename Sort::TempStorage storage;
  float keys[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
  Sort(storage).SortDescendingBlockedToStriped(keys);
  out[threadIdx.x] = keys[0];
  out[threadIdx.x + kThreads] = keys[1];
}

struct Less {
  __device__ bool operator()(long long a, long long b) const { return a < b; }
};

extern "C" __global__ void merge_sort(const long long* in, long long* out, int n) {
  using Sort = cub::BlockMergeSort<long long, kThreads, 3>;
  __shared__ typename Sort::TempStorage storage;
  long long keys[3];
  for (int i = 0; i < 3; ++i) {
    const int at = threadIdx.x * 3 + i;
    keys[i] = at < n ? in[at] : 0;
  }
  Sort(storage).StableSort(keys, Less(), n, 0x7FFFFFFFFFFFFFFFll);
  for (int i = 0; i < 3; ++i)
    if (threadIdx.x * 3 + i < n) out[threadIdx.x * 3 + i] = keys[i];
}

extern "C" __global__ void warp_merge_sort(const int* in, int* out) {
  using Sort = cub::WarpMergeSort<int, 4, 16>;
  __shared__ typename Sort::TempStorage storage[kThreads / 16];
  int keys[4];
  for (int i = 0; i < 4; ++i) keys[i] = in[threadIdx.x * 4 + i];
  Sort(storage[threadIdx.x / 16]).Sort(keys, Less());
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = keys[i];
}

extern "C" __global__ void scan(const int* in, int* out, int* total) {
  using Load = cub::BlockLoad<int, kThreads, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_RAKING>;
  using Store = cub::BlockStore<int, kThreads, 8, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } storage;
  int items[8], sum;
  Load(storage.load).Load(in, items);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items, sum);
  __syncthreads();
  Store(storage.store).Store(out, items);
  if (threadIdx.x == 0) *total = sum;
}

extern "C" __global__ void scan_maxima(const float* in, float* out) {
  using Scan = cub::BlockScan<float, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage storage;
  float v;
  Scan(storage).InclusiveScan(in[threadIdx.x], v, [](float a, float b) { return a > b ? a : b; });
  out[threadIdx.x] = v;
}

extern "C" __global__ void reduce(const double* in, double* out) {
  using Reduce = cub::BlockReduce<double, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const double sum = Reduce(storage).Sum(in[blockIdx.x * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void warp_primitives(const int* in, int* sums, int* prefixes) {
  using Reduce = cub::WarpReduce<int, 16>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce_storage[kThreads / 16];
  __shared__ typename Scan::TempStorage scan_storage[kThreads / 32];
  const int v = in[threadIdx.x];
  const int sum = Reduce(reduce_storage[threadIdx.x / 16]).Sum(v);
  if (threadIdx.x % 16 == 0) sums[threadIdx.x / 16] = sum;
  int before;
  Scan(scan_storage[threadIdx.x / 32]).ExclusiveSum(v, before);
  prefixes[threadIdx.x] = before;
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* counts) {
  using Histogram = cub::BlockHistogram<unsigned char, kThreads, 4, 64, cub::BLOCK_HISTO_SORT>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned bins[64];
  unsigned char items[4];
  for (int i = 0; i < 4; ++i) items[i] = in[threadIdx.x * 4 + i];
  Histogram(storage).Histogram(items, bins);
  __syncthreads();
  if (threadIdx.x < 64) counts[threadIdx.x] = bins[threadIdx.x];
}

struct Differs {
  __device__ bool operator()(int a, int b) const { return a != b; }
};
struct Minus {
  __device__ int operator()(int a, int b) const { return a - b; }
};

extern "C" __global__ void heads_and_differences(const int* in, int* heads, int* differences) {
  using Discontinuity = cub::BlockDiscontinuity<int, kThreads>;
  using Difference = cub::BlockAdjacentDifference<int, kThreads>;
  __shared__ typename Discontinuity::TempStorage heads_storage;
  __shared__ typename Difference::TempStorage difference_storage;
  int items[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
  int flags[2];
  Discontinuity(heads_storage).FlagHeads(flags, items, Differs());
  int less[2];
  Difference(difference_storage).SubtractLeft(items, less, Minus());
  for (int i = 0; i < 2; ++i) {
    heads[2 * threadIdx.x + i] = flags[i];
    differences[2 * threadIdx.x + i] = less[i];
  }
}

extern "C" __global__ void run_length_decode(const int* values, const unsigned* lengths, int* out, int n) {
  using Decode = cub::BlockRunLengthDecode<int, kThreads, 1, 4>;
  __shared__ typename Decode::TempStorage storage;
  int value[1] = {values[threadIdx.x]};
  unsigned length[1] = {lengths[threadIdx.x]};
  unsigned total;
  Decode decode(storage, value, length, total);
  for (unsigned from = 0; from < total; from += kThreads * 4) {
    int items[4];
    decode.RunLengthDecode(items, from);
    for (int i = 0; i < 4; ++i) {
      const unsigned at = from + threadIdx.x * 4 + i;
      if (at < total && at < static_cast<unsigned>(n)) out[at] = items[i];
    }
    __syncthreads();
  }
}

extern "C" __global__ void exchange(const int* in, int* out, int* rotated) {
  using Exchange = cub::WarpExchange<int, 4, 32>;
  using Shuffle = cub::BlockShuffle<int, kThreads>;
  __shared__ typename Exchange::TempStorage exchange_storage[kThreads / 32];
  __shared__ typename Shuffle::TempStorage shuffle_storage;
  int items[4];
  for (int i = 0; i < 4; ++i) items[i] = in[threadIdx.x * 4 + i];
  int turned;
  Shuffle(shuffle_storage).Rotate(items[0], turned, 5);
  rotated[threadIdx.x] = turned;
  Exchange(exchange_storage[threadIdx.x / 32]).BlockedToStriped(items, items);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = items[i];
}
