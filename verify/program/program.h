// Random programs of many threads, legal for ptxas and free of races by how they are drawn: what each leaves
// in memory is one and the same on every device and under every schedule, so that every byte can be compared.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::program {

struct Statement;
using Body = std::vector<Statement>;

// A piece of a program that can be left out without making the rest illegal: all registers have values from
// the entry on, and what must stand together (a store, a barrier and the load behind it) is one statement.
struct Statement {
  enum class Kind {
    plain,
    branch,      // bodies: where %q$d holds, where not
    loop,        // its body %t$d times
    table,       // the body of number %i$d
    leave_loop,  // where %q$d holds; stands in a loop's body itself
    leave        // the thread ends where %q0 holds; stands in the tail itself
  };
  Kind kind = Kind::plain;
  // PTX. $m: the register with the mask of the warp's threads that are here; $n: a number of this statement's
  // own; $d: the depth of bodies; $f: what the names of the program's functions start with.
  std::string text;
  bool collective = false;  // `text` names $m
  std::vector<Body> bodies{};
};

// One entry and its launch.
struct RandomProgram {
  uint64_t seed = 0;
  uint32_t grid = 1, block = 32;
  Body body;                    // every thread of the CTA is at its start
  Body tail;                    // behind the last barrier of the CTA
  std::vector<Body> functions;  // of (b32, b64), giving b32
};

// The same for a seed, everywhere. Instructions come from the tables of model/isa, for sm_90a.
RandomProgram draw_program(uint64_t seed);

std::string entry_of(const RandomProgram& program);  // "program_7", by its seed
// A module for sm_90a with an entry for each; their seeds differ.
std::string module_of(std::span<const RandomProgram> programs);
inline constexpr int kOwnBytes =
    144;  // of each thread in the buffer "own": registers, then what it read and wrote
// Arguments: 256 rows of 16 bytes to read (boundary values of each type first, then random ones), 144 bytes
// of each thread's own, the cells of commuting atomics, what the CTAs' cells in shared memory were at the
// end, and a number. All but the first are outputs.
launch::Launch launch_of(const RandomProgram& program);

// Its statements as PTX, without what every program begins and ends with.
std::string listing(const RandomProgram& program);

// Opcodes with their modifiers, as they stand in its module.
std::set<std::string> instructions_of(const RandomProgram& program);

size_t statements(const RandomProgram& program);
// The program with one statement left out, or replaced by its bodies: the largest first.
std::vector<RandomProgram> smaller(const RandomProgram& program);
// The smallest that `fails` gives, from one that does, by leaving out statements; asks at most `most` times.
RandomProgram shrunk(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails, int most);

}  // namespace bitwell::program
