// What an answer found, weighed against findings that are known: as data, grouped as a reader takes them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verify/findings/baseline.h"
#include "verify/session/session.h"

namespace bitwell::session {

// One of the two acts of a finding.
struct Act {
  size_t launch;   // its number in the list, from 1
  std::string of;  // "launch 2 of 3, 'scale'"; of a launch alone empty
  std::string entry, ptx;
  int ptx_line;
  std::optional<std::string> instruction{};  // that stands there
  machine::CudaPlace cuda{};
  std::string_view access;  // read, write, update
  std::array<uint32_t, 3> cta;
  int warp, lane;  // -1: not known
  bool operation;  // beside the warps
};

// What the data of a finding came to on this run.
struct OnThisRun {
  findings::Followed followed;
  std::string words;
};

struct Told {
  std::string_view kind, what, remedy_of_kind;
  Level own, level;  // of its kind, and what was found out about it
  Act earlier, later;
  std::vector<size_t> launches;  // in which the later act was found so
  uint64_t address, bytes, count;
  std::string remedy;
  findings::Fingerprint fingerprint;
  // In words, from its level on. Of an instruction: where it comes from.
  struct Line {
    std::string text;
    machine::CudaPlace cuda{};
    std::string ptx{};  // of an instruction
  };
  std::vector<Line> lines;
  // What stands between the two acts and does not order them; nothing where nobody looked.
  struct Passed {
    int ptx_line;
    std::string why;
  };
  std::optional<std::vector<Passed>> does_not_count{};
  // What can come of it by the PTX: "nothing", "output", "branch", "address".
  std::string_view end;
  std::vector<int> way;
  std::string way_words;
  std::optional<OnThisRun> on_this_run{};  // nothing: nobody asked
  size_t number;                           // among all of the answer's that are fresh, or that are known
};

// Those that are one mistake to a reader.
struct Finding {
  Level level;
  std::vector<Told> pairs;  // never empty, in the order in which they were found
  uint64_t times;           // how often, all of them together
  size_t instructions;      // pairs of them, in whichever order
};

struct Findings {
  std::vector<Finding> fresh;  // that are not known
  std::vector<Finding> known;
  std::vector<findings::KnownFinding> stale;
  size_t errors = 0, notes = 0, silent = 0;  // of the fresh ones, by level

  // What is known, in the order in which it was found.
  std::vector<const Told*> known_pairs() const;
  // Whether what is not known fails: by errors, by "note"s too, or by "none".
  bool fail(std::string_view error_on) const {
    return (error_on != "none" && errors != 0) || (error_on == "note" && notes != 0);
  }
};
Findings findings_of(const Answer& answer, const findings::Baseline& known);

// The file of `before` with the answer's findings in place of those that it has of the same entries.
std::string baseline_with(const findings::Baseline& before, const Answer& answer);

}  // namespace bitwell::session
