// The random words that torch's CUDA generator gives a tensor, element by element, after
// torch.manual_seed(seed). A kernel of torch starts at most eight blocks of 256 threads a multiprocessor;
// each thread has a stream of Philox of its own and takes four elements at a time, a whole grid apart. So the
// words hang on the GPU: these are of one with 148 multiprocessors, a B200 (the outputs in published.h
// decide).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "verify/problem/philox.h"

namespace bitwell::problem {

class TorchGenerator {
 public:
  explicit TorchGenerator(uint64_t seed) : seed_(seed) {}

  // The words of a tensor, any of them at once.
  class Tensor {
   public:
    // Of element `i`, counted as they lie in memory.
    uint32_t operator[](uint64_t i) const {
      const uint64_t turn = i / threads_;  // of the thread
      const uint64_t at = first_ + turn / 4;
      return philox({static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32),
                     static_cast<uint32_t>(i % threads_), 0},
                    seed_)[turn % 4];
    }

   private:
    friend class TorchGenerator;
    uint64_t seed_, first_, threads_;
  };

  // The next tensor that is filled, one word an element (randint of fewer than 2^32 values, randn). Its size
  // is the product of `extents`. Throws machine::InputError, which calls the tensor `name`, where that is 0,
  // and beyond 2^31 - 1, where torch draws a tensor in parts.
  Tensor next(std::initializer_list<uint64_t> extents, std::string_view name);

 private:
  uint64_t seed_;
  uint64_t first_ = 0;  // the counter at which the next tensor's streams start
};

}  // namespace bitwell::problem
