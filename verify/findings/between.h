// What stood between the two acts of a finding and does not order them: the launch is run again, and the
// barriers, fences and waits of both threads are written down.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verify/findings/explain.h"

namespace bitwell::findings {

struct Between {
  // A barrier, fence or wait that does not count, and why.
  struct Passed {
    int ptx_line;
    std::string why;
  };
  std::vector<Passed> passed;  // in the order of this run, each once
  // Where the earlier act is a cp.async: how many groups were committed behind its own, nothing where its own
  // was not; and the line of the cp.async.wait_group by which its thread waited for it.
  std::optional<uint64_t> committed_behind;
  std::optional<int> waited;
};

// Whether anything of that kind is told.
bool has_between(const hazard::Finding& finding);

// By finding, each of which has its Finding::met; nothing of one that does not come again. Runs the launch
// once for all of them.
std::vector<std::optional<Between>> between(const std::vector<const hazard::Finding*>& findings,
                                            const Rerun& rerun);

}  // namespace bitwell::findings
