#include "model/timing/change.h"

#include <algorithm>
#include <random>

namespace bitwell::timing {
namespace {

bool is_barrier(Key k) {
  switch (k) {
    case Key::bar_sync:
    case Key::bar_sync_a_warp:
    case Key::cluster_barrier:
    case Key::cluster_barrier_a_warp:
    case Key::mbarrier_arrive:
    case Key::mbarrier_arrive_expect:
    case Key::mbarrier_token:
    case Key::mbarrier_wait:
    case Key::mbarrier_handover:
    case Key::fence_cta:
    case Key::fence_gpu:
    case Key::fence_sys:
    case Key::fence_proxy:
    case Key::fence_proxy_shared:
    case Key::fence_proxy_global:
    case Key::cluster_wait:
    case Key::wait_group:
    case Key::warp_step: return true;
    default: return false;
  }
}

bool is_part(Part part, Key k) {
  switch (part) {
    case Part::dram: return k == Key::memory_clock_free_bandwidth;
    case Part::l2:
      return k == Key::l2_bandwidth || k == Key::few_sms_bandwidth ||
             (k >= Key::update_word && k <= Key::exchange_word);
    case Part::latency:
      return k == Key::l2_latency || (k >= Key::dram_latency && k <= Key::dram_refreshed) ||
             k == Key::global_atomic || k == Key::remote_latency || k == Key::cp_async_latency;
    case Part::tensor: return k == Key::mma_interval;
    case Part::arithmetic: return k == Key::unknown_latency || k == Key::unknown_interval;
    case Part::beside: return k == Key::wgmma_beside;
    case Part::barriers: return is_barrier(k);
    case Part::launch: return k == Key::launch || k == Key::launch_a_cta || k == Key::launch_a_cluster;
  }
  return false;
}

}  // namespace

void Changed::take(const Device& d) {
  costs_.assign(d.costs.begin(), d.costs.end());
  copies_.assign(d.copies.begin(), d.copies.end());
  tensor_copies_.assign(d.tensor_copies.begin(), d.tensor_copies.end());
  ops_.assign(d.ops.begin(), d.ops.end());
  // What it takes from another device is that device's, and so is changed with it.
  for (const Device* like = d.like; like != nullptr; like = like->like)
    for (const OpCost& row : like->ops) {
      ops_.push_back(row);
      ops_.back().source = Source::guess;
    }
  mmas_.assign(d.mmas.begin(), d.mmas.end());
  device_ = d;
  device_.costs = costs_;
  device_.copies = copies_;
  device_.tensor_copies = tensor_copies_;
  device_.ops = ops_;
  device_.like = nullptr;
  device_.mmas = mmas_;
}

Changed::Changed(const Device& d, Part part, double factor) {
  take(d);
  for (Cost& c : costs_) {
    if (!is_part(part, c.key)) continue;
    const double by = c.scale == Scale::gigabytes_a_second ? 1 / factor : factor;
    const double least = part == Part::beside ? 1 : 0;  // as long as by itself
    for (double* const v : {&c.value, &c.low, &c.high}) *v = least + (*v - least) * by;
  }
  if (part == Part::latency || part == Part::barriers) {
    // Rows of copies hold the wait behind them: what it costs less, they do.
    const double wait = d.value(Key::mbarrier_wait);
    for (auto* const rows : {&copies_, &tensor_copies_})
      for (CopyCost& c : *rows)
        for (double* const v : {&c.l2, &c.dram})
          *v = part == Part::latency ? wait + (*v - wait) * factor : *v - wait * (1 - factor);
  }
  if (part == Part::tensor) {
    device_.product *= factor;
    for (WarpMmaCost& m : mmas_) m.interval *= factor;
  }
  if (part == Part::arithmetic)
    for (OpCost& o : ops_) {
      o.latency *= factor;
      o.interval *= factor;
    }
}

Changed::Changed(const Device& d, uint64_t seed) {
  take(d);
  std::mt19937_64 random(seed);
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (Cost& c : costs_) c.value = c.low + (c.high - c.low) * share();
}

}  // namespace bitwell::timing
