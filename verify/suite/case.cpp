#include "verify/suite/case.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/machine/failure.h"

namespace bitwell::suite {
namespace {

constexpr std::string_view kAnother = "another ";

// Of "another 17"; nothing of what is no such name.
std::optional<uint64_t> seed_of(std::string_view of) {
  if (!of.starts_with(kAnother)) return std::nullopt;
  const std::string_view digits = of.substr(kAnother.size());
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size() || seed == 0) return std::nullopt;
  return seed;
}

}  // namespace

std::string text_of(const Case& c) { return c.suite + "/" + c.kernel + "." + c.arch + ": " + c.of; }

Case read_case(std::string_view text) {
  const size_t colon = text.find(": ");
  const std::string_view who = text.substr(0, colon);
  const size_t slash = who.find('/'), dot = who.rfind('.');
  if (colon == std::string_view::npos || slash == std::string_view::npos || dot == std::string_view::npos ||
      dot < slash)
    throw machine::InputError(
        "'" + std::string(text) +
        "' is no case: SUITE/KERNEL.ARCH: CASE, as 'bitwell verify SUITE --list --json' "
        "prints them");
  Case out{std::string(who.substr(0, slash)), std::string(who.substr(slash + 1, dot - slash - 1)),
           std::string(who.substr(dot + 1)), std::string(text.substr(colon + 2))};
  planned(out);
  return out;
}

std::vector<Case> cases_of(const Suite& suite, const Kernel& kernel, const std::string& arch, bool full) {
  std::vector<Case> out;
  for (const PlannedCase& c : kernel.cases())
    if (full || !c.full) out.push_back({suite.name, kernel.name, arch, c.name});
  return out;
}

PlannedCase planned(const Case& c) {
  const Suite& suite = suite::suite(c.suite);
  const Kernel& kernel = suite::kernel(suite, c.kernel);
  if (!suite.judged_on(kernel, c.arch)) {
    std::string known;
    for (const std::string& arch : suite.archs_of(kernel)) known += (known.empty() ? "" : ", ") + arch;
    throw machine::InputError("'" + text_of(c) + "': '" + kernel.full_name + "' is judged on " + known);
  }
  if (const std::optional<uint64_t> seed = seed_of(c.of)) return kernel.another(*seed);
  std::vector<PlannedCase> all = kernel.cases();
  const auto at = std::find_if(all.begin(), all.end(), [&](const PlannedCase& p) { return p.name == c.of; });
  if (at == all.end())
    throw machine::InputError("'" + text_of(c) + "': '" + kernel.full_name +
                              "' has no such case; 'bitwell verify " + c.suite +
                              " --list --full' names them, and 'another N' is drawn of seed N");
  return *at;
}

SuiteCase draw(const Case& c, const std::string& kernels) {
  const PlannedCase of = planned(c);
  return suite_case(of, of.draw(), {kernels, c.arch});
}

}  // namespace bitwell::suite
