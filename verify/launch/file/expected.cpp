#include "verify/launch/file/expected.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"
#include "verify/launch/file/launch_json.h"
#include "verify/launch/file/numbers.h"

namespace bitwell::launch {
namespace {

constexpr size_t kRuns = 4;  // of residues that a pattern names

const number::Format* format_of(const Output& o) {
  if (!o.format.empty()) return &packed_format(o.format);
  if (o.dtype == "f2") return &number::f16;
  if (o.dtype == "f4") return &number::f32;
  return o.dtype == "f8" ? &number::f64 : nullptr;
}

// A number's place among all of its format: neighbours differ by 1, and both zeros are 0.
int64_t place_of(const number::Format& f, long double value) {
  if (!f.is_signed && value < 0) return -place_of(f, -value);  // none of the format's, but it may be wanted
  const auto exact = number::decode(number::f64, std::bit_cast<uint64_t>(static_cast<double>(value)));
  const uint64_t code =
      number::encode(f, number::round(f, exact, number::Rounding::nearest_even, number::Overflow::saturate));
  const auto magnitude = static_cast<int64_t>((code & f.magnitude_mask() << f.ignored_low) >> f.ignored_low);
  return (code & f.sign_mask()) != 0 ? -magnitude : magnitude;
}

uint64_t ulps(const number::Format* f, long double got, long double want) {
  if (f == nullptr) return static_cast<uint64_t>(std::min(std::fabs(got - want), 0x1p63L));
  const int64_t a = place_of(*f, got);
  const int64_t b = place_of(*f, want);
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}

bool same(long double got, long double want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  return got == want && (got != 0 || std::signbit(got) == std::signbit(want));
}

// The bits of one of many codes of `size` bytes.
uint64_t code(const std::vector<std::byte>& codes, size_t size, uint64_t which) {
  uint64_t out = 0;
  std::memcpy(&out, &codes[size * which], size);
  return out;
}

bool within(const Tolerance& t, uint64_t off, long double got, long double want) {
  if (same(got, want)) return true;
  if (!std::isfinite(got) || !std::isfinite(want)) return false;
  if (t.ulp) return off <= *t.ulp;
  return (t.rtol != 0 || t.atol != 0) && std::fabs(got - want) <= t.atol + t.rtol * std::fabs(want);
}

// By how much a difference between the two may be another number and both still be right: what the tolerance
// allows, and a unit in the last place for their roundings.
double in_doubt(const number::Format* f, const Tolerance& t, long double got, long double want) {
  const long double largest = std::max(std::fabs(got), std::fabs(want));
  long double unit = f == nullptr ? 0 : std::ldexp(1.0L, f->emin() - f->fraction_bits);
  if (f != nullptr && largest != 0)
    unit = std::ldexp(1.0L, std::max(std::ilogb(largest), f->emin()) - f->fraction_bits);
  const long double ulp = f == nullptr ? 1 : unit;
  return static_cast<double>(unit + ulp * static_cast<long double>(t.ulp.value_or(0)) + t.atol +
                             t.rtol * largest);
}

// "32 to 63 and 96 to 127"; empty where there are too many runs.
std::string runs_text(const std::set<uint64_t>& numbers) {
  std::vector<std::string> runs;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const uint64_t from = *at;
    uint64_t to = from;
    while (++at != numbers.end() && *at == to + 1) to = *at;
    runs.push_back(std::to_string(from) + (to == from ? "" : " to " + std::to_string(to)));
  }
  if (runs.size() > kRuns) return "";
  std::string out;
  for (size_t i = 0; i < runs.size(); ++i)
    out += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  return out;
}

// Said of a quarter of 128 rows: the 32 lanes of tensor memory that one warp of an epilogue reads.
std::string quarter_text(const std::set<uint64_t>& numbers) {
  const bool quarter =
      numbers.size() == 32 && *numbers.begin() % 32 == 0 && *numbers.rbegin() == *numbers.begin() + 31;
  return quarter ? " (a quarter of 128 lanes)" : "";
}

// What the wrong ones' numbers along one axis of `extent` have in common: the residues that say most.
std::string rule_of(const std::set<uint64_t>& along, uint64_t extent, const std::string& axis) {
  if (along.size() == extent) return "";
  std::string best;
  double share = static_cast<double>(along.size()) / static_cast<double>(extent);
  if (const std::string text = runs_text(along); !text.empty())
    best = axis + " is " + text + (extent == 128 ? quarter_text(along) : "");
  for (const uint64_t period : {2, 4, 8, 16, 32, 64, 128, 256}) {
    if (2 * period > extent) break;
    std::set<uint64_t> residues;
    for (const uint64_t n : along) residues.insert(n % period);
    const std::string text = runs_text(residues);
    const double part = static_cast<double>(residues.size()) / static_cast<double>(period);
    // The same elements by a shorter rule.
    if (text.empty() || part > share * 1.0001) continue;
    best = axis + " mod " + std::to_string(period) + " is " + text +
           (period == 128 ? quarter_text(residues) : "");
    break;
  }
  return best;
}

// Of the last coordinates m and n are those of a matrix; the ones before them (a split of k, a batch) have
// numbers.
std::string axis_of(size_t d, const std::vector<uint64_t>& shape) {
  const bool matrix = shape.size() >= 2 && shape[shape.size() - 2] != 1;
  if (d + 1 == shape.size()) return matrix ? "n" : "i";
  return d + 2 == shape.size() ? "m" : "coordinate " + std::to_string(d);
}

// Where `wrong` (numbers of elements) are, coordinate by coordinate.
std::string pattern_of(const std::vector<uint64_t>& wrong, const std::vector<uint64_t>& shape) {
  std::vector<std::set<uint64_t>> along(shape.size());
  for (uint64_t i : wrong)
    for (size_t d = shape.size(); d-- > 0; i /= shape[d]) along[d].insert(i % shape[d]);
  std::string all;
  uint64_t covered = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    covered *= along[d].size();
    const std::string rule = rule_of(along[d], shape[d], axis_of(d, shape));
    all += (all.empty() || rule.empty() ? "" : ", ") + rule;
  }
  if (all.empty()) return "";
  return all + (wrong.size() == covered
                    ? ": all of them"
                    : ": " + std::to_string(wrong.size()) + " of " + std::to_string(covered));
}

}  // namespace

