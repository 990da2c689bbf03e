// Launches by which the race check's time and memory are measured: GEMM kernels of bitwell's suites, and
// kernels of ordinary threads.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "verify/findings/watch.h"
#include "verify/suite/chain.h"

namespace bitwell::yardsticks {

struct Yardstick {
  std::string name;  // kernel and shape
  bool simt;         // else a GEMM, by wgmma or tcgen05
  // Its launches on drawn inputs; `kernels`: the folder of the kernels' PTX.
  std::function<suite::Chain(const std::string& kernels)> chain;
};
const std::vector<Yardstick>& yardsticks();

// A yardstick, drawn and compiled, to be run again and again.
class YardstickRun {
 public:
  // Throws machine::InputError where the PTX is not there.
  YardstickRun(const Yardstick& yardstick, const std::string& kernels);

  // Its launches one after the other, all checks on; what draws the buffers anew is not part of it.
  void prepare() { run_ = chain_; }
  // That the registers of its wgmmas ask for: Watch::observer takes them.
  const std::vector<int>& lines() const { return lines_; }
  // Once behind each prepare(). `watch` has each launch begun, and is told of it as `told` says;
  // nullptr: the launches run without a check. `last_begins` is called before the last launch, the
  // kernel that the yardstick is named for; or empty.
  void run(findings::Watch* watch, const machine::Observer& told, const std::function<void()>& last_begins);

 private:
  suite::Chain chain_, run_;
  launch::Modules modules_;
  findings::Readings readings_;
  std::vector<int> lines_;
};

}  // namespace bitwell::yardsticks
