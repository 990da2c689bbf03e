// Registers that a tcgen05.ld brings and that nobody has read yet. Who reads one waits for it: true
// dependencies of one thread are respected without tcgen05.wait::ld (PTX ISA 9.3, 9.7.17.6.4.5), which is
// what tells others that the cells have been read.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace bitwell::machine {

struct Activation;

struct TensorLoad {
  struct Register {
    uint32_t row;     // of the activation
    uint32_t unread;  // lanes, one bit each
    uint32_t known;   // lanes whose cells had been written
  };
  std::shared_ptr<Activation> activation;
  std::vector<Register> registers;  // that some lane has not read

  bool used() const { return registers.empty(); }
};

// Of one warp, since its last tcgen05.wait::ld.
struct TensorLoads {
  std::vector<std::shared_ptr<TensorLoad>> all;  // in the order of issue
  uint64_t waited = 0;                           // loads of the warp before these

  bool unread() const {
    return std::any_of(all.begin(), all.end(), [](const auto& load) { return !load->used(); });
  }
  // So many of the warp's loads, from its first on, have been waited for or used.
  uint64_t used() const {
    const auto first = std::find_if(all.begin(), all.end(), [](const auto& load) { return !load->used(); });
    return waited + static_cast<uint64_t>(first - all.begin());
  }
};

}  // namespace bitwell::machine
