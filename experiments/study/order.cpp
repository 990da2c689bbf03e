#include "experiments/study/order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "model/machine/failure.h"
#include "model/number/codec.h"
#include "model/number/half.h"
#include "model/number/tile/accumulation_tile.h"
#include "model/number/tile/dot_tile.h"
#include "verify/suite/kernels/gemv.h"

namespace bitwell::study {
namespace {

using number::Accumulation;
using number::Combine;
using number::GroupSum;

std::vector<Order> make_orders() {
  std::vector<Order> out;
  const auto add = [&](std::string_view name, std::string_view about, Accumulation sum, int cost) {
    sum.name = name;
    out.push_back({name, about, sum, nullptr, cost});
  };
  const GroupSum half = GroupSum::running_f16;
  const GroupSum pair = GroupSum::running_f16x2;
  add("f16_sequential", "one fp16 sum", {.group = half}, 2);
  add("f16x2_sequential", "one packed pair of fp16 sums", {.group = pair}, 1);
  add("f16_blocked_128", "fp16 sums of 128, added in fp16",
      {.tile = 128, .group = half, .drain_each_tile = true, .drain_f16 = true}, 2);
  add("f16_tree", "fp16 sums of 16, added by a tree in fp16",
      {.threads = 0, .tile = 16, .group = half, .combine = Combine::butterfly, .combine_f16 = true}, 2);
  add("f16x2_warp", "32 threads, packed fp16, butterfly in fp16",
      {.threads = 32, .group = pair, .combine = Combine::butterfly, .combine_f16 = true}, 1);
  add("f16x2_warp_f32", "32 threads, packed fp16, butterfly in fp32",
      {.threads = 32, .group = pair, .combine = Combine::butterfly}, 1);
  for (const auto& [name, about, tile] :
       {std::tuple{"f16x2_promoted_32", "packed fp16, into fp32 every 32", 32},
        {"f16x2_promoted_128", "packed fp16, into fp32 every 128", 128},
        {"f16x2_promoted_512", "packed fp16, into fp32 every 512", 512}})
    add(name, about, {.tile = tile, .group = pair, .drain_each_tile = true}, 3);
  add("contest_k16384", "a contest entry for 7168x16384x1: 16 threads, packed fp16, in order in fp32",
      {.threads = 16, .tile = 128, .group = pair, .combine = Combine::sequential}, 1);
  add("contest_k2048", "a contest entry for 7168x2048x4: 4 threads, packed fp16, butterfly in fp16",
      {.threads = 4, .tile = 128, .group = pair, .combine = Combine::butterfly, .combine_f16 = true}, 1);
  add("contest_k7168", "a contest entry for 4096x7168x8: 4 threads, packed fp16 into fp32 every 128",
      {.threads = 4, .tile = 128, .group = pair, .drain_each_tile = true, .combine = Combine::butterfly}, 3);
  add("f32_sequential", "one fp32 sum", {.group = GroupSum::scaled_products_f32}, 5);
  add("f32_tree", "fp32 sums of 16, added by a tree",
      {.threads = 0, .tile = 16, .group = GroupSum::scaled_products_f32, .combine = Combine::butterfly}, 5);
  add("f32_warp", "32 threads, an fp32 sum each, butterfly in fp32",
      {.threads = 32, .tile = 16, .group = GroupSum::scaled_products_f32, .combine = Combine::butterfly}, 5);
  for (const suite::GemvRung& r : suite::gemv_rungs()) {
    if (!r.studied) continue;
    const bool f16 = r.order.group == half || r.order.group == pair;
    out.push_back({r.name, "the kernel of this name in kernels/gemv", r.order, nullptr, f16 ? 2 : 4});
  }
  for (const auto& [name, architecture, instruction, output] :
       {std::tuple{"volta_f16", "volta", "mma.sync", &number::f32},
        {"turing_f16", "turing", "mma.sync", &number::f32},
        {"ampere_f16", "ampere", "mma.sync", &number::f32},
        {"ada_f16", "ada", "mma.sync", &number::f32},
        {"hopper_f16", "hopper", "wgmma", &number::f32},
        {"hopper_f16_f16", "hopper", "wgmma", &number::f16},
        {"blackwell_f16", "blackwell", "tcgen05", &number::f32}})
    out.push_back({name,
                   "tensor core, fp16 operands",
                   {},
                   number::find_dot_rule(architecture, instruction, number::f16, number::f16, *output),
                   0});
  out.push_back({"blackwell_nvfp4",
                 "tensor core, NVFP4 operands",
                 {},
                 number::find_dot_rule("blackwell", "mxf4nvf4", number::e2m1, number::e2m1, number::f32,
                                       &number::ue4m3, 16),
                 0});
  return out;
}

const std::vector<Order>& all() {
  static const std::vector<Order> list = make_orders();
  return list;
}

// Values of a vector's elements times their scales as fp16 codes: exact, since significands of two and
// four bits make one of six, and 2^-10 to 2688 are normal fp16 numbers.
std::vector<uint32_t> as_f16(const Vectors& v) {
  static const auto scales = [] {
    std::vector<uint8_t> codes(256);
    std::iota(codes.begin(), codes.end(), uint8_t{0});
    std::vector<uint16_t> halves(256);
    number::decode_e4m3_to_f16(codes, halves);
    return halves;
  }();
  static constexpr std::array<float, 8> kMagnitudes{0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  std::vector<uint32_t> out(v.codes.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = number::float_to_half(((v.codes[i] & 8) != 0 ? -1.0F : 1.0F) * kMagnitudes[v.codes[i] & 7] *
                                   number::half_to_float(scales[v.scales[i / 16]]));
  return out;
}

std::vector<uint32_t> words(const Vectors& v) { return {v.codes.begin(), v.codes.end()}; }

}  // namespace

std::span<const Order> orders() { return all(); }
const Order& find_order(std::string_view name) {
  std::string known;
  for (const Order& o : all()) {
    if (o.name == name) return o;
    known += (known.empty() ? "" : ", ") + std::string(o.name);
  }
  throw machine::InputError("no order '" + std::string(name) + "'; there are " + known);
}

struct Columns::Prepared {
  number::AccumulationColumns sums;
  number::DotColumns halves;
  number::DotColumns scaled;
};
Columns::Columns(const Vectors& b)
    : count_(b.count),
      prepared_(new Prepared{
          {b.codes, b.scales, b.count, b.k},
          number::prepare_columns(*find_order("hopper_f16").rule, {&number::f16, as_f16(b)}, b.count, b.k),
          number::prepare_columns(*find_order("blackwell_nvfp4").rule, {&number::e2m1, words(b), b.scales},
                                  b.count, b.k)}) {}
Columns::~Columns() = default;

std::vector<uint16_t> results(const Order& order, const Vectors& a, const Columns& b) {
  std::vector<uint16_t> out(a.count * b.count());
  if (order.rule == nullptr) {
    number::accumulation_tile(order.sum, a.codes, a.scales, a.count, b.prepared_->sums, out);
    return out;
  }
  const std::vector<float> sums = sums_f32(order, a, b);
  std::transform(sums.begin(), sums.end(), out.begin(), number::float_to_half);
  return out;
}

std::vector<float> sums_f32(const Order& order, const Vectors& a, const Columns& b) {
  std::vector<uint32_t> d(a.count * b.count());
  if (order.block_scaled())
    number::dot_tile(*order.rule, {&number::e2m1, words(a), a.scales}, a.count, b.prepared_->scaled, d);
  else
    number::dot_tile(*order.rule, {&number::f16, as_f16(a)}, a.count, b.prepared_->halves, d);
  const bool f16 = order.rule->output == &number::f16;
  std::vector<float> out(d.size());
  std::transform(d.begin(), d.end(), out.begin(), [&](uint32_t code) {
    return f16 ? number::half_to_float(static_cast<uint16_t>(code)) : std::bit_cast<float>(code);
  });
  return out;
}

}  // namespace bitwell::study
