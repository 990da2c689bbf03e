// What a GPU can be asked: launches of PTX whose memory afterwards the simulator knows, bit by bit.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verify/suite/chain.h"

namespace bitwell::prove {

// Questions share it, so that a GPU's driver compiles it once.
using SharedText = std::shared_ptr<const isa::Module>;

// Launches that follow one another; the buffers of the last that are outputs are what it leaves.
struct Trial {
  suite::Chain chain;
  std::vector<SharedText> texts;  // one a launch
};

struct Question {
  std::string name;  // of the part: "add.rn.f32"
  std::function<std::vector<Trial>()> trials;
  // The digest of what the trials left, one after the other; empty: of all bytes in order.
  std::function<std::string(const std::vector<std::vector<std::byte>>&)> digest = {};
  // The manual leaves open what the trials leave: where a GPU's words are others they are counted, and prove
  // nothing.
  bool open = false;
};

// Questions of one kind, for GPUs of one compute capability, whose features are no other's.
struct Part {
  std::string name;        // "instructions"
  std::string about;       // what a row of a table says of it
  std::string target;      // "sm_90a"
  int compute_capability;  // 90
  std::function<std::vector<Question>()> questions;
};

// Hopper's first, then Blackwell's, then those of RTX Blackwell cards; within them what may stop a GPU comes
// last. `kernels`: the folder of bitwell's own, which their part reads when it is asked for questions.
std::vector<Part> parts(const std::string& kernels);

// The questions of the parts, by what they ask about (one file each).
std::vector<Question> instruction_questions(const std::string& target);
std::vector<Question> dot_product_questions();   // mma.sync and wgmma of sm_90, every type and regime
std::vector<Question> descriptor_questions();    // wgmma's
std::vector<Question> asynchronous_questions();  // TMA, bulk copies, mbarriers, clusters of sm_90
std::vector<Question> kernel_questions(const std::string& target,
                                       const std::string& kernels);  // bitwell's own
std::vector<Question> tensor_memory_questions();  // tcgen05.ld, st, cp, shift by coordinates
std::vector<Question> ordering_questions(
    const std::string& target);  // what fences and waits are for, with delays
std::vector<Question>
tensor_multiply_questions();                      // tcgen05.mma: kinds, shapes, descriptors, scales, corners
std::vector<Question> warp_multiply_questions();  // mma.sync of fp8, fp6 and fp4 of sm_120

}  // namespace bitwell::prove
