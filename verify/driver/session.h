// One process under `bitwell capture`: what the command asked for, and what it is told.
#pragma once
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "verify/driver/device_memory.h"
#include "verify/driver/device_row.h"
#include "verify/driver/modules.h"
#include "verify/driver/told.h"

namespace bitwell::driver {

struct Asked {
  std::string folder;                // where launches go
  std::string bitwell;               // the binary that runs them
  std::vector<std::string> options;  // of `bitwell run`
  std::vector<std::string> only;     // parts of kernels' names; none: all
  std::string arch;                  // "sm_100a"; empty: the program's newest
};

struct Session {
  std::mutex one_at_a_time;
  Asked asked;
  DeviceMemory memory;
  Modules modules;
  int launches = 0;
  bool left_heap = false;  // a launch has ended with objects of its malloc, which end with it here
  int last_error = 0;      // cudaGetLastError's
  int sticky_error = 0;    // of a launch that failed: every later call gives it

  const DeviceRow& device();  // chosen when it is first asked for, when all code is registered
  // A line for the command.
  void tell(const std::string& line);
  // Something that bitwell has not, by name: said once.
  void missing(const std::string& what);

 private:
  const DeviceRow* device_ = nullptr;
  std::set<std::string> said_;
};

Session& session();

// To stderr, for the user.
void say(const std::string& text);

}  // namespace bitwell::driver
