#include "model/timing/cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "model/machine/failure.h"

namespace bitwell::timing {

const Cost& Device::cost(Key key) const {
  const auto at = std::find_if(costs.begin(), costs.end(), [&](const Cost& c) { return c.key == key; });
  if (at == costs.end())
    throw machine::ModelBug("the table of " + std::string(name) + " lacks cost " +
                            std::to_string(static_cast<int>(key)));
  return *at;
}

std::array<double, kKeys> Device::values() const {
  std::array<double, kKeys> out{};
  for (const Cost& c : costs) out[static_cast<size_t>(c.key)] = c.value;
  return out;
}

// A modifier: not the beginning of a longer one.
static bool has_modifier(std::string_view name, std::string_view modifier) {
  for (size_t at = name.find(modifier); at != std::string_view::npos; at = name.find(modifier, at + 1))
    if (const size_t end = at + modifier.size(); end == name.size() || name[end] == '.') return true;
  return false;
}

std::optional<OpCost> Device::op(std::string_view text) const {
  for (const OpCost& row : ops) {
    if (text.substr(0, row.begins.size()) != row.begins) continue;
    // "add" is not the beginning of "addc".
    if (text.size() > row.begins.size() && text[row.begins.size()] != '.' && row.begins.back() != '.' &&
        row.begins.find('.') == std::string_view::npos)
      continue;
    if (row.has.empty() || has_modifier(text, row.has)) return row;
  }
  std::optional<OpCost> out;
  if (like != nullptr) out = like->op(text);
  if (out) out->source = Source::guess;
  return out;
}

const WarpMmaCost* Device::mma(std::string_view text) const {
  for (const WarpMmaCost& row : mmas)
    if (text.find(row.shape) != std::string_view::npos) return &row;
  return nullptr;
}

double Device::wgmma_interval(uint32_t n, bool from_registers) const {
  // B is read at 128 bytes a cycle, and A with it where that comes from shared memory.
  return product *
         std::max(n / 2.0, from_registers ? value(Key::wgmma_least) : value(Key::wgmma_a) + n / 4.0);
}

double Device::wgmma_latency(uint32_t n, bool from_registers) const {
  constexpr uint32_t kProbed = 64, kLong = 128;
  const double fixed = value(Key::wgmma_wait) - kProbed / 2.0;
  return fixed + n / 2.0 + (n > kLong ? value(Key::wgmma_long) : 0) -
         (from_registers ? value(Key::wgmma_registers) : 0);
}

TensorMmaCost Device::tensor_mma(uint32_t ctas, uint32_t m, uint32_t n) const {
  const TensorMmaCost *below = nullptr, *above = nullptr;
  const auto far = [&](const TensorMmaCost& c) {
    return std::tuple(c.ctas != ctas, c.m > m ? c.m - m : m - c.m);
  };
  auto nearest = far(tensors.front());
  for (const TensorMmaCost& c : tensors) nearest = std::min(nearest, far(c));
  for (const TensorMmaCost& c : tensors) {
    if (far(c) != nearest) continue;
    if (c.n <= n && (below == nullptr || c.n > below->n)) below = &c;
    if (c.n >= n && (above == nullptr || c.n < above->n)) above = &c;
  }
  if (below == nullptr) below = above;
  if (above == nullptr) above = below;
  TensorMmaCost out = *below;
  if (above->n != below->n) {
    const double part = (static_cast<double>(n) - below->n) / (static_cast<double>(above->n) - below->n);
    const auto between = [&](double TensorMmaCost::*of) {
      return below->*of + part * (above->*of - below->*of);
    };
    out.interval = between(&TensorMmaCost::interval);
    out.elsewhere = between(&TensorMmaCost::elsewhere);
    out.latency = between(&TensorMmaCost::latency);
  }
  out.interval *= product;
  out.elsewhere *= product;
  if (below->n > n || above->n < n || nearest != std::tuple(false, 0U)) out.source = Source::guess;
  return out;
}

double Device::copy_latency(uint64_t bytes, bool from_dram, bool tensor_map) const {
  const std::span<const CopyCost> rows = tensor_map ? tensor_copies : copies;
  const auto of = [&](const CopyCost& c) { return from_dram ? c.dram : c.l2; };
  if (bytes <= rows.front().bytes) return of(rows.front());
  for (size_t i = 1; i < rows.size(); ++i) {
    const CopyCost &a = rows[i - 1], &b = rows[i];
    if (bytes <= b.bytes || i + 1 == rows.size())
      return of(a) + (of(b) - of(a)) * (static_cast<double>(bytes) - a.bytes) / (b.bytes - a.bytes);
  }
  return 0;
}

std::span<const Device> devices() {
  static const std::array<Device, 2> all{h200(), b200()};
  return all;
}

namespace {

struct Locked {
  std::string name, called;
  std::vector<Cost> costs;
  Device device;
};

// What a multiprocessor does in a cycle, it does in that cycle; so does L2: a B200 at 1.3 GHz gives some 13
// TB/s (hbarclay/gemm-model's timings), one that is not locked at least 20 (CUTLASS, in
// ultism/svdquant-kernels). DRAM goes by its own clock.
std::unique_ptr<const Locked> locked(const Device& d, double megahertz, std::string_view name) {
  auto out = std::make_unique<Locked>();
  out->name = name;
  out->called = std::string(d.called) + " at " + std::to_string(static_cast<int>(megahertz)) + " MHz";
  out->costs.assign(d.costs.begin(), d.costs.end());
  const double faster = megahertz / d.value(Key::clock);
  for (Cost& c : out->costs) {
    if (c.key == Key::clock || c.key == Key::loaded_clock || c.key == Key::alone_clock)
      c.value = c.low = c.high = megahertz;
    if (c.key == Key::few_sms_bandwidth || c.key == Key::l2_bandwidth)
      for (double* const v : {&c.value, &c.low, &c.high}) *v *= faster;
  }
  out->device = d;
  out->device.name = out->name;
  out->device.called = out->called;
  out->device.costs = out->costs;
  return out;
}

}  // namespace

const Device* device(std::string_view name) {
  const size_t at = name.find('@');
  const auto of = std::find_if(devices().begin(), devices().end(),
                               [&](const Device& d) { return d.name == name.substr(0, at); });
  if (of == devices().end()) return nullptr;
  if (at == std::string_view::npos) return &*of;
  const std::string_view text = name.substr(at + 1);
  int megahertz = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), megahertz);
  constexpr int kLeast = 100, kMost = 10000;
  if (error != std::errc() || end != text.data() + text.size() || megahertz < kLeast || megahertz > kMost)
    return nullptr;
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Locked>, std::less<>> all;
  const std::lock_guard lock(mutex);
  auto& found = all[std::string(name)];
  if (found == nullptr) found = locked(*of, megahertz, name);
  return &found->device;
}

bool runs(const Device& device, std::string_view target) {
  int sm = 0;
  size_t at = target.find_first_of("0123456789");
  for (; at < target.size() && target[at] >= '0' && target[at] <= '9'; ++at)
    sm = 10 * sm + (target[at] - '0');
  const char suffix = at < target.size() ? target[at] : ' ';
  if (suffix == 'a') return sm == device.sm;
  return sm <= device.sm && (suffix != 'f' || sm / 10 == device.sm / 10);
}

const Device& device_for(std::string_view target) {
  for (const Device& d : devices())
    if (runs(d, target)) return d;
  return devices().front();
}

}  // namespace bitwell::timing
