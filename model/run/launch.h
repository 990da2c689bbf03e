// A launch on the simulated machine.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/event.h"
#include "model/machine/memory/memory.h"
#include "model/run/note.h"
#include "model/run/turns/schedule.h"
#include "model/run/watch/footprint.h"

namespace bitwell::run {

class Chooser;
class Follow;

struct Shape {
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  std::array<uint32_t, 3> cluster{1, 1, 1};
  bool explicit_cluster = false;  // the launch has a cluster's size, of one CTA too
  uint32_t dynamic_shared = 0;    // bytes
  uint32_t registers = 0;         // of a thread, as ptxas -v prints them; 0: not known
  // What %envreg0 to 31 read. The driver defines them; of a cooperative launch, 1 and 2 are the upper and the
  // lower half of the address of the grid's workspace (CUDA 13.0, cooperative_groups/details/driver_abi.h);
  // zeros there: run() makes one.
  std::array<uint32_t, 32> environment{};
  bool cooperative = false;           // all CTAs must be resident at once
  bool non_portable_cluster = false;  // as cudaFuncAttributeNonPortableClusterSizeAllowed has it

  uint64_t ctas_a_cluster() const { return uint64_t{cluster[0]} * cluster[1] * cluster[2]; }
};

struct Progress {
  uint64_t done = 0, all = 0;      // CTAs that have ended, and of the grid
  uint64_t warp_instructions = 0;  // since a cluster last ended
};

struct Options {
  bool checked = true;  // definedness of registers and memory
  bool strict = false;  // what would be a note is a fault
  Schedule schedule;
  // Gives every turn (chooser.h), whatever `schedule` says, which is to be lazy; lives as long as the run.
  // nullptr: none does.
  Chooser* chooser = nullptr;
  // Of what some accesses read, takes down what it comes to (follow.h); lives as long as the run, of one
  // launch. nullptr: none does.
  Follow* follow = nullptr;
  std::vector<machine::Observer> observers;  // each is told of every event; with none, no event is made
  // Of what the kernel's printf writes. A cluster's comes at once when all that started before it have ended,
  // and else behind theirs, so that the order is that of their start; a fault loses none of it. None if
  // empty.
  std::function<void(std::string_view text)> print;
  // Clusters that are resident at once: they take turns where one can only wait or poll. None: as many as the
  // largest device of the target holds (residency.h).
  std::optional<uint64_t> residents;
  // After every cluster, and now and then within one. None if empty.
  std::function<void(const Progress&)> progress;
  // Host threads that clusters of one launch may run on, 1 or more. Nothing but time comes of it.
  unsigned threads = 1;
  uint64_t step_limit = uint64_t{1} << 34;  // warp instructions of one CTA before it counts as hung
};

// Of a launch that may run on several host threads: how many there were, the clusters that ran on them, and
// why the others had to run one after the other; empty where none had, or the launch was too short.
struct HostThreads {
  unsigned threads = 1;
  uint64_t clusters = 0;
  std::string why_not_all;
};

struct RunResult {
  uint64_t lane_instructions = 0;  // PTX instructions executed, summed over threads
  uint64_t warp_instructions = 0;
  Footprint footprint;
  std::vector<Note> notes;
  HostThreads host;
};

// The shape that a launch has: clusters of the entry's .reqnctapercluster, or else of what `shape` asks for.
// Where the entry says .blocksareclusters, `shape.grid` counts clusters, of this one it counts CTAs (what a
// grid cannot have where they are too many), and a block of one thread stands for the .reqntid, as CUDA's
// <<<grid, 1>>> has it.
Shape full_shape(const isa::Program& program, const Shape& shape);

// Refuses (InputError) a launch that the entry or the architecture does not allow, naming limit and value:
// argument count and sizes, block, grid and cluster limits, .maxntid, .reqntid, shared memory.
void check_launch(const isa::Program& program, const Shape& shape,
                  const std::vector<std::vector<std::byte>>& arguments);

// Puts a module's variables into memory, with their first values, and returns its constants, which start at
// an address.
machine::Region place_variables(const std::vector<isa::GlobalVariable>& variables, uint64_t constants,
                                machine::Memory& memory);
// The same of the module that a program is of, as the memory's next. Once a module: programs of other entries
// find them there.
machine::Region place_variables(const isa::Program& program, machine::Memory& memory);

// Runs every CTA to its end. `arguments` are the bytes of the entry's parameters in order; `memory` holds the
// buffers and the module's variables, `constants` its constants. Throws Fault, Unsupported or InputError;
// memory is then as far as the run got. A cooperative launch of more than is resident is an InputError.
RunResult run(const isa::Program& program, machine::Region& constants, const Shape& shape,
              const std::vector<std::vector<std::byte>>& arguments, machine::Memory& memory,
              const Options& options = {});
// The same for the one launch of a memory's only module, whose variables it places.
RunResult run(const isa::Program& program, const Shape& shape,
              const std::vector<std::vector<std::byte>>& arguments, machine::Memory& memory,
              const Options& options = {});

// One of several launches that are in flight together.
struct ChainedLaunch {
  const isa::Program& program;
  machine::Region& constants;
  Shape shape;
  const std::vector<std::vector<std::byte>>& arguments;
};
// The same for launches of one stream, each but the first with CUDA's attribute programmatic stream
// serialization: it may start as soon as every CTA of the one before has executed
// griddepcontrol.launch_dependents or has ended, and its griddepcontrol.wait waits for that one's end (PTX
// ISA 9.0, 9.7.13.13). The schedule says how early it starts (residents.h). Returns the results in order.
// Throws Unsupported of more than one where an observer wants every access to memory, or a chooser is there.
std::vector<RunResult> run_chain(const std::vector<ChainedLaunch>& launches, machine::Memory& memory,
                                 const Options& options);

}  // namespace bitwell::run
