// How long a launch takes on the GPU.
#pragma once
#include <cuda.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

namespace bitwell::driver {

class Stopwatch {
 public:
  using Launch = std::function<CUresult(CUstream)>;
  // The launch some ten times, by a stream of ours, in the CUDA context that is current: what "measured" of a
  // launch file holds. Before each `restore` puts the memory back, and caches then hold other bytes. Throws
  // InputError with the driver's word.
  nlohmann::ordered_json measure(const Launch& launch, const std::function<void()>& restore);

 private:
  // What is needed of a context; it stays as long as that does.
  struct Tools {
    CUstream stream = nullptr;
    CUevent start = nullptr, stop = nullptr;
    CUmodule module = nullptr;
    CUfunction nothing = nullptr, evict = nullptr;
    CUdeviceptr other = 0, sum = 0;  // bytes that nobody else has in caches, and a word
    size_t other_bytes = 0;
    unsigned multiprocessors = 0;
    double empty_us = 0;
  };
  Tools& tools();
  static std::vector<double> timed(Tools& with, const Launch& launch, const std::function<void()>& restore);
  std::map<CUcontext, Tools> tools_;
};

}  // namespace bitwell::driver
