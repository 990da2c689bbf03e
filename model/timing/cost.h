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
  conflict,   // measurements that differ: between which is said
  fitted,     // so that kernels of ours, which are named, take as long as they do there
  guess       // nobody's
};
inline constexpr std::array<std::string_view, 5> kSources{"device", "published", "conflict", "fitted",
                                                          "guess"};

enum class Scale : uint8_t { cycles, gigabytes_a_second, microseconds, megahertz, count };
inline constexpr std::array<std::string_view, 5> kScales{"cycles", "GB/s", "us", "MHz", "units"};

enum class Key : uint8_t {
  clock,
  loaded_clock,  // with tensor cores that are always busy, launch behind launch
  alone_clock,   // the same of a launch of milliseconds by itself
  sms,
  memory_clock_free_bandwidth,  // of DRAM
  l2_bandwidth,
  few_sms,            // so few multiprocessors that each gets all that it can take
  few_sms_bandwidth,  // from L2 to those together
  l2_bytes,
  launch,            // from an empty kernel to the next
  launch_a_cta,      // beyond some hundred
  launch_a_cluster,  // of 2
  cta_turn,          // from the end of a CTA until the first instruction of the one in its place
  bar_sync,
  bar_sync_a_warp,
  cluster_barrier,
  cluster_barrier_a_warp,
  mbarrier_arrive,
  mbarrier_arrive_expect,
  mbarrier_token,  // until it is there
  mbarrier_wait,
  mbarrier_handover,
  // A thread's copy: where an assembler cannot see that it is one alone, it makes a loop over lanes of it.
  copy_issue,
  tensor_copy_issue,   // through a tensor map
  copy_issue_elected,  // of a thread that elect.sync chose: one instruction
  tensor_copy_issue_elected,
  remote_copy_rate,  // bytes a cycle, to another CTA of the cluster
  store_read,        // a bulk copy to global memory, beside its bytes
  store_rate,
  shared_latency,
  shared_interval,
  shared_atomic,
  remote_latency,
  l1_latency,
  l1_interval,  // of 16 bytes of each lane
  l1_miss,      // of each line that it asks L2 for, until it asks for the next
  l1_conflict,  // of each wavefront more that a load needs: latency, beside its turn
  l2_latency,
  dram_latency,  // of a load, the mean
  // Of single loads, by how many of them take at most so long: half of DRAM is near, half far, and what is
  // refreshed gives nothing until that is over.
  dram_near,           // of those from near DRAM half take less
  dram_near_late,      // a fifth take longer
  dram_far,            // of those from far DRAM
  dram_refreshed,      // one of these where a refresh has just begun
  dram_refresh_every,  // of the same address
  global_atomic,
  // Of atomics and reductions of global memory by a warp, each on 16 multiprocessors at once: what L2 needs.
  update_word,     // a sum of whole numbers, of all lanes into one word
  update_number,   // of floating-point numbers, likewise
  update_result,   // of whole numbers, with what was there before
  exchange_words,  // a comparison and exchange, each lane's of its word
  exchange_word,   // of all lanes in one word
  // And on one multiprocessor alone: what that needs.
  update_sectors,       // each lane in its sector
  update_result_alone,  // of all lanes in one word, with what was there before
  exchange_word_alone,
  // Stores to global memory by a warp.
  store_sectors,  // of 16 bytes of each lane, side by side
  store_lines,    // each lane in its line
  stores_issued,  // until it has issued 64 such
  fence_cta,
  fence_gpu,
  fence_sys,
  fence_proxy,
  fence_proxy_shared,
  fence_proxy_global,
  cluster_wait,  // of a warp that comes to a barrier which is complete
  small_step,    // of operations that only arrive
  wait_group,    // of copies that are over
  // What a pass of their probes does beside them: their figures have it in them.
  wait_beside,   // mbarrier_wait: two operations on what it gives
  copy_beside,   // copies to shared memory: an expect_tx, and the end of a round
  store_beside,  // store_read: its issue, and the end of a round
  warp_step,     // bar.warp.sync, and fences of an mbarrier's beginning
  cp_async_latency,
  queue,            // wavefronts that may wait for the port of shared memory and L1
  unknown_latency,  // of an instruction without a row
  // Of a warp whose lanes go different ways, beside what its instructions stall.
  diverge,     // a branch that some take and some do not
  reconverge,  // where they meet again
  unknown_interval,
  mma_latency,  // of mma.sync without a row
  mma_interval,
  l2_beside,  // a load while each multiprocessor has 16 copies of 8192 bytes from L2 under way
  // Of compute capability 9.0.
  wgmma_wait,          // m64n64, until its wait is past
  wgmma_long,          // beside that and N / 2, from N = 129 on
  wgmma_registers,     // so much less with A in registers
  wgmma_a,             // A's rows are read in so many cycles
  wgmma_least,         // its interval with A in registers
  wgmma_issue,         // of a warp, for each column, with A in registers
  wgmma_issue_shared,  // so much less with A in shared memory
  wgmma_turn,          // between wgmmas of two warps of a quarter, A in registers
  wgmma_turn_shared,   // A in shared memory
  wgmma_beside,        // so many times as long arithmetic takes meanwhile, but for that of fp32
  // 16384 bytes of each multiprocessor by cp.async from L2, while all others do the same.
  l2_own,      // which nobody else reads
  l2_gpc,      // the same two of a GPC
  l2_gpc_way,  // the same eight of a GPC: what its way to L2 brings to each
  l2_near,     // so long behind each other they have nothing of that
  // Of compute capability 10.0: of tensor memory.
  tensor_issue,
  tensor_load_latency,
  tensor_load_rate,  // bytes a cycle, of a multiprocessor
  tensor_store_rate,
  tensor_copy_first,  // tcgen05.cp
  tensor_copy_rate,   // of the next ones, bytes a cycle
  tensor_commit,      // from the end of what is committed until it has arrived
  copy_line,          // of at most 128 bytes, of a copy to shared memory
  end
};
inline constexpr size_t kKeys = static_cast<size_t>(Key::end);
// Whether devices of that compute capability have it.
constexpr bool is_of(Key key, int sm) {
  return key < Key::wgmma_wait || (key < Key::tensor_issue ? sm == 90 : sm >= 100);
}

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
  Source source = Source::device;
};
// Instructions whose names begin so and have that modifier. `latency`: until the next can use the result;
// `interval`: of warp instructions on a multiprocessor, by so many of which `times` the probe consists.
struct OpCost {
  std::string_view begins, has;
  double latency, interval;
  Source source;
  std::string_view what{};
  double times = 1;
  // Machine code does it by several instructions with a branch among them. Nothing moves over a branch: what
  // stands behind it in the program is issued when it is done.
  bool branches_within = false;
};
// mma.sync.
struct WarpMmaCost {
  std::string_view shape;  // and types
  double latency, interval;
  std::string_view what;
  Source source = Source::device;
};
// tcgen05.mma: M by N, of so many CTAs, each 32 bytes of K long.
struct TensorMmaCost {
  uint32_t ctas, m, n;
  double interval, elsewhere;  // with A in shared memory, and in tensor memory
  double latency;              // until a commit has arrived
  Source source;
  std::string_view what;  // who
};

