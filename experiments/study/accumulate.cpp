#include "experiments/study/accumulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/study/adversarial.h"
#include "model/machine/failure.h"

namespace bitwell::study {
namespace {

constexpr size_t kColumnsAtOnce = 16;
constexpr size_t kLongest = size_t{1} << 20;  // of k: the oracle is exact up to there
constexpr size_t kWhole = 16384;              // the longest k with all dot products

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "all" : fmt::format("{}", fmt::join(names, "+"));
}

std::vector<std::string> row_of(const NamedFamily& family, size_t k, const Order& o, const Bound& limit,
                                const Statistics& t) {
  return {std::string(family.name),
          std::to_string(k),
          std::string(o.name),
          std::to_string(t.dots),
          std::to_string(t.overflows),
          std::to_string(t.underflows),
          std::to_string(t.outside),
          digits(t.max_relative),
          digits(t.mean_relative),
          digits(t.max_ulp),
          digits(t.mean_ulp),
          digits(t.median_ulp),
          digits(t.ulp90),
          digits(t.ulp99),
          digits(t.bits),
          digits(limit.worst),
          digits(limit.probable),
          std::to_string(t.beyond_worst),
          std::to_string(t.beyond_probable)};
}

}  // namespace

const NamedFamily& find_family(std::string_view name) {
  std::string known;
  for (const NamedFamily& f : families()) {
    if (f.name == name) return f;
    known += (known.empty() ? "" : ", ") + std::string(f.name);
  }
  throw machine::InputError("no data family '" + std::string(name) + "'; there are " + known);
}

Sample sample(Family family, size_t k, size_t dots, uint64_t seed) {
  const size_t fewer = std::max<size_t>(kColumnsAtOnce, k > kWhole ? dots * kWhole / k : dots);
  const auto root = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(fewer))));
  const size_t columns = (root + kColumnsAtOnce - 1) / kColumnsAtOnce * kColumnsAtOnce;
  const size_t rows = (fewer + columns - 1) / columns;
  return {draw(family, true, rows, k, seed), draw(family, false, columns, k, seed)};
}

Study accumulate_study(const AccumulatePlan& plan) {
  if (plan.least_k < 16 || plan.most_k > kLongest || plan.least_k > plan.most_k)
    throw machine::InputError(
        fmt::format("k goes from 16 to {}; got {} to {}", kLongest, plan.least_k, plan.most_k));
  if (std::bit_ceil(plan.least_k) > plan.most_k)
    throw machine::InputError(
        fmt::format("no power of two lies between k {} and {}", plan.least_k, plan.most_k));
  constexpr size_t kMostDots = size_t{1} << 32;
  if (plan.dots < 1 || plan.dots > kMostDots)
    throw machine::InputError(fmt::format("a point has 1 to {} dot products; got {}", kMostDots, plan.dots));
  check(plan.tolerance);
  std::vector<Order> chosen;
  for (const Order& o : orders())
    if (plan.orders.empty()) chosen.push_back(o);
  for (const std::string& name : plan.orders) chosen.push_back(find_order(name));
  std::vector<NamedFamily> of(families().begin(), families().end());
  if (!plan.families.empty()) of.clear();
  for (const std::string& name : plan.families) of.push_back(find_family(name));
  std::vector<size_t> lengths;
  for (size_t k = std::bit_ceil(plan.least_k); k <= plan.most_k; k *= 2) lengths.push_back(k);
  Study out;
  out.name = "accumulate";
  out.seed = plan.seed;
  out.asked =
      fmt::format("orders {} families {} k {} to {} dots {} seed {} tolerance {} relative {} absolute",
                  joined(plan.orders), joined(plan.families), plan.least_k, plan.most_k, plan.dots, plan.seed,
                  plan.tolerance.relative, plan.tolerance.absolute);
  out.columns = {"family",         "k",
                 "order",          "dots",
                 "overflows",      "underflows",
                 "outside",        "max_relative",
                 "mean_relative",  "max_ulp",
                 "mean_ulp",       "median_ulp",
                 "ulp90",          "ulp99",
                 "bits",           "bound_worst",
                 "bound_probable", "beyond_worst",
                 "beyond_probable"};
  out.pieces = of.size() * lengths.size();
  // The longest first, so that cores end together.
  std::reverse(lengths.begin(), lengths.end());
  out.rows = [=](size_t piece) {
    const NamedFamily& family = of[piece % of.size()];
    const size_t k = lengths[piece / of.size()];
    std::vector<std::vector<std::string>> rows;
    if (family.family == Family::adversarial) {
      const std::vector<Worst> found = search(chosen, k, plan.dots, plan.seed);
      for (size_t i = 0; i < chosen.size(); ++i) {
        const Order& o = chosen[i];
        const Worst& w = found[i];
        const Bound limit = bound(o, k);
        rows.push_back(row_of(family, k, o, limit, statistics(w.results, w.exact, limit, plan.tolerance)));
      }
      return rows;
    }
    const Sample s = sample(family.family, k, plan.dots, plan.seed);
    const Columns columns(s.b);
    const std::vector<Truth> exact = truths(s.a, s.b);
    for (const Order& o : chosen) {
      const Bound limit = bound(o, k);
      rows.push_back(
          row_of(family, k, o, limit, statistics(results(o, s.a, columns), exact, limit, plan.tolerance)));
    }
    return rows;
  };
  return out;
}

AccumulatePoint accumulate_point(const std::vector<std::string>& row) {
  AccumulatePoint p;
  size_t i = 0;
  const auto number = [&] { return std::stod(row.at(i++)); };
  const auto count = [&] { return std::stoull(row.at(i++)); };
  p.family = row.at(i++);
  p.k = count();
  p.order = row.at(i++);
  Statistics& t = p.statistics;
  t.dots = count();
  t.overflows = count();
  t.underflows = count();
  t.outside = count();
  t.max_relative = number();
  t.mean_relative = number();
  t.max_ulp = number();
  t.mean_ulp = number();
  t.median_ulp = number();
  t.ulp90 = number();
  t.ulp99 = number();
  t.bits = number();
  p.bound.worst = number();
  p.bound.probable = number();
  t.beyond_worst = count();
  t.beyond_probable = count();
  return p;
}

}  // namespace bitwell::study
