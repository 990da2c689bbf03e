// A launch of a host program: checked as the driver does, run and judged in the process, told.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "verify/driver/core/filter.h"
#include "verify/driver/core/modules.h"
#include "verify/driver/core/refused.h"
#include "verify/findings/baseline.h"
#include "verify/session/findings.h"
#include "verify/session/process.h"

namespace bitwell::driver {

struct State;
class Recorder;

struct Wanted {
  Kernel* kernel = nullptr;
  run::Shape shape{};
  bool programmatic = false;  // may begin while the one before goes on
  std::vector<std::vector<std::byte>> arguments{};
  const void* stream = nullptr;
};

class Launches {
 public:
  explicit Launches(State& state);
  ~Launches();

  // Its parameters from where they stand, one by one, or in a buffer as cuLaunchKernel's `extra` has it.
  std::vector<std::vector<std::byte>> arguments(Kernel& kernel, void* const* parameters);
  std::vector<std::vector<std::byte>> arguments(Kernel& kernel, std::span<const std::byte> buffer);
  // Refused what a device would refuse at once.
  void check(const Wanted& wanted);
  // The same, with this error, of the sizes of its grid and of its CTAs.
  static void check_size(const Wanted& wanted, CUresult error);
  // Runs it. What it did wrong is told, and is what the context is lost by; NotRun where it cannot be run.
  void launch(const Wanted& wanted);
  // One that could not be run, for this reason, is told and counted too. Throws NotRun.
  [[noreturn]] void fail(const std::string& kernel, const std::exception_ptr& why);
  // What the program did wrong in this call is told, and counted unless none of the process's launches is
  // judged.
  void mistake(const std::string& call, const Mistake& what);
  // The program ends: what its device code has not freed is a note.
  void end();

 private:
  const isa::Program& program(Kernel& kernel);
  // Whether it is a deadlock of who waits for a word that the host reaches.
  bool waits_for_host(const machine::Fault& fault) const;
  [[noreturn]] void fail(nlohmann::ordered_json told, const std::exception_ptr& why);
  void tell(const Wanted& wanted, const session::Answer& answer, nlohmann::ordered_json& told);
  std::string text_of(const session::Finding& finding, const Module& module, bool source) const;
  std::string lines_of(const machine::CudaPlace& place, const Module& module, const char* indent) const;
  void ask_for_lines(const Wanted& wanted);
  std::string record(const isa::KernelLaunch& launch, uint64_t number);
  session::Judging judging(bool judged, const Wanted& wanted) const;
  void dump(const Wanted& wanted, uint64_t number, bool judged);
  void error(const std::string& native, const std::string& sanitizer);
  void put(const std::string& text);

  State& state_;
  std::unique_ptr<Recorder> recorder_;
  findings::Baseline known_;
  Choice choice_;
  uint64_t count_ = 0, errors_ = 0;
  bool asked_for_lines_ = false;
};

}  // namespace bitwell::driver
