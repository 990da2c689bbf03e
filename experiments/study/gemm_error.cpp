#include "experiments/study/gemm_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "experiments/study/accumulate.h"
#include "model/machine/failure.h"
#include "model/number/half.h"

namespace bitwell::study {
namespace {

constexpr std::array kTried{Family::gaussian, Family::same_sign, Family::outlier_channels,
                            Family::cancelling};
constexpr std::array<std::string_view, 3> kSums{"blackwell_nvfp4", "hopper_f16", "hopper_f16_f16"};
constexpr std::array<size_t, 4> kSplits{1, 2, 4, 8};
enum class Output { f32, f16, bf16 };
constexpr std::array<std::pair<Output, std::string_view>, 3> kOutputs{
    {{Output::f32, "f32"}, {Output::f16, "f16"}, {Output::bf16, "bf16"}}};

float to_output(Output o, float v) {
  if (o == Output::f32) return v;
  if (o == Output::f16) return number::round_to_half(v);
  const auto bits = std::bit_cast<uint32_t>(v);
  return std::isfinite(v) ? std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000) : v;
}

// Elements [begin, end) of every vector.
Vectors part(const Vectors& v, size_t begin, size_t end) {
  Vectors out{v.count, end - begin, {}, {}};
  for (size_t i = 0; i < v.count; ++i) {
    out.codes.insert(out.codes.end(), &v.codes[i * v.k + begin], &v.codes[i * v.k] + end);
    out.scales.insert(out.scales.end(), &v.scales[(i * v.k + begin) / 16],
                      &v.scales[i * v.k / 16] + end / 16);
  }
  return out;
}

// A split's sums one after another. `handed`: what a split's sum is rounded to before the next takes it.
std::vector<float> split_sum(const Order& order, const Vectors& a, const Vectors& b, size_t split,
                             Output handed) {
  std::vector<float> total;
  for (size_t s = 0; s < split; ++s) {
    const size_t begin = a.k * s / split / 64 * 64;
    const size_t end = s + 1 == split ? a.k : a.k * (s + 1) / split / 64 * 64;
    if (begin == end) continue;  // k has fewer blocks of 64 than there are splits
    const std::vector<float> sums = sums_f32(order, part(a, begin, end), Columns(part(b, begin, end)));
    if (total.empty())
      total = sums;
    else
      for (size_t i = 0; i < total.size(); ++i)
        total[i] = to_output(handed, total[i]) + to_output(handed, sums[i]);
  }
  return total;
}

void check(const GemmErrorPlan& p) {
  if (p.m < 1 || p.m > 4096 || p.n < 1 || p.n > 4096 || p.least_k < 64 || p.most_k > (1 << 20) ||
      p.least_k > p.most_k)
    throw machine::InputError(
        fmt::format("a tile has m and n from 1 to 4096 and k from 64 to 1048576; got {}x{}, k {} to {}", p.m,
                    p.n, p.least_k, p.most_k));
}

}  // namespace

Study gemm_error_study(const GemmErrorPlan& plan) {
  check(plan);
  std::vector<size_t> lengths;
  for (size_t k = std::bit_ceil(plan.least_k); k <= plan.most_k; k *= 2) lengths.insert(lengths.begin(), k);
  if (lengths.empty())
    throw machine::InputError(
        fmt::format("no power of two lies between k {} and {}", plan.least_k, plan.most_k));
  Study out;
  out.name = "gemm-error";
  out.seed = plan.seed;
  out.asked =
      fmt::format("tile {}x{} k {} to {} seed {}", plan.m, plan.n, plan.least_k, plan.most_k, plan.seed);
  out.columns = {"family",       "k",        "sum", "split", "handed_over", "output", "max_relative",
                 "rms_relative", "overflows"};
  out.pieces = kTried.size() * lengths.size();
  out.rows = [=](size_t piece) {
    const Family family = kTried[piece % kTried.size()];
    const size_t k = lengths[piece / kTried.size()];
    const Vectors a = draw(family, true, plan.m, k, plan.seed);
    const Vectors b = draw(family, false, plan.n, k, plan.seed);
    const std::vector<Truth> exact = truths(a, b);
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](std::string_view sum, size_t split, Output handed, Output output,
                         const std::vector<float>& sums) {
      double largest = 0;
      double squares = 0;
      size_t overflows = 0;
      size_t count = 0;
      for (size_t i = 0; i < sums.size(); ++i) {
        const double got = to_output(output, sums[i]);
        if (!std::isfinite(got)) {
          ++overflows;
          continue;
        }
        const double relative =
            exact[i].magnitude == 0 ? 0 : std::fabs(got - exact[i].value) / exact[i].magnitude;
        largest = std::max(largest, relative);
        squares += relative * relative;
        ++count;
      }
      const auto label = [](Output o) {
        return std::string(
            std::find_if(kOutputs.begin(), kOutputs.end(), [&](auto& p) { return p.first == o; })->second);
      };
      rows.push_back({std::string(name_of(family)), std::to_string(k), std::string(sum),
                      std::to_string(split), label(handed), label(output), digits(largest),
                      digits(count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count))),
                      std::to_string(overflows)});
    };
    for (const std::string_view sum : kSums) {
      const Order& order = find_order(sum);
      for (const size_t split : kSplits) {
        const std::vector<float> sums = split_sum(order, a, b, split, Output::f32);
        for (const auto& [output, name] : kOutputs) add(sum, split, Output::f32, output, sums);
        if (split > 1) {
          add(sum, split, Output::f16, Output::f16, split_sum(order, a, b, split, Output::f16));
          add(sum, split, Output::bf16, Output::bf16, split_sum(order, a, b, split, Output::bf16));
        }
      }
    }
    return rows;
  };
  return out;
}

Study gemm_error_map(const GemmErrorPlan& plan) {
  check(plan);
  if (plan.most_k % 64 != 0)
    throw machine::InputError(
        fmt::format("a map is of one k, --most-k, a multiple of 64; got {}", plan.most_k));
  Study out;
  out.name = "gemm-error-map";
  out.seed = plan.seed;
  out.asked = fmt::format("tile {}x{} k {} seed {}", plan.m, plan.n, plan.most_k, plan.seed);
  out.columns = {"family", "sum", "m", "n", "error_over_a", "error_ulp"};
  out.pieces = kTried.size();
  out.rows = [=](size_t piece) {
    const Family family = kTried[piece];
    const Vectors a = draw(family, true, plan.m, plan.most_k, plan.seed);
    const Vectors b = draw(family, false, plan.n, plan.most_k, plan.seed);
    const std::vector<Truth> exact = truths(a, b);
    const Columns columns(b);
    std::vector<std::vector<std::string>> rows;
    for (const std::string_view sum : {kSums[0], kSums[2]}) {
      const std::vector<float> sums = sums_f32(find_order(sum), a, columns);
      for (size_t i = 0; i < sums.size(); ++i) {
        const double error = double{sums[i]} - exact[i].value;
        rows.push_back({std::string(name_of(family)), std::string(sum), std::to_string(i / plan.n),
                        std::to_string(i % plan.n),
                        digits(exact[i].magnitude == 0 ? 0 : error / exact[i].magnitude),
                        digits(error / half_unit_at(exact[i].value))});
      }
    }
    return rows;
  };
  return out;
}

}  // namespace bitwell::study
