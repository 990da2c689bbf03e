#include "verify/launch/file/product.h"

#include <algorithm>
#include <cmath>

#include "verify/launch/file/numbers.h"

namespace bitwell::launch {
namespace {

using What = WrongProducts::What;

constexpr uint64_t kUnit = 16;  // of k: every piece starts and ends at a multiple
constexpr uint64_t kWidths[] = {256, 128, 64, 32, 16};
constexpr uint64_t kMostSteps = 1024;  // of one width that are exchanged with each other
constexpr size_t kSamples = 32;        // wrong elements that a guess must fit first
constexpr size_t kLeast = 8;           // elements from which anything follows
// Of the sum of all products' magnitudes: what sums in fp32 in another order may differ by.
constexpr double kSums = 0x1p-20;

// A guess: k from `from` to `to` - 1 is missing, twice, or of other places. Its `elements` are not known yet.
using Guess = WrongProducts;

class Products {
 public:
  explicit Products(const Product& p) : p_(p), a_(rows(p.a, p.m, false)), b_(rows(p.b, p.n, p.b_is_kn)) {
    norms(a_, p.m, a_norms_);
    norms(b_, p.n, b_norms_);
  }

  // Of `element`: alpha times the sum of `count` products from there on.
  double sum(uint64_t element, uint64_t a_from, uint64_t b_from, uint64_t count) const {
    const double* a = &a_[element / p_.n * p_.k + a_from];
    const double* b = &b_[element % p_.n * p_.k + b_from];
    double out = 0;
    for (uint64_t i = 0; i < count; ++i) out += a[i] * b[i];
    return p_.alpha * out;
  }
  // What `off` would be if `g` were so.
  double effect(uint64_t element, const Guess& g) const {
    const double own = sum(element, g.from, g.from, g.to - g.from);
    if (g.what == What::exchanged) return sum(element, g.a_from, g.b_from, g.to - g.from) - own;
    return g.what == What::missing ? -own : own;
  }
  double in_doubt(const WrongElement& e) const {
    // By Cauchy and Schwarz at least the sum of the magnitudes.
    const double all = a_norms_[e.element / p_.n] * b_norms_[e.element % p_.n];
    return e.in_doubt + kSums * std::fabs(p_.alpha) * all;
  }
  bool fits(const WrongElement& e, double effect) const { return std::fabs(e.off - effect) <= in_doubt(e); }

 private:
  // k numbers side by side for each of `count` rows.
  std::vector<double> rows(const Factor& f, uint64_t count, bool is_transposed) const {
    const Array array = f.format.empty() ? f.array : unpacked(f.array.bytes, f.format, f.array.shape);
    const std::vector<long double> from = numbers(array);
    std::vector<double> out(from.size());
    for (uint64_t i = 0; i < count; ++i)
      for (uint64_t k = 0; k < p_.k; ++k)
        out[i * p_.k + k] = static_cast<double>(from[is_transposed ? k * count + i : i * p_.k + k]);
    return out;
  }
  void norms(const std::vector<double>& of, uint64_t count, std::vector<double>& out) const {
    for (uint64_t i = 0; i < count; ++i) {
      double squares = 0;
      for (uint64_t k = 0; k < p_.k; ++k) squares += of[i * p_.k + k] * of[i * p_.k + k];
      out.push_back(std::sqrt(squares));
    }
  }

  const Product& p_;
  std::vector<double> a_, b_, a_norms_, b_norms_;
};

// A wrong element that every guess is tried on first, with the sums of its products up to each multiple of
// kUnit.
struct Sample {
  WrongElement element;
  std::vector<double> before;
};

class Search {
 public:
  Search(const Product& product, const std::vector<WrongElement>& wrong)
      : k_(product.k), products_(product), wrong_(wrong) {
    const size_t count = std::min(kSamples, wrong.size());
    for (size_t i = 0; i < count; ++i) {
      Sample s{wrong[i * wrong.size() / count], {0}};
      for (uint64_t k = 0; k < k_; k += kUnit)
        s.before.push_back(s.before.back() + products_.sum(s.element.element, k, k, std::min(kUnit, k_ - k)));
      samples_.push_back(std::move(s));
    }
  }

