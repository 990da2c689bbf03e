// Findings that are known: a file that has them by fingerprint, so that only new ones are told.
#pragma once
#include <string>
#include <vector>

#include "verify/hazard/report.h"

namespace bitwell::verify {

// What stays of a finding while lines move and registers get other numbers: its kind, the entry, and of both
// accesses, in either order, the function, the source file without a line, and the instruction between the
// one before it and the one after it. `text` says these, `hash` is 16 hexadecimal digits of them.
struct Fingerprint {
  std::string hash, text;
};
Fingerprint fingerprint(const hazard::Finding& finding, const isa::Program& program);

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
// The file with these findings of the program's entry in place of those that `before` has of it.
std::string baseline_with(const Baseline& before, const std::vector<hazard::Finding>& findings,
                          const isa::Program& program);

struct Sifted {
  std::vector<hazard::Finding> fresh, known;
  std::vector<KnownFinding> stale;  // of this entry, with as many findings as were not there
};
// Of one fingerprint as many findings are known as the baseline has; more are fresh.
Sifted sift(const std::vector<hazard::Finding>& findings, const isa::Program& program,
            const Baseline& baseline);

}  // namespace bitwell::verify
