// What kernels are judged by: suites of kernels, their cases, and the bytes that every schedule must leave.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/run/launch.h"
#include "verify/problem/words.h"
#include "verify/suite/chain.h"

namespace bitwell::suite {

// A folder of the kernels' PTX for one architecture: <folder>/<module>.<arch>.ptx, module "gemv/fused".
struct Build {
  std::string folder;
  std::string arch;  // "sm_90a"
  std::string file(std::string_view module) const {
    return folder + "/" + std::string(module) + "." + arch + ".ptx";
  }
};

struct SuiteCase {
  std::string name;
  Chain chain;
  size_t result = 0;                // buffer of its last launch
  size_t element = 1;               // bytes of an output
  std::vector<std::byte> expected;  // of the result
  std::vector<run::Schedule> schedules;
};

// A case's operands, which take time to draw, and what is known of them.
struct DrawnCase {
  size_t result = 0;   // buffer of its last launch
  size_t element = 1;  // bytes of an output
  std::function<Chain(const Build&)> chain;
  // The result by the kernel's order of summation, evaluated directly.
  std::function<std::vector<std::byte>()> expected;
  // |output - exact| in units in the last place, output by output; infinite where only one of them is beyond
  // the format's range or no number.
  std::function<std::vector<double>(const std::vector<std::byte>& outputs)> errors_ulp;
};
struct PlannedCase {
  std::string name;
  bool recorded = false;  // a device run records its result
  bool full = false;      // only where all cases are asked for
  std::vector<run::Schedule> schedules;
  std::function<DrawnCase()> draw;
  // What is expected is not the order's direct evaluation but what a B200 gave: verify/problem/published.h.
  bool published = false;
};
// As a subject is tried on it.
SuiteCase suite_case(const PlannedCase& planned, const DrawnCase& drawn, const Build& build);

// An entry that mistakes can be planted into.
struct Entry {
  std::string name;  // "gemv/fused blocked"
  std::string module;
  std::string entry;
  std::string unlike{};  // a module whose instructions are not planted again; or empty
};

// What a kernel reserves, as its host says, and the budget that it should come from.
struct Reserves {
  std::string budget;                    // a shipped spec: share/bitwell/budgets/<budget>.json
  std::map<std::string, int64_t> names;  // the spec's, as they are for this kernel
  int64_t stages = 0;                    // of its pipeline; 0: the host does not say
  int64_t shared = 0;                    // bytes
  int64_t columns = 0;                   // of tensor memory, allocated
};

struct Kernel {
  std::string name;       // as users and captures call it: "fused"
  std::string full_name;  // as verdicts call it: "gemv_fused"
  std::vector<Entry> entries;
  std::function<std::vector<PlannedCase>()> cases;  // in the order in which they are judged
  // Beside those, what a GPU and the simulator are compared on: seeds 1 and up.
  std::function<PlannedCase(uint64_t seed)> another;
  std::optional<Reserves> reserves{};
  std::vector<std::string> archs{};  // that it is judged on, where those are not its suite's
  std::string note{};                // what its verdict rests on that nobody promises; or empty
};

// A family of kernels for one problem.
struct Suite {
  // What the recorded digest of a kernel is of: the recorded results one after the other, or their digests.
  enum class Recorded { results, digests };

  std::string name;                // "gemv"; the folder of its modules
  std::string about;               // in a list of suites
  std::string description;         // of its own command
  std::string full;                // what the full cases are
  std::vector<std::string> archs;  // that its kernels are judged on; GPUs record "sm_90a"
  Recorded recorded = Recorded::results;
  uint64_t others = 0;  // cases of Kernel::another that a device run takes
  // The kind of the words of captures/b200_words.txt that the expected results rest on, or empty; and whether
  // the arithmetic that they come from gives such a word.
  std::string words_kind;
  std::function<bool(const problem::Word&)> gives_word;
  // Whose published findings about the GPU its kernels are for the expected results rest on, where no word of
  // it is at hand; or empty.
  std::string published_by;
  std::vector<Kernel> kernels;

  const std::vector<std::string>& archs_of(const Kernel& kernel) const {
    return kernel.archs.empty() ? archs : kernel.archs;
  }
  bool judged_on(const Kernel& kernel, std::string_view arch) const {
    const std::vector<std::string>& all = archs_of(kernel);
    return std::find(all.begin(), all.end(), arch) != all.end();
  }
  // Of all kernels, each once.
  std::vector<std::string> all_archs() const {
    std::vector<std::string> out = archs;
    for (const Kernel& k : kernels)
      for (const std::string& a : k.archs)
        if (std::find(out.begin(), out.end(), a) == out.end()) out.push_back(a);
    return out;
  }
};
// All of them. A family is one file, and a line in suites.cpp.
const std::vector<Suite>& suites();
const Suite& suite(std::string_view name);  // machine::InputError if there is none, and so does kernel()
const Kernel& kernel(const Suite& suite, std::string_view name);

struct Failure {
  std::string what;  // "case, schedule random, seed 3: output 7 => 0x3c00 expected 0x3c01", or a fault's text
  bool fault = false;  // of the kernel; else wrong bits
  uint64_t wrong = 0;  // outputs; 1 for a fault
  run::Schedule schedule;
  launch::Launch launch;  // the one that faulted, or the last; its buffers as they were before it
};

struct Tried {
  std::optional<Failure> failure;
  std::vector<std::byte> result;  // empty after a fault
  run::Footprint footprint;       // of the chain's last launch, likewise
  uint64_t lane_instructions = 0;
  uint64_t warp_instructions = 0;
  double seconds = 0;  // of simulation
};

// Runs a case under a schedule. Throws what run::run does but Fault, which is the kernel's failure.
Tried try_case(const SuiteCase& c, const run::Schedule& schedule, const launch::ModuleOf& modules,
               run::Options options = {}, const Begins& begins = nullptr);

}  // namespace bitwell::suite
