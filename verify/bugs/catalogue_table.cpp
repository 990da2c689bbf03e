// Prints the catalogue: each planted bug, as what it was found, under how many schedules, in what time, and
// how often a GPU showed it. Exit status 0 if every bug is found by its name and no clean kernel is
// suspected, 1 otherwise.
#include <cstdio>

#include "verify/bugs/catalogue.h"
#include "verify/bugs/device_counts.h"

namespace {

// Until a bug is found; all of a clean kernel.
constexpr size_t kSchedules = 8;

bool print(const bitwell::verify::Exhibit& exhibit, const bitwell::verify::Bug* bug,
           const std::vector<bitwell::verify::DeviceCount>& counts) {
  const bitwell::verify::Tally t = examine(exhibit, bug, kSchedules);
  const std::string name = exhibit.name + (bug == nullptr ? " (clean)" : ": " + bug->name);
  std::printf("%-44s %-44s %2zu %8.1f ms  %s  %s\n", name.c_str(),
              t.said.empty() ? "nothing" : t.said.c_str(), t.schedules, 1000 * t.seconds,
              counted_columns(counts, exhibit, bug == nullptr ? "" : bug->name).c_str(),
              t.as_expected ? "as expected" : "WRONG");
  if (!t.as_expected && !t.where.empty()) std::printf("%s\n", t.where.c_str());
  return t.as_expected;
}

}  // namespace

int main() {
  size_t bugs = 0, clean = 0, wrong = 0;
  std::printf("%-44s %-44s %s\n", "bug", "found as", "schedules, time, wrong on a GPU: as it is, delayed");
  try {
    const auto counts = bitwell::verify::read_device_counts(BITWELL_DEVICE_COUNTS);
    for (const bitwell::verify::Exhibit& e : bitwell::verify::read_catalogue(BITWELL_CATALOGUE)) {
      for (const bitwell::verify::Bug& bug : e.bugs) {
        ++bugs;
        wrong += print(e, &bug, counts) ? 0 : 1;
      }
      ++clean;
      wrong += print(e, nullptr, counts) ? 0 : 1;
    }
    std::fputs(summary_of(counts).c_str(), stdout);
  } catch (const bitwell::machine::InputError& error) {
    std::fprintf(stderr, "catalogue: %s\n", error.what());
    return 2;
  }
  std::printf("%zu bugs, %zu clean kernels, %zu not as expected\n", bugs, clean, wrong);
  return wrong == 0 ? 0 : 1;
}
