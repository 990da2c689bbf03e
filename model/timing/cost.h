// What the parts of a device cost, each with how it is known.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bitwell::timing {

// How a cost is known.
enum class Source : uint8_t {
  device,     // a probe of ours, on that device
  published,  // somebody's measurement
  fitted,     // so that kernels of ours, which are named, take as long as they do there
  guess       // nobody's
};
inline constexpr std::array<std::string_view, 4> kSources{"device", "published", "fitted", "guess"};

enum class Scale : uint8_t { cycles, gigabytes_a_second, microseconds, megahertz, count };
inline constexpr std::array<std::string_view, 5> kScales{"cycles", "GB/s", "us", "MHz", "units"};

enum class Key : uint8_t {
  clock,
  loaded_clock,  // with tensor cores that are always busy
  sms,
  memory_clock_free_bandwidth,  // of DRAM
  l2_bandwidth,
  sm_bandwidth,  // from L2 to one multiprocessor
  l2_bytes,
  launch,            // from an empty kernel to the next
  launch_a_cta,      // beyond some hundred
  launch_a_cluster,  // of 2
  bar_sync,
  bar_sync_a_warp,
  cluster_barrier,
  cluster_barrier_a_warp,
  mbarrier_arrive,
  mbarrier_arrive_expect,
  mbarrier_token,  // until it is there
  mbarrier_wait,
  mbarrier_handover,
  copy_issue,
  store_read,  // a bulk copy to global memory, beside its bytes
  store_rate,
  wgmma_wait,  // one wgmma until its wait is past, beside its interval
  shared_latency,
  shared_interval,
  shared_atomic,
  remote_latency,
  l1_latency,
  l1_interval,  // of 16 bytes of each lane
  l2_latency,
  dram_latency,
  global_atomic,
  fence_cta,
  fence_gpu,
  fence_sys,
  fence_proxy,
  fence_proxy_shared,
  fence_proxy_global,
  cluster_wait,  // of a warp that comes to a barrier which is complete
  small_step,    // of operations that only arrive
  cp_async_latency
};

// `what` and `with` name the probe that says so, in experiments/results/time_probes.csv.
struct Cost {
  Key key;
  std::string_view name;
  double value, low, high;
  Scale scale;
  Source source;
  std::string_view what{}, with{};  // or who
};

// A copy to shared memory of so many bytes, from its issue until its wait is past.
struct CopyCost {
  uint32_t bytes;
  double l2, dram;  // cycles
};
// Instructions whose names begin so and have that modifier. `latency`: until the next can use the result;
// `interval`: of warp instructions on a multiprocessor, by so many of which `times` the probe consists.
struct OpCost {
  std::string_view begins, has;
  double latency, interval;
  Source source;
  std::string_view what{};
  double times = 1;
};
// mma.sync.
struct WarpMmaCost {
  std::string_view shape;  // and types
  double latency, interval;
  std::string_view what;
};

struct Device {
  std::string_view name;
  int sm;  // of the targets that it runs
  std::span<const Cost> costs;
  std::span<const CopyCost> copies;
  std::span<const OpCost> ops;
  std::span<const WarpMmaCost> mmas;

  const Cost& cost(Key key) const;
  double value(Key key) const { return cost(key).value; }
  // The first that fits; nullptr: no row.
  const OpCost* op(std::string_view name) const;
  const WarpMmaCost* mma(std::string_view name) const;
  // Cycles between wgmmas of n columns that follow one another.
  static double wgmma_interval(uint32_t n, bool from_registers);
  // Until its wait is past, with nothing before it.
  double wgmma_latency(uint32_t n, bool from_registers) const;
  // Cycles until the wait for a copy to shared memory is past.
  double copy_latency(uint64_t bytes, bool from_dram) const;
};

std::span<const Device> devices();
// By name; nullptr: there is no table.
const Device* device(std::string_view name);

}  // namespace bitwell::timing
