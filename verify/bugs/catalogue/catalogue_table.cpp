// Prints the catalogue: each planted bug, as what it was found, under how many schedules, in what time,
// how often a GPU showed it, and what the documents of other checkers say of such a bug. With --peers: where
// they say it. Exit status 0 if every bug is found by its name and no clean kernel is suspected, 1 otherwise.
#include <cstdio>
#include <cstring>

#include "verify/bugs/catalogue/device_counts.h"
#include "verify/bugs/catalogue/peers_table.h"

namespace {

using bitwell::bugs::Bug;
using bitwell::bugs::Exhibit;
using bitwell::bugs::PeerColumns;
using bitwell::bugs::Tally;

// Until a bug is found; all of a clean kernel.
constexpr size_t kSchedules = 8;

// Of a bug (nullptr: of the clean kernel), and what the peers say of it.
bool print(const Exhibit& exhibit, const Bug* bug, const std::vector<bitwell::bugs::DeviceCount>& counts,
           bool sources, PeerColumns& peers) {
  const Tally t = bitwell::bugs::examine(exhibit, bug, kSchedules);
  const std::string name = exhibit.name + (bug == nullptr ? " (clean)" : ": " + bug->name);
  std::printf("%-44s %-44s %2zu %8.1f ms  %s  %s%s\n", name.c_str(),
              t.said.empty() ? "nothing" : t.said.c_str(), t.schedules, 1000 * t.seconds,
              bitwell::bugs::counted_columns(counts, exhibit, bug == nullptr ? "" : bug->name).c_str(),
              peers.cells(exhibit, bug, t.memory).c_str(), t.as_expected ? "as expected" : "WRONG");
  if (sources && bug != nullptr) std::printf("%s", peers.sources(exhibit, *bug, t.memory).c_str());
  if (!t.as_expected && !t.where.empty()) std::printf("%s\n", t.where.c_str());
  return t.as_expected;
}

}  // namespace

int main(int argc, char** argv) {
  const bool sources = argc == 2 && std::strcmp(argv[1], "--peers") == 0;
  if (argc != 1 && !sources) {
    std::fprintf(stderr,
                 "catalogue: '%s'; it takes --peers (where other checkers' documents say what they find)"
                 " or nothing\n",
                 argv[1]);
    return 2;
  }
  size_t bugs = 0, clean = 0, wrong = 0;
  try {
    const bitwell::bugs::Peers documents(BITWELL_PEERS);
    PeerColumns peers(documents);
    const auto counts = bitwell::bugs::read_device_counts(BITWELL_DEVICE_COUNTS);
    std::printf("%-44s %-44s %-14s %-18s  %sverdict\n", "bug", "found as", "schedules, time",
                "on a GPU, delayed", peers.heads().c_str());
    for (const Exhibit& e : bitwell::bugs::read_catalogue(BITWELL_CATALOGUE)) {
      for (const Bug& bug : e.bugs) {
        ++bugs;
        wrong += print(e, &bug, counts, sources, peers) ? 0 : 1;
      }
      ++clean;
      wrong += print(e, nullptr, counts, sources, peers) ? 0 : 1;
    }
    std::printf("%s%zu bugs, %zu clean kernels, %zu not as expected\n\n%s",
                bitwell::bugs::summary_of(counts).c_str(), bugs, clean, wrong, peers.summary().c_str());
  } catch (const bitwell::machine::InputError& error) {
    std::fprintf(stderr, "catalogue: %s\n", error.what());
    return 2;
  }
  return wrong == 0 ? 0 : 1;
}