  std::optional<WrongProducts> found() {
    if (enough_is_known()) {
      for (const auto kind : {&Search::steps, &Search::pieces, &Search::exchanges}) {
        (this->*kind)();
        if (!fitting_.empty()) break;
      }
    }
    if (fitting_.size() != 1) return std::nullopt;
    return fitting_.front();
  }

 private:
  bool enough_is_known() const {
    size_t count = 0;
    for (const WrongElement& e : wrong_) count += std::fabs(e.off) > 2 * products_.in_doubt(e) ? 1 : 0;
    return count >= kLeast;
  }

  // A last step that k cuts short may be a whole one of another width: those come first.
  void steps() {
    for (const bool whole : {true, false})
      for (const uint64_t width : kWidths)
        for (uint64_t from = 0; width < k_ && from < k_; from += width) {
          const uint64_t to = std::min(from + width, k_);
          if (whole != (to - from == width) || !is_new_step(from, to)) continue;
          known_.push_back({from, to});
          missing_or_twice(from, to, width);
        }
  }
  bool is_new_step(uint64_t from, uint64_t to) const {
    return std::find(known_.begin(), known_.end(), std::pair{from, to}) == known_.end();
  }
  void pieces() {
    for (uint64_t from = 0; from < k_ && fitting_.size() < 2; from += kUnit)
      for (uint64_t to = std::min(from + kUnit, k_);; to = std::min(to + kUnit, k_)) {
        missing_or_twice(from, to, 0);
        if (to == k_) break;
      }
  }
  void missing_or_twice(uint64_t from, uint64_t to, uint64_t width) {
    for (const What what : {What::missing, What::twice})
      consider({what, from, to, 0, 0, width, 0}, [&](const Sample& s) {
        const double sum = s.before[(to + kUnit - 1) / kUnit] - s.before[from / kUnit];
        return what == What::missing ? -sum : sum;
      });
  }
  void exchanges() {
    for (const uint64_t width : kWidths) {
      if (k_ / width > kMostSteps) continue;
      for (uint64_t at = 0; at + width <= k_; at += width)
        for (uint64_t other = 0; other + width <= k_ && fitting_.size() < 2; other += width) {
          if (other == at) continue;
          for (const auto& [a, b] : {std::pair{other, other}, {other, at}, {at, other}}) {
            const Guess guess{What::exchanged, at, at + width, a, b, width, 0};
            consider(guess, [&](const Sample& s) { return products_.effect(s.element.element, guess); });
          }
        }
    }
  }

  // Keeps a guess that fits the samples, then nearly all.
  template <class Effect>
  void consider(Guess guess, Effect effect) {
    size_t misses = 0;
    for (const Sample& s : samples_)
      if (!products_.fits(s.element, effect(s)) && ++misses > samples_.size() / 10) return;
    if (fitting_.size() == 2) return;
    for (const WrongElement& e : wrong_)
      guess.elements += products_.fits(e, products_.effect(e.element, guess)) ? 1 : 0;
    if (20 * guess.elements >= 19 * wrong_.size()) fitting_.push_back(guess);
  }

  uint64_t k_;
  Products products_;
  const std::vector<WrongElement>& wrong_;
  std::vector<Sample> samples_;
  std::vector<std::pair<uint64_t, uint64_t>> known_;  // steps that have been tried
  std::vector<WrongProducts> fitting_;                // at most two
};

}  // namespace

std::optional<WrongProducts> wrong_products(const Product& product, const std::vector<WrongElement>& wrong) {
  if (wrong.size() < kLeast || product.k == 0) return std::nullopt;
  return Search(product, wrong).found();
}

}  // namespace bitwell::launch