struct Device {
  std::string_view name, called;
  int sm;
  std::span<const Cost> costs;
  std::span<const CopyCost> copies, tensor_copies;  // of bytes that follow each other, through a tensor map
  std::span<const OpCost> ops;
  std::span<const WarpMmaCost> mmas;
  std::span<const TensorMmaCost> tensors{};
  // Instructions that have no row here cost what they do there, at a guess.
  const Device* like = nullptr;
  // Products take so much of what the rows say.
  double product = 1;

  const Cost& cost(Key key) const;
  double value(Key key) const { return cost(key).value; }
  // Of every key; 0 of those that are of other devices.
  std::array<double, kKeys> values() const;
  // The first that fits; nothing: no row.
  std::optional<OpCost> op(std::string_view name) const;
  const WarpMmaCost* mma(std::string_view name) const;
  // Cycles between wgmmas of n columns that follow one another.
  double wgmma_interval(uint32_t n, bool from_registers) const;
  // Between the rows of the next smaller and larger N; a shape without rows as the nearest that has some.
  TensorMmaCost tensor_mma(uint32_t ctas, uint32_t m, uint32_t n) const;
  // Until its wait is past, with nothing before it.
  double wgmma_latency(uint32_t n, bool from_registers) const;
  // Cycles until the wait for a copy to shared memory is past.
  double copy_latency(uint64_t bytes, bool from_dram, bool tensor_map = false) const;
};

std::span<const Device> devices();
// By name; behind an @, the megahertz at which its clock is locked ("b200@1300"). nullptr: there is no table.
const Device* device(std::string_view name);
// Whether it runs code of a PTX target ("sm_90a").
bool runs(const Device& device, std::string_view target);
// One that does; where none does, the first.
const Device& device_for(std::string_view target);

// The tables, one for each device.
const Device& h200();
const Device& b200();

}  // namespace bitwell::timing
