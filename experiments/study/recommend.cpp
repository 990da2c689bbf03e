#include "experiments/study/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

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

constexpr size_t kRowsOfAPiece = 512;

// What an order's first failing output loses, as cells: a kind, and what is said of it.
constexpr const char* kNothing = "-";
using Cells = std::vector<std::string>;
Cells first_loss(const Order& order, const Vectors& a, const Vectors& b, size_t row, size_t column) {
  const auto only = [](const char* kind) {
    return Cells{kind, kNothing, kNothing, kNothing, kNothing, kNothing};
  };
  if (order.rule != nullptr) return only("tensor_core");
  const size_t k = a.k;
  const number::DotOperands operands{std::span(a.codes).subspan(row * k, k),
                                     std::span(b.codes).subspan(column * k, k),
                                     std::span(a.scales).subspan(row * k / 16, k / 16),
                                     std::span(b.scales).subspan(column * k / 16, k / 16)};
  number::FirstLoss loss;
  number::evaluate(order.sum, operands, &loss);
  if (!loss.found) return only("no_sum");
  return {std::string(loss.of_sums ? "sums" : "element") + (loss.overflow ? "_overflow" : ""),
          loss.of_sums ? kNothing : std::to_string(loss.thread),
          loss.of_sums ? kNothing : std::to_string(loss.element),
          fmt::format("{}", loss.sum),
          fmt::format("{}", loss.addend),
          fmt::format("{}", loss.after)};
}

std::string explained(const std::string& kind, const std::string& thread, const std::string& element,
                      const std::string& sum, const std::string& addend, const std::string& after) {
  if (kind == kNothing) return "";
  if (kind == "tensor_core") return "the tensor core's sum leaves fp16's range or its precision";
  if (kind == "no_sum")
    return "no sum loses anything: the scales' product leaves fp16's range, or the exact sum lies at its "
           "edge";
  if (kind.starts_with("sums"))
    return fmt::format("the sums {} and {} make {} in fp16{}", sum, addend, after,
                       kind == "sums" ? "" : ", beyond 65504");
  const std::string where = fmt::format("thread {}, element {}: {} + {} ", thread, element, sum, addend);
  return where + (kind == "element" ? fmt::format("stays {} in fp16", sum) : "is beyond fp16's 65504");
}

std::vector<Order> chosen_of(const Question& q) {
  std::vector<Order> out;
  for (const std::string& name : q.orders) out.push_back(find_order(name));
  for (const Order& o : orders())
    if (q.orders.empty() && (q.tensor_cores || o.rule == nullptr)) out.push_back(o);
  std::stable_sort(out.begin(), out.end(), [](const Order& a, const Order& b) { return a.cost < b.cost; });
  return out;
}

// How far a result is from what is wanted, in tolerances.
double off_by(uint16_t got, double exact, const Tolerance& tolerance) {
  const uint16_t want = number::float_to_half(static_cast<float>(exact));
  if (got == want) return 0;
  const double wanted = number::half_to_float(want), value = number::half_to_float(got);
  if (!std::isfinite(wanted) || !std::isfinite(value)) return INFINITY;
  return std::fabs(value - wanted) / (tolerance.absolute + tolerance.relative * std::fabs(wanted));
}

// One side of the problems, drawn once by whoever comes first.
struct Shared {
  std::once_flag once;
  Vectors b;
  std::optional<Columns> prepared;
};

}  // namespace

Study recommend_study(const Question& q) {
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
  const Family family = find_family(q.family).family;
  const size_t columns = static_cast<size_t>(problems + 15) / 16 * 16;
  const auto shared = std::make_shared<Shared>();
  Study out;
  out.name = "recommend";
  out.seed = q.seed;
  out.asked = fmt::format(
      "shape {}x{}x{} family {} orders {}{} rtol {} atol {} confidence {} problems {} seed {}", q.m, q.k, q.l,
      q.family, q.orders.empty() ? "all" : fmt::format("{}", fmt::join(q.orders, "+")),
      q.tensor_cores ? " and tensor cores'" : "", q.tolerance.relative, q.tolerance.absolute, q.confidence,
      q.problems, q.seed);
  out.columns = {"order", "outputs", "outside", "worst_over_tolerance", "first_loss", "thread", "element",
                 "sum",   "addend",  "after"};
  const auto rows = static_cast<size_t>(q.m), k = static_cast<size_t>(q.k);
  out.pieces = (rows + kRowsOfAPiece - 1) / kRowsOfAPiece;
  out.rows = [=, chosen = chosen_of(q)](size_t piece) {
    std::call_once(shared->once, [&] {
      shared->b = draw(family, false, columns, k, q.seed);
      shared->prepared.emplace(shared->b);
    });
    const size_t first = piece * kRowsOfAPiece;
    const Vectors a = draw(family, true, std::min(kRowsOfAPiece, rows - first), k, q.seed + 1 + first);
    const std::vector<Truth> exact = truths(a, shared->b);
    Rows made;
    for (const Order& order : chosen) {
      const std::vector<uint16_t> got = results(order, a, *shared->prepared);
      uint64_t outside = 0;
      double worst = 0;
      Cells loss(6, kNothing);
      for (size_t j = 0; j < got.size(); ++j) {
        const double off = off_by(got[j], exact[j].value, q.tolerance);
        worst = std::max(worst, off);
        if (off <= 1) continue;
        if (outside++ == 0) loss = first_loss(order, a, shared->b, j / columns, j % columns);
      }
      Cells row{std::string(order.name), std::to_string(got.size()), std::to_string(outside),
                fmt::format("{}", worst)};
      row.insert(row.end(), loss.begin(), loss.end());
      made.push_back(std::move(row));
    }
    return made;
  };
  return out;
}

std::vector<Answer> answers(const Question& q, const Rows& rows) {
  std::vector<Answer> out;
  for (const Order& o : chosen_of(q))
    out.push_back({std::string(o.name), std::string(o.about), o.cost, 0, 0, 0, 0, ""});
  for (size_t i = 0; i < rows.size(); ++i) {  // a piece has a row an order
    const Cells& row = rows[i];
    Answer& answer = out[i % out.size()];
    answer.outputs += std::stoull(row[1]);
    answer.outside += std::stoull(row[2]);
    answer.worst = std::max(answer.worst, std::stod(row[3]));
    if (answer.why.empty()) answer.why = explained(row[4], row[5], row[6], row[7], row[8], row[9]);
  }
  for (Answer& a : out)
    if (a.outputs != 0) a.most_failing = most_failing(a.outside, a.outputs, q.confidence);
  return out;
}

const Answer* cheapest(const std::vector<Answer>& answers) {
  const auto found =
      std::find_if(answers.begin(), answers.end(), [](const Answer& a) { return a.outside == 0; });
  return found == answers.end() ? nullptr : &*found;
}

}  // namespace bitwell::study
