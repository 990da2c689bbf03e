// What `bitwell exec` asks of the libraries that it puts in front of a program, and where it is told.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/isa/compile/module.h"

namespace bitwell::driver {

// What the command that started the program is told of a launch (README.md's exit statuses).
enum Status { kHeld = 0, kFailed = 1, kUnusable = 2, kUnsupported = 3, kModelBug = 4 };

inline constexpr const char* kAskedVariable = "BITWELL_EXEC";      // of the environment: a file, JSON
inline constexpr const char* kChildVariable = "BITWELL_EXEC_PID";  // of the program that was started itself
inline constexpr const char* kDeviceVariable = "BITWELL_DEVICE";   // "sm_100a": where no command asks

struct Asked {
  std::string
      told;         // a file that gets a line a launch, or what else the command sums up; empty: nobody reads
  std::string log;  // a file for what is said of launches; empty: stderr
  std::string arch;                             // "sm_100a"; empty: the newest that there is code for
  std::string record;                           // a folder that gets every launch as LAUNCH.json; empty: none
  std::string ptx;                              // a folder with the PTX of machine code that has none
  uint64_t record_count = 0, record_bytes = 0;  // at most, of launches and of each one's memory; 0: no limit
  // Which launches are judged; the others run unchecked. Parts of names, mangled or not, or "regex:...".
  std::vector<std::string> kernels, kernels_not;
  uint64_t launch_skip = 0, launch_count = 0;  // of those; 0: all
  bool only_program = false;                   // processes that the program starts are not judged
  bool host_reads = false;       // copies to the host of bytes that nobody has written are mistakes
  bool sanitizer_words = false;  // as compute-sanitizer says it
  bool dump_launches = false;
  bool verbose = false;        // C++ names whole
  uint64_t print_limit = 100;  // errors that are told; 0: all

  // How each is judged.
  bool fmad = false;  // products and sums fused as ptxas fuses them
  bool unchecked = false, races = false, once = false, explain = false, strict = false, all = false;
  uint64_t schedules = 1, seed = 0, step_limit = 0, resident = 0, threads = 0;
  isa::Approximate approximate = isa::Approximate::h200;
  std::string schedule, baseline, error_on = "error";

  // In front of a GPU's driver, where launches are kept and not judged: the library; empty: bitwell is the
  // GPU.
  std::string driver;
  bool record_after = false;  // what each launch left there is kept too
  bool record_time = false;   // and how long it takes there
};

// Text between the two. asked_from throws InputError.
std::string text_of(const Asked& asked);
Asked asked_from(const std::string& text);

// What the environment asks for; the program runs judged by default where nobody does.
Asked asked_of_environment();

}  // namespace bitwell::driver
