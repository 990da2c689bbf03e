// cuBLASLt as a peer, loaded at run time.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "experiments/gpu/fp16_gemm.h"
#include "verify/device/driver.h"

namespace bitwell::gpu {

class Cublas {
 public:
  // The library, or nullptr with the reason in `why`.
  static std::unique_ptr<Cublas> open(const device::Device& device, std::string& why);
  ~Cublas();

  // Every algorithm that the heuristics offer (at most 32), each timed on the given operands.
  class Plan;
  std::shared_ptr<Plan> plan(const Fp16Gemm& shape, uint64_t a, uint64_t b, uint64_t d);
  // The fastest of them.
  void enqueue(const Plan& plan, uint64_t a, uint64_t b, uint64_t d, void* stream) const;
  const std::string& version() const;

 private:
  struct Impl;
  explicit Cublas(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bitwell::gpu
