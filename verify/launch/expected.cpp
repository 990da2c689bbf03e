#include "verify/launch/expected.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"
#include "verify/launch/launch_json.h"
#include "verify/launch/numbers.h"

namespace bitwell::verify {
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

bool within(const Tolerance& t, uint64_t off, long double got, long double want) {
  if (same(got, want)) return true;
  if (!std::isfinite(got) || !std::isfinite(want)) return false;
  if (t.ulp) return off <= *t.ulp;
  return (t.rtol != 0 || t.atol != 0) && std::fabs(got - want) <= t.atol + t.rtol * std::fabs(want);
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

// What the wrong ones' numbers along one axis of `extent` have in common: the residues that say most.
std::string rule_of(const std::set<uint64_t>& along, uint64_t extent, const std::string& axis) {
  if (along.size() == extent) return "";
  std::string best;
  double share = static_cast<double>(along.size()) / static_cast<double>(extent);
  if (const std::string text = runs_text(along); !text.empty()) best = axis + " is " + text;
  for (const uint64_t period : {2, 4, 8, 16, 32, 64, 128, 256}) {
    if (2 * period > extent) break;
    std::set<uint64_t> residues;
    for (const uint64_t n : along) residues.insert(n % period);
    const std::string text = runs_text(residues);
    const double part = static_cast<double>(residues.size()) / static_cast<double>(period);
    // The same elements by a shorter rule.
    if (text.empty() || part > share * 1.0001) continue;
    best = axis + " mod " + std::to_string(period) + " is " + text;
    const bool quarter = period == 128 && residues.size() == 32 && *residues.begin() % 32 == 0 &&
                         *residues.rbegin() == *residues.begin() + 31;
    if (quarter) best += " (a quarter of 128 lanes)";
    break;
  }
  return best;
}

// Where `wrong` (numbers of elements) are in a matrix of rows and columns: the last coordinate, and the one
// before it.
std::string pattern_of(const std::vector<uint64_t>& wrong, const std::vector<uint64_t>& shape) {
  const uint64_t columns = shape.empty() ? 1 : shape.back();
  const uint64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  std::set<uint64_t> m;
  std::set<uint64_t> n;
  for (const uint64_t i : wrong) {
    n.insert(i % columns);
    m.insert(i / columns % rows);
  }
  const std::string down = rows == 1 ? "" : rule_of(m, rows, "m");
  const std::string across = rule_of(n, columns, rows == 1 ? "i" : "n");
  if (down.empty() && across.empty()) return "";
  uint64_t covered = m.size() * n.size();
  for (size_t d = 0; d + 2 < shape.size(); ++d) covered *= shape[d];
  const std::string both = down + (down.empty() || across.empty() ? "" : ", ") + across;
  return both + (wrong.size() == covered
                     ? ": all of them"
                     : ": " + std::to_string(wrong.size()) + " of " + std::to_string(covered));
}

}  // namespace

std::string coordinates(const std::vector<uint64_t>& shape, uint64_t element) {
  std::string out;
  for (size_t d = shape.size(); d-- > 0;) {
    out = std::to_string(element % shape[d]) + (out.empty() ? "" : ", ") + out;
    element /= shape[d];
  }
  return "[" + out + "]";
}

Comparison compare(const std::vector<std::byte>& bytes, const Output& output) {
  const Expected& expected = *output.expected;
  const std::vector<long double> got =
      numbers(output.format.empty() ? Array{output.dtype, output.shape, bytes}
                                    : unpacked(bytes, output.format, output.shape));
  const number::Format* format = format_of(output);
  Comparison out;
  out.elements = got.size();
  std::vector<uint64_t> wrong;
  for (uint64_t i = 0; i < got.size(); ++i) {
    const long double want = expected.numbers[i];
    if (same(got[i], want)) continue;
    const bool finite = std::isfinite(got[i]) && std::isfinite(want);
    const uint64_t off = finite ? ulps(format, got[i], want) : 0;
    ++out.by_error[finite ? static_cast<int>(std::bit_width(std::max<uint64_t>(off, 1))) - 1 : -1];
    if (within(expected.tolerance, off, got[i], want)) continue;
    if (wrong.empty()) {
      out.first = i;
      out.got = got[i];
      out.want = want;
    }
    wrong.push_back(i);
  }
  out.wrong = wrong.size();
  if (!wrong.empty() && wrong.size() != got.size()) out.pattern = pattern_of(wrong, output.shape);
  return out;
}

}  // namespace bitwell::verify
