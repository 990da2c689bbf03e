// Findings that are known: a file that has them by fingerprint, so that only new ones are told.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "verify/findings/report.h"

namespace bitwell::findings {

// What stays of a finding while lines move and registers get other numbers: its kind, the entry, and of both
// accesses, in either order, the function, the source file without a line, and the instruction between the
// one before it and the one after it. Of launches that overlap both entries, and the accesses in the order of
// the launches. `text` says these, `hash` is 16 hexadecimal digits of them.
struct Fingerprint {
  std::string hash, text;
};
Fingerprint fingerprint(const Found& found);

// Findings of one fingerprint; several pairs of instructions may share it.
struct KnownFinding {
  std::string hash, kind, entry, text;
  uint64_t findings = 1;
};
struct Baseline {
  std::vector<KnownFinding> known;
};

// Throws InputError naming the file and what is wrong in it.
Baseline read_baseline(const std::string& path);
// Entries that were launched: a finding is of its later access's.
using Entries = std::set<std::string>;
// The file with these findings of the entries in place of those that `before` has of them.
std::string baseline_with(const Baseline& before, const std::vector<Found>& findings, const Entries& entries);

struct Sifted {
  std::vector<Found> fresh, known;
  std::vector<KnownFinding> stale;  // of these entries, with as many findings as were not there
};
// Of one fingerprint as many findings are known as the baseline has; more are fresh.
Sifted sift(const std::vector<Found>& findings, const Entries& entries, const Baseline& baseline);

}  // namespace bitwell::findings
