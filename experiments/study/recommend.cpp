#include "experiments/study/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/machine/failure.h"
#include "model/number/half.h"

namespace bitwell::study {
namespace {

// The largest p for which so few failures, or fewer, still have a probability of 1 - confidence.
double most_failing(uint64_t outside, uint64_t outputs, double confidence) {
  const auto n = static_cast<double>(outputs);
  if (outside >= outputs) return 1;
  const auto fewer = [&](double p) {  // P(X <= outside)
    double sum = 0;
    for (uint64_t i = 0; i <= outside; ++i) {
      const auto x = static_cast<double>(i);
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(p) +
                      (n - x) * std::log1p(-p));
    }
    return sum;
  };
  double low = static_cast<double>(outside) / n;
  double high = 1;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (fewer(middle) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

std::string explain(const Order& order, const Vectors& a, const Vectors& b, size_t row, size_t column) {
  if (order.rule != nullptr) return "the tensor core's sum leaves fp16's range or its precision";
  const size_t k = a.k;
  const number::DotOperands operands{std::span(a.codes).subspan(row * k, k),
                                     std::span(b.codes).subspan(column * k, k),
                                     std::span(a.scales).subspan(row * k / 16, k / 16),
                                     std::span(b.scales).subspan(column * k / 16, k / 16)};
  number::FirstLoss loss;
  number::evaluate(order.sum, operands, &loss);
  if (!loss.found)
    return "no sum loses anything: the scales' product leaves fp16's range, or the exact sum lies at its "
           "edge";
  if (loss.of_sums)
    return fmt::format("the sums {} and {} make {} in fp16{}", loss.sum, loss.addend, loss.after,
                       loss.overflow ? ", beyond 65504" : "");
  if (loss.overflow)
    return fmt::format("thread {}, element {}: {} + {} is beyond fp16's 65504", loss.thread, loss.element,
                       loss.sum, loss.addend);
  return fmt::format("thread {}, element {}: {} + {} stays {} in fp16", loss.thread, loss.element, loss.sum,
                     loss.addend, loss.sum);
}

}  // namespace

std::vector<Answer> recommend(const Question& q, const std::function<void(size_t, size_t)>& progress) {
  if (q.m < 1 || q.l < 1 || q.k < 16 || q.k % 16 != 0 || q.k > 1 << 20)
    throw machine::InputError(
        fmt::format("a shape is MxKxL, m and l at least 1, k a multiple of 16 up to 1048576; got {}x{}x{}",
                    q.m, q.k, q.l));
  const int64_t problems = int64_t{std::max(1, q.problems)} * q.l;  // each a row of b
  if (problems * q.k > int64_t{1} << 31)
    throw machine::InputError(fmt::format(
        "{} problems of k = {} do not fit into memory: fewer --problems or a smaller l", problems, q.k));
  check(q.tolerance);
  if (!(q.confidence > 0 && q.confidence < 1))
    throw machine::InputError(fmt::format("a confidence lies between 0 and 1; got {}", q.confidence));
  std::vector<Order> chosen;
  for (const std::string& name : q.orders) chosen.push_back(find_order(name));
  for (const Order& o : orders())
    if (q.orders.empty() && (q.tensor_cores || o.rule == nullptr)) chosen.push_back(o);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Order& a, const Order& b) { return a.cost < b.cost; });
  const Family family = find_family(q.family).family;
  const size_t columns = static_cast<size_t>(problems + 15) / 16 * 16;
  const auto rows = static_cast<size_t>(q.m);
  const auto k = static_cast<size_t>(q.k);
  constexpr size_t kRowsAtOnce = 512;
  const Vectors b = draw(family, false, columns, k, q.seed);
  const Columns prepared(b);
  std::vector<Answer> out;
  for (const Order& o : chosen)
    out.push_back({std::string(o.name), std::string(o.about), o.cost, 0, 0, 0, 0, ""});
  for (size_t first = 0; first < rows; first += kRowsAtOnce) {
    const Vectors a = draw(family, true, std::min(kRowsAtOnce, rows - first), k, q.seed + 1 + first);
    const std::vector<Truth> exact = truths(a, b);
    for (size_t i = 0; i < chosen.size(); ++i) {
      const std::vector<uint16_t> got = results(chosen[i], a, prepared);
      Answer& answer = out[i];
      for (size_t j = 0; j < got.size(); ++j) {
        const double want = number::half_to_float(number::float_to_half(static_cast<float>(exact[j].value)));
        const double value = number::half_to_float(got[j]);
        const double allowed = q.tolerance.absolute + q.tolerance.relative * std::fabs(want);
        const bool same = got[j] == number::float_to_half(static_cast<float>(want));
        const double off = same                                          ? 0
                           : std::isfinite(want) && std::isfinite(value) ? std::fabs(value - want) / allowed
                                                                         : INFINITY;
        ++answer.outputs;
        answer.worst = std::max(answer.worst, off);
        if (off <= 1) continue;
        ++answer.outside;
        if (answer.why.empty()) answer.why = explain(chosen[i], a, b, j / columns, j % columns);
      }
    }
    if (progress) progress(std::min(rows, first + kRowsAtOnce), rows);
  }
  for (Answer& a : out) a.most_failing = most_failing(a.outside, a.outputs, q.confidence);
  return out;
}

const Answer* cheapest(const std::vector<Answer>& answers) {
  const auto found =
      std::find_if(answers.begin(), answers.end(), [](const Answer& a) { return a.outside == 0; });
  return found == answers.end() ? nullptr : &*found;
}

}  // namespace bitwell::study