std::vector<uint64_t> coordinates(const std::vector<uint64_t>& shape, uint64_t element) {
  std::vector<uint64_t> out(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d]) out[d] = element % shape[d];
  return out;
}

std::string coordinates_text(const std::vector<uint64_t>& shape, uint64_t element) {
  std::string out;
  for (const uint64_t at : coordinates(shape, element)) out += (out.empty() ? "" : ", ") + std::to_string(at);
  return "[" + out + "]";
}

namespace {

// The distance from a finite number to its neighbour above in the format, of magnitudes.
long double last_place(const number::Format& f, long double v) {
  return std::ldexp(1.0L, (v == 0 ? f.emin() : std::max(std::ilogb(v), f.emin())) - f.fraction_bits);
}

// A number below which an error is nothing beside the largest of them; 0 of integers.
long double last_place_of_largest(const number::Format* format, const std::vector<long double>& numbers) {
  long double largest = 0;
  for (const long double v : numbers)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  return format == nullptr || largest == 0 ? 0 : last_place(*format, largest);
}

void note_largest(Comparison& c, const Tolerance& t, uint64_t element, uint64_t off, long double got,
                  long double want) {
  const auto keep = [&](std::optional<Comparison::Largest>& to, long double error) {
    if (!to || error > to->error) to = {error, element};
  };
  const long double error = std::fabs(got - want);
  keep(c.absolute, error);
  if (want != 0) keep(c.relative, error / std::fabs(want));
  if (t.ulp) {
    keep(c.share, *t.ulp == 0 ? (off == 0 ? 0 : HUGE_VALL)
                              : static_cast<long double>(off) / static_cast<long double>(*t.ulp));
  } else if (t.rtol != 0 || t.atol != 0) {
    keep(c.share, error / (t.atol + t.rtol * std::fabs(want)));
  }
}

}  // namespace

Comparison compare(const std::vector<std::byte>& bytes, const Output& output) {
  const Expected& expected = *output.expected;
  const std::vector<long double> got =
      numbers(output.format.empty() ? Array{output.dtype, output.shape, bytes}
                                    : unpacked(bytes, output.format, output.shape));
  const number::Format* format = format_of(output);
  const size_t size = expected.codes.size() / std::max<size_t>(got.size(), 1);  // of a code
  Comparison out;
  out.elements = got.size();
  out.integers = format == nullptr;
  std::vector<uint64_t> wrong;
  const long double negligible = last_place_of_largest(format, expected.numbers);
  for (uint64_t i = 0; i < got.size(); ++i) {
    const long double want = expected.numbers[i];
    const bool other_nan = output.expected->tolerance.nan_bits && std::isnan(got[i]) && std::isnan(want) &&
                           code(bytes, size, i) != code(expected.codes, size, i);
    if (same(got[i], want) && !other_nan) continue;
    const bool finite = std::isfinite(got[i]) && std::isfinite(want);
    const uint64_t off = finite ? ulps(format, got[i], want) : 0;
    if (finite) note_largest(out, expected.tolerance, i, off, got[i], want);
    if (finite && off == 0 && got[i] != want) {
      ++out.rounded;
    } else {
      ++out.by_error[finite ? static_cast<int>(std::bit_width(std::max<uint64_t>(off, 1))) - 1 : -1];
      if (finite && off > 1 && std::fabs(got[i] - want) < negligible) ++out.negligible;
    }
    if (!other_nan && within(expected.tolerance, off, got[i], want)) continue;
    if (wrong.empty()) {
      out.first = i;
      out.got = got[i];
      out.want = want;
      if (other_nan) out.nans = {code(bytes, size, i), code(expected.codes, size, i)};
    }
    wrong.push_back(i);
  }
  out.wrong = wrong.size();
  if (!wrong.empty() && wrong.size() != got.size()) out.pattern = pattern_of(wrong, output.shape);
  if (expected.product && !wrong.empty()) {
    std::vector<WrongElement> elements;
    for (const uint64_t i : wrong) {
      const long double want = expected.numbers[i];
      elements.push_back(
          {i, static_cast<double>(got[i] - want), in_doubt(format, expected.tolerance, got[i], want)});
    }
    out.products = wrong_products(*expected.product, elements);
  }
  return out;
}

}  // namespace bitwell::launch
