// What others print on the standard output, which is to hold something of ours alone.
#pragma once

namespace bitwell::cli {

// While it lives, what the process writes to its standard output goes to its standard error: a CUDA driver
// prints there what kernels print.
class StdoutAside {
 public:
  StdoutAside();
  ~StdoutAside();
  StdoutAside(const StdoutAside&) = delete;
  StdoutAside& operator=(const StdoutAside&) = delete;

 private:
  int kept_;
};

}  // namespace bitwell::cli
