// Single-instruction probes: for every arithmetic and conversion form in the table, a kernel that applies it
// to boundary and random operands. The simulator and the GPU run the same kernels.
#pragma once
#include <string>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::probe {

struct Probe {
  std::string instruction;            // "add.rn.ftz.f32"
  std::vector<std::string> operands;  // types of the inputs, ".pred" for predicates
  std::vector<std::string> results;   // types of the outputs
  std::string immediate;              // a constant last operand, or empty
  bool carries = false;               // reads or writes the carry flag: a further result
  std::string entry;                  // name of its kernel
};

// Every probe that `target` (sm_90a, sm_100a) has, in the order of the table; of one opcode only, where that
// is given.
std::vector<Probe> probes(const std::string& target, const std::string& of_opcode = "");

// The PTX module that holds these probes' kernels.
std::string probe_module(const std::vector<Probe>& probes, const std::string& target);

// The launch of one probe on `count` operand tuples (a multiple of 256): named boundary values crossed, then
// random bits. A single 16-bit operand is enumerated. The last buffer is the output, 8 bytes a result.
launch::Launch probe_launch(const Probe& probe, uint32_t count, uint64_t seed);
// The same in two steps: inputs depend on the types of the operands alone, which many probes have in common.
std::vector<launch::Buffer> probe_inputs(const std::vector<std::string>& types, uint32_t count,
                                         uint64_t seed);
launch::Launch probe_launch(const Probe& probe, uint32_t count, std::vector<launch::Buffer> inputs);

// Boundary codes of a type by name: zero, least, largest subnormal and normal, one and its neighbours,
// infinity, NaN, powers of two around widths.
std::vector<uint64_t> boundary_values(const std::string& type);

}  // namespace bitwell::probe
