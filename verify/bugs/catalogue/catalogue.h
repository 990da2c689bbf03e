// The catalogue of planted bugs: kernels of a few lines, in the folders of kernels/, each with the mistakes
// that it can be given, where each comes from, and what the checks must say of it.
//
// In the PTX of a kernel, comments say the rest:
//   //: launch block 64 grid 2 cluster 2 buffers 256 4    threads, CTAs; bytes of each argument's buffer
//   //: launch registers 168                              of a thread, as ptxas would have allotted them
//   //: launch unwritten 256                              likewise, a buffer whose bytes must all be written
//   //: once                                              each byte of global memory is to be written once
//   //: again                                             it is launched twice, and may overlap itself
//   //: about WORDS                                       what the kernel does and what is unusual in it
//   //: bug NAME KIND                                     a mistake, and as what it must be found
//   //: from WORDS                                        the report that it is taken from, or nothing
//   //: says WORDS                                        of a fault or a note: what it must say
//   ...  //- NAME                                         the line is left out in that bug
//   ...  //+ NAME                                         the line is in that bug alone
//   ...  //! NAME                                         the finding must name this line (of a fault or
//   note: if any)
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::bugs {

struct Bug {
  std::string name;
  std::string expected;  // of hazard::KindRow; or "fault", which ends the run; or "note", of run::Note
  std::string from;      // or empty
  std::string says;      // what the fault or note must say
  std::vector<int> lines;
};
struct Exhibit {
  std::string name;  // of the file, without its ending
  std::string about;
  std::string text;
  launch::Launch launch;
  bool once = false;
  bool again = false;
  std::vector<Bug> bugs;  // none: it stands there for being clean
};

// All of a folder and those in it, by name. Throws InputError naming file and line for what the above does
// not say.
std::vector<Exhibit> read_catalogue(const std::string& folder);

// The kernel's PTX without mistakes, or with one; lines keep their numbers.
std::string ptx_of(const Exhibit& exhibit, const std::string& bug = "");

struct Tally {
  bool as_expected = false;
  std::string said;      // "race at lines 31 and 40" of the first finding, or a fault; empty: nothing
  std::string where;     // the whole finding
  std::string memory;    // of a finding: one of memory_names(); empty of what has no address, as a register
  size_t schedules = 0;  // that were run until it was said; all, where nothing was
  double seconds = 0;
};
// "global memory", "shared memory", ..., "tensor memory".
std::vector<std::string> memory_names();
// Runs the kernel (or twice, if it comes again), with the bug or clean (nullptr), under the first schedules
// of launch::schedules until something is said, at most so many.
Tally examine(const Exhibit& exhibit, const Bug* bug, size_t schedules);

}  // namespace bitwell::bugs
